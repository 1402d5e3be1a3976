package pa2013

import (
	"fmt"

	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// bdg10File is what the registry asks a user to supply.
const bdg10File = "bdg10/bdg10.csv"

// loadBDG10 reads the objects of BDG10: a column per feature, and last the class.
func loadBDG10(store *datasets.Store) (*datasets.Set, error) {
	path := store.Path(bdg10File)
	f, err := limits.Open(path)
	if err != nil {
		return nil, fmt.Errorf("pa2013: %w", err)
	}
	defer f.Close()
	table, err := datasets.ReadCSV(f, path, datasets.CSVOptions{Header: datasets.HeaderYes})
	if err != nil {
		return nil, err
	}
	last := table.Width() - 1
	labels, err := table.Words(last)
	if err != nil {
		return nil, err
	}
	set := &datasets.Set{Name: bdg10.dataset}
	columns := make([]int, last)
	for j := range columns {
		columns[j] = j
	}
	if set.X, err = table.Numbers(columns, false); err != nil {
		return nil, err
	}
	set.Classes, set.Y = datasets.Classes(labels)
	return set, nil
}
