package feedback_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/feedback"
	"metriclab/pkg/metric"
)

// Rows of a table of 10 rows that somebody has judged.
func ExampleReadPairs() {
	p, err := feedback.ReadPairs(strings.NewReader("i,j,label\n0,1,1\n0,7,-1\n"), "judged.csv", feedback.Objects{Count: 10}, feedback.Form{})
	fmt.Println(p.Links, err)
	_, err = feedback.ReadPairs(strings.NewReader("0,1,1\n0,10,1\n"), "judged.csv", feedback.Objects{Count: 10}, feedback.Form{})
	fmt.Println(err)
	// Output:
	// [{0 1 similar} {0 7 dissimilar}] <nil>
	// feedback: judged.csv:2: j: "10" is not allowed, want a number from 0 to 9
}

// A pear is more like an apple than like a nut, for most people.
func ExampleReadTriplets() {
	set, err := feedback.ReadTriplets(strings.NewReader("pear,apple,nut\npear,nut,apple\npear,apple,nut\n"), "fruit.csv", 0, feedback.Form{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Names, set.List)
	fmt.Printf("%+v\n", set.Agreement())
	// Output:
	// [apple nut pear] [{2 0 1} {2 1 0} {2 0 1}]
	// {Questions:1 Contradicted:1 Outvoted:1}
}

// The files of published sets are read as package datasets reads them.
func TestRealTriplets(t *testing.T) {
	for _, c := range []struct {
		dataset, set string
		path         []string
	}{{"music", "music", []string{"music", "music_triplets.mat"}}, {"material", "material", []string{"material", "answers_processed_train.json"}}} {
		store := realdata.Store(t, c.dataset)
		want, err := store.Triplets(c.set)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(store.Path("triplets/" + strings.Join(c.path, "/")))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := feedback.ReadTriplets(f, filepath.Base(f.Name()), 0, feedback.Form{})
		if err != nil || !slices.Equal[[]metric.Triplet](got.List, want.Triplets) || got.Objects != want.Objects || got.Read != want.Report.Read || got.Degenerate != want.Report.Degenerate || got.Ties != want.Report.Ties {
			t.Errorf("%s: %v", c.set, err)
		}
	}
}
