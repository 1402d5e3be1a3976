package sample_test

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/datasets/sample"
)

func ExampleBalancedLinks() {
	y := []int{0, 0, 1, 1, 1, 2}
	links, err := sample.BalancedLinks(rand.New(rand.NewPCG(1, 2)), y, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	similar := 0
	for _, l := range links {
		if y[l.I] == y[l.J] {
			similar++
		}
	}
	fmt.Println(similar, "of", len(links), "links are similar")
	// Output: 2 of 4 links are similar
}

func ExampleStratifiedSplit() {
	y := []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}
	train, test, err := sample.StratifiedSplit(rand.New(rand.NewPCG(1, 2)), y, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	ones := 0
	for _, i := range train {
		ones += y[i]
	}
	fmt.Println(len(train), "training and", len(test), "test rows;", ones, "training rows of class 1")
	// Output: 5 training and 5 test rows; 2 training rows of class 1
}
