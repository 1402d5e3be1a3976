package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// everyFile makes the files of TestEveryLearner in an empty working folder: of the same points a table, vectors, a Gram matrix with labels and constraints,
// pairs and comparisons.
func everyFile(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	const n, old = 48, 36
	points := make([][]float64, n)
	var flat []float64
	for i := range points {
		points[i] = []float64{float64(i*i%7 + 2*(i%3)), float64(i*5%11) + .5, float64((i*3 + i/5) % 6)}
		flat = append(flat, points[i]...)
	}
	class := func(i int) string { return string(rune('a' + i%3)) }
	tables := map[string]string{"train.csv": "x,y,z,class\n", "new.csv": "x,y,z,class\n"}
	for i, p := range points {
		name := "train.csv"
		if i >= old {
			name = "new.csv"
		}
		tables[name] += fmt.Sprintf("%g,%g,%g,%s\n", p[0], p[1], p[2], class(i))
	}
	for i, p := range points {
		name := "k0.csv"
		if i >= old {
			name = "k1.csv"
		} else {
			tables["l.csv"] += class(i) + "\n"
		}
		tables["all.csv"] += class(i) + "\n"
		row := make([]string, old)
		for j, q := range points[:old] {
			k := 1.0 // of the linear kernel
			for m := range p {
				k += p[m] * q[m]
			}
			row[j] = number(k)
		}
		tables[name] += strings.Join(row, ",") + "\n"
	}
	for k := range 200 {
		i, j := k*7%old, (k*11+k/7)%old
		if i == j {
			continue
		}
		label := map[bool]int{true: 1, false: -1}[i%3 == j%3]
		tables["pairs.csv"] += fmt.Sprintf("%d,%d,%d\n", i, j, label)
		if k < 6 {
			tables["c.jsonl"] += fmt.Sprintf(`{"i":%d,"j":%d,"%s":%d}`+"\n", i, j, map[int]string{1: "at_most", -1: "at_least"}[label], 40-30*label)
		}
		tables["t.csv"] += fmt.Sprintf("%d,%d,%d\n", i, (i+3)%old, (i+1)%old)
		tables["pairs.jsonl"] += fmt.Sprintf(`{"x":[%g,%g,%g],"y":[%g,%g,%g],"label":%d}`+"\n", points[i][0], points[i][1], points[i][2], points[j][0], points[j][1], points[j][2], label)
		far := points[(i+1)%old]
		tables["v.jsonl"] += fmt.Sprintf(`{"a":[%g,%g,%g],"near":[%g,%g,%g],"far":[%g,%g,%g]}`+"\n", points[i][0], points[i][1], points[i][2], points[j][0], points[j][1], points[j][2], far[0], far[1], far[2])
		tables["t.jsonl"] += fmt.Sprintf(`{"a":%d,"near":%d,"far":%d}`+"\n", i, (i+3)%old, (i+1)%old)
	}
	tables["costs.jsonl"] = `{"cost":[[0,1],[1,0],[0.5,0.5]]}` + "\n"
	for name, text := range tables {
		writeTest(t, name, text)
	}
	w, err := vectors.Create("X.npy", n, 3, false)
	if err == nil {
		err = cmp.Or(w.WriteRows(flat, 0), w.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Each learner of the catalog, and the baseline, learns from all the feedback that it takes. What the command saved does what the help says: it
// transforms, draws, predicts and finds neighbours, or says why not and what would.
func TestEveryLearner(t *testing.T) {
	everyFile(t)
	c := newCommand(toys(nil))
	fits := func(pr model.Problem, name string) bool {
		_, err := pr.Resolved(model.Recipe{Learner: name})
		return err == nil && (name != model.Euclidean && name != model.EuclideanRaw || pr.String() == model.ByClasses(nil).String())
	}
	type step struct{ line, refused string } // "" if it must work
	const (
		noCoordinates = "so it has no coordinates"
		noMatrix      = "no matrix L"
		ofTriplets    = "no map for new ones"
		ofVectors     = "a model of fit --vectors is for predict, neighbours, transform and plot, with --vectors"
		ofGram        = "a model of fit --gram is for predict, neighbours, transform and plot, with --cross-gram"
		ofLearn       = "only metriclab fit makes models"
	)
	const tableLines = "transform new.csv --model m.json|plot new.csv --model m.json --out p.svg|plot --metric m.json --out p.svg|" +
		"predict new.csv --model m.json --train train.csv|neighbours new.csv --model m.json --train train.csv"
	refusals := func(why string) (out []step) {
		for _, line := range strings.Split(tableLines, "|") {
			out = append(out, step{line, why})
		}
		return out
	}
	all := append(catalog.All(), model.Learners()[len(model.Learners())-1])
	for _, e := range all {
		t.Run(e.Name, func(t *testing.T) {
			ways := 0
			way := func(stdin, fit string, steps ...step) {
				t.Helper()
				ways++
				if stdin != "" {
					c.app.in = strings.NewReader(readTest(t, stdin))
				}
				for k, s := range append([]step{{fit, ""}}, steps...) {
					code := c.run(strings.Fields(s.line)...)
					switch {
					case s.refused == "" && code != exitOK:
						t.Errorf("%s, after %s: exit code %d: %s", s.line, fit, code, c.err.String())
					case s.refused != "" && (code == exitOK || !strings.Contains(c.err.String(), s.refused)):
						t.Errorf("%s, after %s: exit code %d: %s, want %q", s.line, fit, code, c.err.String(), s.refused)
					}
					if k == 0 && code != exitOK {
						return
					}
				}
			}
			if fits(model.ByClasses(nil), e.Name) {
				steps := refusals("")
				kernel := e.Form.Kernel()
				if kernel {
					steps[2].refused = noMatrix
				}
				if e.Form == catalog.Transformed {
					steps[0].refused, steps[1].refused = noCoordinates, noCoordinates
				}
				way("", "fit train.csv --label class --learner "+e.Name+" --out m.json", steps...)
				if steps[0].refused == "" {
					sameNeighbours(t, c)
				}
			}
			if fits(model.ByConstraints(nil, nil), e.Name) {
				way("", "fit --gram k0.csv --constraints c.jsonl --learner "+e.Name+" --out m.json", append(refusals(ofGram), step{"transform --cross-gram k1.csv --model m.json", ""},
					step{"plot --model m.json --out p.svg", ofGram}, step{"plot --cross-gram k1.csv --model m.json --out p.svg", ""}, step{"predict --cross-gram k1.csv --labels l.csv --model m.json", ""}, step{"neighbours --cross-gram k1.csv --model m.json", ""})...)
			}
			if fits(model.ByGram(nil, nil), e.Name) {
				way("", "fit --gram k0.csv --labels l.csv --learner "+e.Name+" --out m.json", append(refusals(ofGram), step{"transform --cross-gram k1.csv --model m.json", ""},
					step{"predict --cross-gram k1.csv --labels l.csv --model m.json", ""}, step{"neighbours --cross-gram k1.csv --labels l.csv --model m.json", ""})...)
			}
			onVectors := append(refusals(ofVectors), step{"transform --vectors X.npy --npy Y.npy --model m.json", ""},
				step{"neighbours --vectors X.npy --rows 1,40 --model m.json", ""}, step{"neighbours --model m.json", ofVectors}, step{"plot --model m.json --out p.svg", ofVectors},
				step{"plot --vectors X.npy --model m.json --out p.svg", ""}, step{"predict --vectors X.npy --train X.npy --labels all.csv --model m.json", ""}, step{"transform --vectors X.npy --model m.json", ""})
			if fits(model.PairsOfVectors(nil, nil), e.Name) {
				way("", "fit --vectors X.npy --pairs pairs.csv --learner "+e.Name+" --out m.json", onVectors...)
			}
			if fits(model.ComparisonsOfVectors(nil, nil), e.Name) {
				way("", "fit --vectors X.npy --triplets t.csv --learner "+e.Name+" --out m.json", onVectors...)
			}
			if fits(model.ByComparisons(nil), e.Name) {
				way("", "fit --triplets t.csv --learner "+e.Name+" --out m.json", append(refusals(ofTriplets), step{"plot --model m.json --out p.svg", ""}, step{"neighbours --model m.json", ""}, step{"transform --model m.json --dim 3", ""})...)
			}
			learned := refusals(ofLearn)
			switch e.Feedback {
			case catalog.Pairs:
				vector := step{"transform --vectors X.npy --npy Y.npy --model m.json", ""}
				if !fits(model.PairsOfVectors(nil, nil), e.Name) {
					vector.refused = "whose metric is a linear map"
				}
				way("pairs.jsonl", "learn --learner "+e.Name+" --save m.json", append(learned, vector)...)
			case catalog.Triplets:
				way("t.jsonl", "learn --learner "+e.Name+" --objects 36 --save m.json", append(learned, step{"plot --model m.json --out p.svg", ofLearn})...)
			case catalog.VectorTriplets:
				way("v.jsonl", "learn --learner "+e.Name+" --save m.json", append(learned, step{"transform --vectors X.npy --npy Y.npy --model m.json", "whose metric is a linear map"})...)
			case catalog.Costs:
				way("costs.jsonl", "learn --learner "+e.Name+" --save m.json", append(learned, step{"plot --model m.json --out p.svg", ofLearn})...)
			}
			if ways == 0 {
				t.Error("no command learns by it")
			}
		})
	}
	nothingLeft(t)
}

// sameNeighbours compares the distances of neighbours with those between the coordinates that transform writes, and the classes that they elect with those that predict gives.
func sameNeighbours(t *testing.T, c *command) {
	t.Helper()
	table := func(line string) [][]string {
		t.Helper()
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatalf("%s: %s", line, c.err.String())
		}
		rows, err := csv.NewReader(strings.NewReader(c.out.String())).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%s: %d rows, %v", line, len(rows), err)
		}
		return rows[1:]
	}
	float := func(cell string) float64 {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	old, fresh := table("transform train.csv --model m.json"), table("transform new.csv --model m.json")
	predicted := table("predict new.csv --model m.json --train train.csv --k 1")
	near := table("neighbours new.csv --model m.json --train train.csv --k 1")
	if len(old) != 36 || len(fresh) != 12 || len(predicted) != 12 || len(near) != 12 {
		t.Fatalf("%d, %d, %d and %d rows", len(old), len(fresh), len(predicted), len(near))
	}
	for i, row := range fresh {
		least, size := math.Inf(1), 0.0
		dist := func(other []string) float64 {
			sum := 0.0
			for j := 1; j < len(row); j++ { // after the class
				a, b := float(row[j]), float(other[j])
				sum += (a - b) * (a - b)
				size = max(size, math.Abs(a), math.Abs(b))
			}
			return math.Sqrt(sum)
		}
		for _, other := range old {
			least = min(least, dist(other))
		}
		got := dist(old[int(float(near[i][2]))])
		// Distances lose digits where points nearly coincide, by the size of the coordinates.
		if tol := 1e-9 * (1 + size); math.Abs(got-least) > tol || math.Abs(float(near[i][3])-least) > tol {
			t.Errorf("row %d: neighbour %s at %s, %v between coordinates, where the least is %v", i, near[i][2], near[i][3], got, least)
		}
		// Rows of two classes that are equally near share the vote.
		if near[i][4] != predicted[i][1] && predicted[i][2] == "1" || math.Abs(float(near[i][3])-float(predicted[i][3])) > 1e-9*(1+size) {
			t.Errorf("row %d: predict says %q, neighbours %q", i, predicted[i], near[i])
		}
	}
}
