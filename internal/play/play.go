// Package play computes what the page of `make play` shows. A Player answers calls by name, with JSON in and out, by the
// learners of pkg: the page draws their numbers and has none of its own.
//
// # How it is built
//
// A call says all that its answer rests on: which learner, and everything that it has been told. So undoing an answer, and
// learning again with another parameter, are calls like any other, and nothing is lost if the program must be started
// again. A Player keeps its last learner of each lesson, and goes on with it where the pairs or answers of a call begin
// with those before. The page runs it as WebAssembly (internal/tools/play/wasm), tests and the check of a log run it here.
package play

import (
	"encoding/json"
	"fmt"
)

// Player answers calls, one at a time. The zero value is ready.
type Player struct {
	metric metricLesson
	faces  map[string]*facesLesson // by who answers
	races  map[raceKey][]float64
}

// Call answers one call. The names, their arguments and answers are "data" (Data, Points), "pairs" (Pairs, Learned), "faces"
// (Faces, Map), "other" (Other, [][3]int), "differ" (Differ, []Difference) and "race" (Race, []float64). What is wrong, a panic too, is
// {"error": "…"}.
func (p *Player) Call(name string, args []byte) (answer []byte) {
	defer func() {
		if r := recover(); r != nil {
			*p, answer = Player{}, failure(fmt.Errorf("%v", r))
		}
	}()
	var out any
	var err error
	switch name {
	case "data":
		out, err = with(args, data)
	case "pairs":
		out, err = with(args, p.metric.learn)
	case "faces":
		out, err = with(args, p.learnFaces)
	case "other":
		out, err = with(args, other)
	case "differ":
		out, err = with(args, differ)
	case "race":
		out, err = with(args, p.race)
	default:
		err = fmt.Errorf("no call has the name %q", name)
	}
	if err == nil {
		answer, err = json.Marshal(out)
	}
	if err != nil {
		return failure(err)
	}
	return answer
}

func failure(err error) []byte {
	text, _ := json.Marshal(map[string]string{"error": err.Error()}) // of a text: never an error
	return text
}

func with[A, R any](raw []byte, f func(A) (R, error)) (R, error) {
	var args A
	if err := json.Unmarshal(raw, &args); err != nil {
		var none R
		return none, err
	}
	return f(args)
}
