package datasets_test

import (
	"fmt"
	"reflect"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

// The beam is the same seen from behind: left and right change places.
func TestBalanceIsSymmetric(t *testing.T) {
	s := datasets.Balance()
	at := map[[4]float64]int{}
	counts := make([]int, 3)
	for i, y := range s.Y {
		at[[4]float64(s.X.RawRowView(i))] = y
		counts[y]++
	}
	if len(at) != 625 || counts[0] != 288 || counts[1] != 49 || counts[2] != 288 {
		t.Errorf("%d distinct rows, counts %v, want 625 and [288 49 288]", len(at), counts)
	}
	for row, y := range at {
		if z := at[[4]float64{row[2], row[3], row[0], row[1]}]; y+z != 2 {
			t.Errorf("%v tips to %s, its mirror image to %s", row, s.Classes[y], s.Classes[z])
		}
	}
}

// The rule gives UCI's file, row by row.
func TestRealBalanceIsItsRule(t *testing.T) {
	got, err := realdata.Store(t, "balance-scale").Set("balance-scale")
	if err != nil {
		t.Fatal(err)
	}
	if want := datasets.Balance(); !reflect.DeepEqual(got, want) {
		t.Errorf("the file has\n%+v\nthe rule\n%+v", got, want)
	}
}

func ExampleBalance() {
	s := datasets.Balance()
	fmt.Println(s.X.RawRowView(9), s.Classes[s.Y[9]])
	// Output: [1 1 2 5] R
}
