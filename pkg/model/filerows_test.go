package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// counted is a source that counts what is asked for, and fails after so many rows if that is above 0.
type counted struct {
	Source
	rows, most, failAfter int
	told                  func(rows int) // unless nil
}

var errGone = errors.New("the file is gone")

func (c *counted) ReadRows(dst []float64, first int) error {
	n := len(dst) / c.Dim()
	c.rows, c.most = c.rows+n, max(c.most, n)
	if c.told != nil {
		c.told(c.rows)
	}
	if c.failAfter > 0 && c.rows > c.failAfter {
		return errGone
	}
	return c.Source.ReadRows(dst, first)
}

// rowFit is the fit of r to links of file.
func rowFit(t *testing.T, file Source, links []metric.Link, r Recipe) (ofVectors[metric.Link], fitting) {
	t.Helper()
	of := PairsOfVectors(nil, links).task.(ofVectors[metric.Link])
	of.file = file
	return of, Must(PairsOfVectors(nil, links).resolve(r))
}

// Whatever the number of vectors in memory, a fit gives the bits of one to the matrix of all, with vectors of zeros, too; and itml so in a goroutine of its own.
func TestFitByRows(t *testing.T) {
	const n, d = 100, 6
	_, x, links := vectorSet(t, n, d, 150, true)
	for _, i := range []int{0, 7, 8, n - 1} {
		clear(x.RawRowView(i))
	}
	f := vectorFile(t, x, true)
	for _, r := range []Recipe{
		{Learner: "pola"}, {Learner: "pola", Unit: true, Rank: 3}, {Learner: "pa", Passes: 3}, {Learner: "lego", Raw: true}, {Learner: "lego", Unit: true}, {Learner: "itml"},
		{Learner: "itml", Unit: true, Rank: 2}, {Learner: "itml", Params: map[string]string{"start": "invcov"}}, {Learner: "iplr", Unit: true}, {Learner: "rca"}, {Learner: "pola-batch", Params: map[string]string{"iterations": "1"}},
	} {
		of, fits := rowFit(t, f, links, r)
		whole := Must(of.read(f, links))
		var notes []string
		if r.Unit {
			var err error
			if whole, notes, err = whole.directed(); err != nil {
				t.Fatal(err)
			}
			matrix.ToUnit(whole.x)
		}
		want := Must(of.fitKnown(t.Context(), whole, inMemory(whole.x), fits, nil))
		want.report.Notes = notes
		for _, rows := range []int{0, 8, n - 20, n} {
			t.Run(fmt.Sprintf("%v/%d", r, rows), func(t *testing.T) {
				if rows == 8 {
					abandon.Always(t)
				}
				got, err := of.fitWithin(t.Context(), fits, nil, int64(8*d*rows))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(persisttest.Saved(got), persisttest.Saved(want)) || !reflect.DeepEqual(got.Report(), want.Report()) {
					t.Errorf("another model, or report: %+v, want %+v", got.Report(), want.Report())
				}
			})
		}
	}
}

// What a fit keeps does not grow with the vectors that pairs name, if the learner asks for rows: it reads each once, and those of a pair when it needs it.
func TestFitByRowsKeeps(t *testing.T) {
	const d, held = 6, 10
	for _, n := range []int{400, 1600} {
		f, _, links := vectorSet(t, n, d, 2*n, true)
		for _, r := range []Recipe{{Learner: "pola"}, {Learner: "itml", Params: map[string]string{"cycles": "1"}}} {
			file := &counted{Source: f}
			of, fits := rowFit(t, file, links, r)
			named := len(Must(of.checked(file, links)).rows)
			if got := Must(fits.holds(named, d, 8*d*held)); got != held {
				t.Errorf("%s of %d vectors holds %d, want %d", r.Learner, n, got, held)
			}
			Must(of.fitWithin(t.Context(), fits, nil, 8*d*held))
			least := named + 2*len(links)*9/10 // but for those in memory
			most := named + 3*2*len(links)     // for the scale, the learner and the threshold
			if r.Learner == "itml" {           // which are checked, too; for the bounds, the duplicates, a cycle, W from the multipliers and the conditions of its optimum
				most += named + 5*2*len(links)
			}
			if file.rows < least || file.rows > most || file.most*d > 1<<16 {
				t.Errorf("%s of %d vectors: %d rows were read, want %d to %d; %d at once", r.Learner, named, file.rows, least, most, file.most)
			}
		}
	}
	_, whole := rowFit(t, nil, nil, Recipe{Learner: "rca"})
	if got := Must(whole.holds(50, d, 8*d*held)); got != 50 {
		t.Errorf("rca holds %d of 50 vectors", got)
	}
	Limit(t, 49*8*d)
	Refused(t, "rca", ErrorOf(whole.holds(50, d, 8*d*held)), "50 vectors of 6 numbers would take")
	_, rows := rowFit(t, nil, nil, Recipe{Learner: "lego"})
	if got := Must(rows.holds(50, d, 1<<20)); got != 49 {
		t.Errorf("lego holds %d vectors, want what the limit allows", got)
	}
}

// A vector that cannot be read ends a fit with the error of the file, whenever that is; one that is not finite is found before anything is learned.
func TestFitByRowsFails(t *testing.T) {
	f, x, links := vectorSet(t, 60, 5, 100, false)
	for _, r := range []Recipe{{Learner: "pa"}, {Learner: "itml"}, {Learner: "rca"}} {
		file := &counted{Source: f}
		of, fits := rowFit(t, file, links, r)
		Must(of.fitWithin(t.Context(), fits, nil, 0))
		all := file.rows
		for _, after := range []int{1, 59, 61, all / 3, all / 2, all - 300, all - 1} {
			if after < 1 || after >= all {
				continue
			}
			of.file = &counted{Source: f, failAfter: after}
			Refused(t, fmt.Sprintf("%s, %d of %d rows", r.Learner, after, all), ErrorOf(of.fitWithin(t.Context(), fits, nil, 0)), errGone)
		}
	}
	for _, learner := range []string{"pa", "itml"} { // cancelled at a row, a fit reads no other
		ctx, cancel := context.WithCancel(t.Context())
		file := &counted{Source: f, told: func(rows int) {
			if rows > 80 { // of 60 that are read before the fit
				cancel()
			}
		}}
		of, fits := rowFit(t, file, links, Recipe{Learner: learner})
		Refused(t, learner+", cancelled at a row", ErrorOf(of.fitWithin(ctx, fits, nil, 0)), context.Canceled)
		if file.rows > 82 {
			t.Errorf("%s, cancelled at row 81: %d rows were read", learner, file.rows)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	of, fits := rowFit(t, f, links, Recipe{Learner: "pa"})
	Refused(t, "cancelled", ErrorOf(of.fitWithin(ctx, fits, nil, 0)), context.Canceled)
	raw := mat.DenseCopyOf(x)
	raw.Set(links[0].I, 3, 1e200) // whose square overflows
	of.file = vectorFile(t, raw, false)
	for _, bytes := range []int64{0, 1 << 20} {
		Refused(t, bytes, ErrorOf(of.fitWithin(t.Context(), fits, nil, bytes)), errOverflow)
	}
}

// widest is a metric that counts the rows that it embeds at once.
type widest struct {
	embedder
	most int
}

func (w *widest) EmbedRows(x mat.Matrix) *mat.Dense {
	n, _ := x.Dims()
	w.most = max(w.most, n)
	return w.embedder.EmbedRows(x)
}

// Squared distances from blocks have the bits of those from the coordinates of all vectors at once, of few coordinates and of many.
func TestSqDistsInBlocks(t *testing.T) {
	for _, size := range [][2]int{{150, 20}, {200, 100}, {500, 100}} {
		n, d := size[0], size[1]
		f, x, links := vectorSet(t, n, d, n, false)
		whole := Must(ofPairs.read(f, links))
		for _, r := range []Recipe{{Learner: "lego"}, {Learner: "lego", Rank: 10}, {Learner: "iplr"}} {
			m := mustFitVectors(t, f, links, r).metric
			want := sqDistsOf(metric.Euclidean{}, m.EmbedRows(whole.x), whole.list)
			for _, held := range []int{0, 100} {
				w := &widest{embedder: m}
				rows, _, _, err := openRows(t.Context(), f, whole.rows, held)
				if all := Must(sqDists(t.Context(), w, rows, whole.list, 1, 1<<20)); !slices.Equal(all, want) {
					t.Errorf("%v, %d×%d, %d in memory, all coordinates: other distances", r, n, d, held)
				}
				got := Must(sqDists(t.Context(), w, rows, whole.list, 1, 0))
				if err != nil || !slices.Equal(got, want) || w.most > embedTogether {
					t.Errorf("%v, %d×%d, %d in memory: other distances, or %d vectors at once, error %v", r, n, d, held, w.most, err)
				}
			}
		}
		huge := mat.NewDense(1, d, nil)
		huge.Set(0, 0, 1e200)
		x.SetRow(links[0].I, slices.Repeat([]float64{1e200}, d))
		rows, _, _, _ := openRows(t.Context(), vectorFile(t, x, false), Must(ofPairs.checked(f, links)).rows, 0)
		for _, bytes := range []int64{0, 1 << 20} {
			_, err := sqDists(t.Context(), metric.FromFactor(huge), rows, whole.list, 1, bytes)
			Refused(t, "overflow", err, fmt.Sprintf("coordinates overflow: row %d, column 0", whole.list[0].I))
		}
	}
}

// Two files are read as one, across the border, too.
func TestTwoFilesReadRows(t *testing.T) {
	f, x, _ := vectorSet(t, 5, 3, 1, false)
	g, y, _ := vectorSet(t, 4, 3, 1, false)
	var all mat.Dense
	all.Stack(x, y)
	two := twoFiles{f, g}
	for first := range 9 {
		for n := 1; first+n <= 9; n++ {
			got := mat.NewDense(n, 3, nil)
			if err := two.ReadRows(got.RawMatrix().Data, first); err != nil || !mat.Equal(got, all.Slice(first, first+n, 0, 3)) {
				t.Errorf("%d rows from %d: error %v", n, first, err)
			}
		}
	}
	h, _, _ := vectorSet(t, 4, 2, 1, false)
	Refused(t, "lengths", twoFiles{f, h}.ReadRows(make([]float64, 3), 0), "want the same")
}
