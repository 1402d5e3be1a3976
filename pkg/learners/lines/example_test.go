package lines_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/lines"
)

// Two labelled pairs, then a question about the first.
func ExampleSession_Run() {
	entry, err := catalog.Find("pola")
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := entry.Parse(map[string]string{"gamma": "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := lines.New(entry, values, lines.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := `{"x":[0,0],"y":[1,0],"label":-1}
{"x":[0,0],"y":[0,1],"label":1}
{"x":[0,0],"y":[1,0]}
`
	sum, err := s.Run(context.Background(), strings.NewReader(in), os.Stdout)
	fmt.Println(sum.Accepted, err)
	// Output:
	// {"round":1,"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-0.6666666666666666}
	// {"round":2,"sqdist":0,"similar":true,"loss":0,"mistake":false,"step":0}
	// {"round":3,"sqdist":0.6666666666666666,"similar":true}
	// 3 <nil>
}
