package datasets_test

import (
	"fmt"

	"metriclab/pkg/datasets"
)

func ExampleLookup() {
	_, err := datasets.Lookup("minst")
	fmt.Println(err)
	e, err := datasets.Lookup("wine")
	fmt.Println(e.Shape, e.Files[0].Path, err)
	// Output:
	// datasets: unknown data set "minst"; did you mean "mnist"?
	// 178 x 13 reals, 3 classes (59, 71, 48) uci/wine.data <nil>
}
