package harness_test

import (
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
)

func ExampleSelect() {
	papers := []experiment.Paper{{Key: "pola2004", Experiments: []experiment.Spec{{ID: "pola2004/fig2"}, {ID: "pola2004/fig3"}}}}
	_, err := harness.Select(papers, []string{"pola2004/fgi3"})
	fmt.Println(err)
	// Output:
	// unknown experiment "pola2004/fgi3": did you mean pola2004/fig3 or pola2004/fig2?
}
