package random_test

import (
	"fmt"

	"metriclab/pkg/random"
)

func ExampleSeed_Stream() {
	s := random.Seed{Base: 1, Experiment: "toy/lines", Dataset: "toy", Trial: 0}
	fmt.Println(s.Stream("pairs").Uint64() == s.Stream("pairs").Uint64())
	fmt.Println(s.Stream("pairs").Uint64() == s.Stream("noise").Uint64())
	// Output:
	// true
	// false
}
