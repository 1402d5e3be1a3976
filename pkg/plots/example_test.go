package plots_test

import (
	"fmt"
	"strings"

	"metriclab/pkg/plots"
)

// A scatter of two methods against the line where they are equal.
func ExampleDrawing_Render() {
	d := plots.Drawing{
		Caption: plots.Caption{Shows: "Test error of POLA against the Euclidean metric. Points are pairs of digits, bars 95 % intervals over 6 trials."},
		Panels: []plots.Panel{{
			Title: "POLA vs Euclidean", XLabel: "Euclidean error (%)", YLabel: "POLA error (%)", Equal: true,
			Marks: []plots.Mark{
				plots.Diagonal{Name: "equal error"},
				plots.Points{
					Name: "pairs of digits",
					X:    []float64{0.4, 1.3, 2.2, 3.1}, XErr: []float64{0.1, 0.1, 0.2, 0.2},
					Y: []float64{0.3, 0.8, 1.9, 2.0}, YErr: []float64{0.1, 0.2, 0.2, 0.3},
				},
			},
		}},
		Text: &plots.TextTable{Head: []string{"metric", "mean error (%)"}, Rows: [][]string{{"Euclidean", "1.75"}, {"POLA", "1.25"}}},
	}
	files, err := d.Render("scatter", plots.Options{Watermark: "smoke scale: not a result"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Name)
	}
	fmt.Println()
	fmt.Print(strings.TrimSpace(string(files[2].Data)))
	// Output:
	// scatter.svg
	// scatter.png
	// scatter.md
	//
	// > smoke scale: not a result
	//
	// ![Test error of POLA against the Euclidean metric.](scatter.svg)
	//
	// Test error of POLA against the Euclidean metric. Points are pairs of digits, bars 95 % intervals over 6 trials.
	//
	// | metric    | mean error (%) |
	// | --------- | -------------: |
	// | Euclidean |           1.75 |
	// | POLA      |           1.25 |
}
