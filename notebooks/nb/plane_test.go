package nb

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// TestLevel checks for every kind of curve that its points are on it and in
// the square, and how many lines it is cut into.
func TestLevel(t *testing.T) {
	for _, c := range []struct {
		name  string
		m     []float64
		b     float64
		lines int
	}{
		{"ellipse", []float64{1, 0.2, 0.2, 2}, 1, 1},
		{"ellipse cut at the corners", []float64{0.25, -0.2, -0.2, 0.25}, 1, 3}, // cut where the rays begin, too
		{"ellipse outside", []float64{0.01, 0, 0, 0.01}, 1, 0},
		{"strip", []float64{1, 1, 1, 1}, 1, 3},
		{"hyperbola", []float64{-1, 0, 0, 1}, 1, 2},
		{"hyperbola of the other sign", []float64{1, 0, 0, -1}, -1, 2},
		{"zero matrix", []float64{0, 0, 0, 0}, 1, 0},
		{"negative level", []float64{1, 0, 0, 1}, -1, 0},
		{"level zero", []float64{1, 0, 0, 1}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			const half = 3
			m := mat.NewSymDense(2, c.m)
			marks := Level(plots.Line{Name: "curve", Color: 4, Dash: plots.Dashed}, m, c.b, half)
			if len(marks) != c.lines {
				t.Errorf("%d lines, want %d", len(marks), c.lines)
			}
			for i, mark := range marks {
				l := mark.(plots.Line)
				if (l.Name == "curve") != (i == 0) || l.Color != 4 || l.Dash != plots.Dashed {
					t.Errorf("line %d has name %q, color %d, dash %d", i, l.Name, l.Color, l.Dash)
				}
				for k, x := range l.X {
					v := mat.NewVecDense(2, []float64{x, l.Y[k]})
					// vᵀMv is a sum of terms up to 2·half²: round-off 1e-15 of that.
					if got := mat.Inner(v, m, v); math.Abs(got-c.b) > 1e-12 {
						t.Fatalf("vᵀMv = %v at (%v, %v), want %v", got, x, l.Y[k], c.b)
					}
					if max(math.Abs(x), math.Abs(l.Y[k])) > half*(1+1e-12) {
						t.Fatalf("(%v, %v) is outside the square", x, l.Y[k])
					}
				}
			}
		})
	}
}

// What is refused is refused in the package's own words.
func TestPlanePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"3×3":        func() { Level(plots.Line{}, mat.NewSymDense(3, nil), 1, 1) },
		"half":       func() { Level(plots.Line{}, mat.NewSymDense(2, nil), 1, math.NaN()) },
		"in space":   func() { Differences([]metric.Pair{{X: make([]float64, 3), Y: make([]float64, 3)}}) },
		"labels":     func() { Classes(mat.NewDense(3, 2, nil), make([]int, 4)) },
		"one column": func() { ByClass(mat.NewDense(3, 1, nil), make([]string, 3)) },
		"no pairs":   func() { BestThreshold(metric.Euclidean{}, nil) },
	} {
		func() {
			defer func() {
				if says, ok := recover().(string); !ok || !strings.HasPrefix(says, "nb: ") {
					t.Errorf("%s: panic %q, want one that begins with nb:", name, says)
				}
			}()
			f()
		}()
	}
}

func TestSquare(t *testing.T) {
	p := Square("title", 2, plots.Diagonal{})
	if p.XMin != -2 || p.XMax != 2 || p.YMin != -2 || p.YMax != 2 || !p.Equal || p.Title != "title" || len(p.Marks) != 1 {
		t.Errorf("panel %+v", p)
	}
}

func pair(x, y float64, l metric.Label) metric.Pair {
	return metric.Pair{X: []float64{x + 1, y + 2}, Y: []float64{1, 2}, Label: l}
}

func TestDifferences(t *testing.T) {
	marks := Differences([]metric.Pair{pair(1, 2, metric.Similar), pair(3, 4, metric.Dissimilar), pair(5, 6, metric.Similar)})
	if len(marks) != 2 {
		t.Fatalf("%d marks, want 2", len(marks))
	}
	s, d := marks[0].(plots.Points), marks[1].(plots.Points)
	if s.X[1] != 5 || s.Y[1] != 6 || len(s.X) != 2 || d.X[0] != 3 || d.Y[0] != 4 {
		t.Errorf("similar %v %v, dissimilar %v %v", s.X, s.Y, d.X, d.Y)
	}
	if got := len(Differences([]metric.Pair{pair(1, 1, metric.Dissimilar)})); got != 1 {
		t.Errorf("%d marks for dissimilar pairs only, want 1", got)
	}
}

func TestClasses(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	marks := Classes(x, []int{7, 3, 7})
	first, second := marks[0].(plots.Points), marks[1].(plots.Points)
	if first.Name != "class 3" || first.X[0] != 3 || second.Name != "class 7" || second.Y[1] != 6 || first.Shape == second.Shape {
		t.Errorf("marks %+v", marks)
	}
}

// TestBestThreshold compares with trying every threshold of a fine grid.
func TestBestThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var pairs []metric.Pair
		for range 1 + rng.IntN(12) {
			// Whole numbers give ties of squared distances.
			pairs = append(pairs, pair(float64(rng.IntN(4)), float64(rng.IntN(4)), metric.SameClass(rng.IntN(2) == 0)))
		}
		wrongAt := func(b float64) int {
			n := 0
			for _, p := range pairs {
				if (metric.Euclidean{}.SqDist(p.X, p.Y) <= b) != (p.Label == metric.Similar) {
					n++
				}
			}
			return n
		}
		least := len(pairs)
		for b := 0.0; b <= 20; b += 0.25 {
			least = min(least, wrongAt(b))
		}
		b, mistakes := BestThreshold(metric.Euclidean{}, pairs)
		if mistakes != least || wrongAt(b) != mistakes {
			t.Fatalf("BestThreshold = %v, %d; %d are wrong there, the least is %d", b, mistakes, wrongAt(b), least)
		}
	}
	if b, _ := BestThreshold(metric.Euclidean{}, []metric.Pair{pair(1, 0, metric.Similar), pair(2, 0, metric.Dissimilar)}); b != 2.5 {
		t.Errorf("between squared distances 1 and 4: %v, want 2.5", b)
	}
}
