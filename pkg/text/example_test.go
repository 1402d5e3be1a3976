package text_test

import (
	"fmt"

	"metriclab/pkg/text"
)

func ExampleAnalyzer() {
	var a text.Analyzer
	fmt.Println(a.Terms("The U.S. raised its crude-oil prices to $17.50."))
	fmt.Println(a.Bag("Wheat prices; priced wheat."))
	// Output:
	// [rais crude oil price]
	// [{price 2} {wheat 2}]
}

func ExampleFitVectorizer() {
	var a text.Analyzer
	var docs []text.Bag
	for _, doc := range []string{"gold and silver", "silver coins", "gold mines", "wheat exports"} {
		docs = append(docs, a.Bag(doc))
	}
	v, err := text.FitVectorizer(docs, text.VectorizerParams{Size: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float64, v.Dim())
	for i := range row {
		fmt.Println(v.Term(i))
	}
	v.Vector(a.Bag("gold, gold, silver and wheat")).Dense(row)
	fmt.Printf("%.3f\n", row)
	// Output:
	// gold 2
	// silver 2
	// [0.894 0.447]
}
