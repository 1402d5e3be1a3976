package nb

import (
	"math"
	"strconv"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Frame returns a table as a gota data frame, to filter, arrange and look at.
// Numbers come from the table itself, not from gota's reader of CSV, which
// turns what it cannot read into NaN without an error.
//
// A NaN in a column makes gota's mean, sum and median of it NaN, and groups
// come in random order: arrange after grouping.
func Frame(t *table.Table) dataframe.DataFrame {
	var cols []series.Series
	for _, name := range t.IndexNames() {
		cols = append(cols, series.New(t.Index(name), series.String, name))
	}
	for _, name := range t.ValueNames() {
		cols = append(cols, series.New(t.Values(name), series.Float, name))
	}
	return dataframe.New(cols...)
}

// ShowFrame displays a data frame as a table. It panics with the error that
// the frame carries, if there is one.
func ShowFrame(df dataframe.DataFrame) {
	text, err := frameMarkdown(df)
	Check(err)
	displayMarkdown(text)
}

// frameMarkdown formats numbers with four significant digits and NaN as an
// empty cell.
func frameMarkdown(df dataframe.DataFrame) (string, error) {
	if df.Err != nil {
		return "", df.Err
	}
	t := plots.TextTable{Head: df.Names()}
	types := df.Types()
	for i := range df.Nrow() {
		row := make([]string, len(types))
		for j, kind := range types {
			switch e := df.Elem(i, j); {
			case e.IsNA():
			case kind == series.Float && !math.IsNaN(e.Float()):
				row[j] = strconv.FormatFloat(e.Float(), 'g', 4, 64)
			default:
				row[j] = e.String()
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Markdown(), nil
}
