package lesson

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// near reports whether two numbers are equal but for round-off.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func TestEigenvalues(t *testing.T) {
	if got := Eigenvalues(mat.NewSymDense(2, []float64{1, 2, 2, 1})); !slices.Equal(got, []float64{-1, 3}) {
		t.Errorf("eigenvalues %v, want -1 and 3", got)
	}
	if got := Eigenvalues(mat.NewSymDense(2, []float64{0.1, 0.3, 0.3, 0.9})); got[0] != 0 || math.Signbit(got[0]) {
		t.Errorf("smallest eigenvalue %v of a matrix of rank 1", got[0])
	}
}

// A number that a reader changed to one that is not there is answered with what is allowed.
func TestWithin(t *testing.T) {
	for want, call := range map[string]func(){
		"want 0 to 60": func() { Tracker(Duration + 1) },
		"want 0 to 49": func() { Reveal(mat.NewDense(Points, Dims, nil), Dims) },
		"want 0 to 15": func() { Album("faces", 1, 16) },
		"want 3 to":    func() { StreamOfAnswers(2, 1) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			call()
		}()
	}
}
