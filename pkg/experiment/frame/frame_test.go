package frame

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// made has two methods on two cells at two sizes in seven trials: the error of b is that of a
// plus .1, and a's falls by .2 with the size. Validation prefers a in even trials.
func made() *table.Table {
	t := table.New([]string{"cell", "trial", "method", "size"}, []string{"wrong", "of", "validation"})
	for _, cell := range []string{"one", "two"} {
		for trial := range 7 {
			for m, method := range []string{"a", "b"} {
				for _, size := range []float64{1, 2} {
					t.Add(table.Key{"cell": cell, "trial": fmt.Sprint(trial), "method": method, "size": table.Format(size)},
						table.Values{"wrong": 60 + float64(trial) + 10*float64(m) - 20*size, "of": 100, "validation": float64((m + trial) % 2)})
				}
			}
		}
	}
	return t
}

var errs = Share("wrong", "of")

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
}

func TestMeasures(t *testing.T) {
	tb := made().Where("cell", "one", "size", "2")
	a, b := errs.PerTrial("method", "a"), errs.PerTrial("method", "b")
	least, which := Least(Column("validation"), errs, "method", "a", "b")
	ones := slices.Repeat([]float64{1}, 7)
	for name, tt := range map[string]struct {
		m    Measure
		want []float64
	}{
		"share":  {a, []float64{.20, .21, .22, .23, .24, .25, .26}},
		"minus":  {b.Minus(a), Measure.Times(func(*table.Table) []float64 { return ones }, .1)(tb)},
		"plus":   {b.Minus(a).Plus(.9), ones},
		"times":  {b.Minus(a).Times(10), ones},
		"over":   {a.Over(a), ones},
		"trials": {errs.Where("size", "2").PerTrialMean().Minus(a).Times(20), ones},
		"map":    {a.Map(func(v float64) float64 { return 2 * v }).Minus(a).Over(a), ones},
		"one":    {a.Averaged(), []float64{.23}},
		"most":   {a.Reduce(slices.Max), []float64{.26}},
		"cells":  {Cells("size").Where("method", "a").Plus(-1), ones},
		"mean":   {Mean("of two", a, b).Minus(a).Times(20), ones},
		"least":  {least, []float64{.20, .31, .22, .33, .24, .35, .26}},
		"means":  {errs.MeanOver("method"), a.Plus(.05)(tb)},
		"column": {Column("of").Where("method", "a", "trial", "0"), []float64{100}},
		"on":     {Column("of").On(Only("method", "a")).Where("trial", "0"), []float64{100}},
	} {
		if got := tt.m(tb); !near(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := which(tb); !slices.Equal(got, []int{0, 1, 0, 1, 0, 1, 0}) {
		t.Errorf("chosen %v", got)
	}
	if got := a(tb); !near(a.Plus(1).Times(2).Minus(a)(tb), a.Plus(2)(tb)) || !near(a(tb), got) {
		t.Error("a measure has changed the table")
	}
	for name, f := range map[string]func(){
		"two rows a trial": func() { errs.PerTrial("method", "a")(made()) },
		"none to reduce":   func() { a.Reduce(slices.Max)(tb.Rows()) },
		"no number":        func() { Parse("size", "small") },
		"infinite":         func() { Parse("size", "Inf") },
		"other lengths":    func() { a.Minus(Column("of"))(tb) },
	} {
		if err := refused(f); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if got := Numbers(made(), "size"); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("numbers %v", got)
	}
}

func refused(f func()) (err error) {
	defer judge.Refused(&err)
	f()
	return nil
}

func TestView(t *testing.T) {
	v := View{
		Panels: PerGroup(func(cells []string) Panel {
			return Panel{plots.Panel{Title: cells[0]}, []Mark{
				Line(plots.Line{Name: "a"}, "size", errs, Percent).On(Only("method", "a")),
				Line(plots.Line{Name: "none"}, "size", errs, Percent).Where("method", "c"),
				Fixed(plots.Reference{At: 50}),
			}}
		}, "cell"),
		Text: &Text{By: []string{"cell", "data", "method", "method"}, Cells: []Cell{
			Of("error (%)", errs.Where("size", "2"), Percent, "%.1f"), Half("±", errs.Where("size", "2"), Percent, "%.1f"), WithInterval("both", errs.Where("size", "2"), Percent),
		}},
		Caption: Says("Errors.", "", "", ""), Missing: "errors",
	}
	d, err := v.Draw(made())
	if err != nil || len(d.Panels) != 2 || d.Panels[1].Title != "two" || len(d.Panels[0].Marks) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	l := d.Panels[0].Marks[0].(plots.Line)
	if !slices.Equal(l.X, []float64{1, 2}) || !near(l.Y, []float64{43, 23}) || !(l.Lo[1] < 23 && 23 < l.Hi[1]) {
		t.Errorf("line %+v", l)
	}
	if got := d.Text.Rows[1]; !slices.Equal(got, []string{"one", "b", "33.0", "2.0", "33.00 ± 2.00"}) || len(d.Text.Rows) != 4 {
		t.Errorf("row %q of %d", got, len(d.Text.Rows))
	}
	if got := d.Caption.String(); got != "Errors. Intervals: Means over 7 trials with 95 % t intervals." {
		t.Errorf("caption %q", got)
	}
	if d, err := v.Draw(made().Where("cell", "three")); err != nil || len(d.Panels) != 0 || len(d.Notes) == 0 {
		t.Errorf("of no row: %+v, %v", d, err)
	}
	for of, want := range map[string]int{"two": 2, "three": 0} {
		v := v
		v.Needs = []string{"cell", of}
		if d, err := v.Draw(made()); err != nil || len(d.Panels) != want {
			t.Errorf("needs %s: %+v, %v", of, d, err)
		}
	}
	points := Scatter(plots.Points{Shape: 3}, Column("wrong"), Column("of"))
	if m := points(made().Where("cell", "one", "trial", "0")).(plots.Points); m.Shape != 3 || !slices.Equal(m.X, []float64{40, 20, 50, 30}) || m.Y[3] != 100 {
		t.Errorf("points %+v", m)
	}
	if points(made().Where("cell", "three")) != nil {
		t.Error("points of no row")
	}
	roomy := PerMark(plots.Panel{}, "method", func(int, string) Mark { return Dots(plots.Intervals{}, "size", Column("wrong"), Band{None: true}) }).WithRoom()(made())
	if want := 1.05 * 53.0; math.Abs(roomy[0].XMax-want) > 1e-12 {
		t.Errorf("axis to %v, want %v", roomy[0].XMax, want)
	}
	tb := made()
	for i, mark := range PerMark(plots.Panel{Title: "all"}, "cell", func(i int, cell string) Mark {
		return Line(plots.Line{Name: cell, Color: i}, "of", errs, Percent)
	})(tb)[0].Marks {
		l := mark.(plots.Line)
		if l.Name != tb.Unique("cell")[i] || l.Color != i || !slices.Equal(l.X, []float64{100}) || len(l.Lo) != 1 {
			t.Errorf("mark %d: %+v", i, l)
		}
	}
	tb.Add(table.Key{"cell": "one", "method": "a", "size": "3", "trial": "0"}, table.Values{"wrong": 1, "of": math.NaN(), "validation": 0})
	tb.Add(table.Key{"cell": "one", "method": "a", "size": "3", "trial": "0"}, table.Values{"wrong": 1, "of": 2, "validation": 0})
	byNumber := Line(plots.Line{}, "of", errs, Percent)(tb).(plots.Line)
	if !slices.Equal(byNumber.X, []float64{2, 100}) || byNumber.Y[0] != 50 || byNumber.Lo != nil {
		t.Errorf("by number, with a point that has no interval: %+v", byNumber)
	}
	lines := Each(Panel{Of: Lines("method", []plots.Line{{Name: "b", Color: 2}, {Name: "c"}}, "size", errs, Percent)}).Where("size", "1")(made())
	if len(lines) != 1 || len(lines[0].Marks) != 1 || lines[0].Marks[0].(plots.Line).Color != 2 || len(lines[0].Marks[0].(plots.Line).X) != 1 {
		t.Errorf("lines %+v", lines)
	}
	few := PlusMinus("few", errs.Where("trial", "0"), Percent, "%.0f")
	d, err = View{
		Text: &Text{Head: []string{"who"}, Rows: []Row{
			{Names: []string{"B"}, Of: []string{"method", "b", "size", "1"}}, {Names: []string{"C"}, Of: []string{"method", "c"}},
			{Names: []string{"A"}, Of: []string{"method", "a"}, Cells: []Cell{Of("", errs.Where("size", "3"), Percent, "%g"), few}},
		}, Cells: []Cell{PlusMinus("error", errs, Percent, "%.1f"), few}},
		Caption: Says("", "", "", ""),
	}.Draw(made().Where("cell", "one"))
	if err != nil || len(d.Text.Rows) != 2 || !slices.Equal(slices.Concat(d.Text.Head, d.Text.Rows[0], d.Text.Rows[1][:2]), []string{"who", "error", "few", "B", "53.0 ± 2.0", "50", "A", "–"}) {
		t.Errorf("rows by name: %+v, %v", d.Text, err)
	}
	if got := few.Of(made().Where("trial", "1")); got != "–" {
		t.Errorf("no numbers: %q", got)
	}
	dots := Dots(plots.Intervals{Name: "a"}, "cell", errs, Percent.Without())(made().Where("method", "a", "size", "1")).(plots.Intervals)
	if !slices.Equal(dots.Labels, []string{"one", "two"}) || !near(dots.X, []float64{43, 43}) || dots.Err != nil || dots.Possible != [2]float64{0, 100} {
		t.Errorf("dots %+v", dots)
	}
}

// Rows are ordered and named as a view wants them, and a row of two readings stands twice.
func TestRows(t *testing.T) {
	from := Named("reading", []string{"two", "both"}, func(name string) (string, Rows) {
		if name == "both" {
			return name, Only("cell", "two", "one")
		}
		return name, Only("cell", name)
	}).Then(Called("method and size", "method", func(cell string) string { return "method " + cell })).Where("size", "2")
	text := Text{By: []string{"reading", "", "cell", "", "method", "method"}, Cells: []Cell{Name("called", "method and size"), Of("error (%)", errs, Percent, "%.0f")}}
	d, err := View{From: from, Text: &text, Caption: Says("Errors.", "", "", "")}.Draw(made())
	if err != nil || !slices.Equal(d.Text.Head, []string{"method", "called", "error (%)"}) || len(d.Text.Rows) != 6 || !slices.Equal(d.Text.Rows[1], []string{"b", "method b", "33"}) {
		t.Errorf("%+v, %v", d.Text, err)
	}
	rows := from(made())
	if got := rows.Unique("reading"); !slices.Equal(got, []string{"two", "both"}) || rows.Len() != 42 || rows.Where("reading", "both").Index("cell")[0] != "two" {
		t.Errorf("readings %v of %d rows", got, rows.Len())
	}
	if n := Named("reading", []string(nil), func(string) (string, Rows) { return "", nil })(made()); n.Len() != 0 || n.Unique("reading") != nil {
		t.Errorf("no reading: %d rows", n.Len())
	}
	if f, err := judge.Judge(Positive(judge.Rule{}, OverGroups(errs.Where("method", "a"), "reading", "cell")).On(from)(made())); err != nil || len(f.Units) != 3 {
		t.Errorf("%d units, %v", len(f.Units), err)
	}
}

func TestClaims(t *testing.T) {
	points := judge.Rule{Scale: 100, Unit: "points"}
	gain := errs.Where("method", "b").Minus(errs.Where("method", "a"))
	at := func(m Measure) Measure { return m.Where("size", "2") }
	for name, tt := range map[string]struct {
		test  Test
		want  judge.Verdict
		units string
	}{
		"positive":   {Positive(points, OverCells("cell", []string{"one", "two"}, at(gain))), judge.Reproduced, "one two"},
		"not":        {Positive(points, OverGroups(at(gain).Plus(-.2), "cell", "size")).Where("size", "2"), judge.NotReproduced, "one, 2 two, 2"},
		"all but":    {AllBut(1, points, Together(Unit("all", at(gain).Where("cell", "one")), Unit("less", at(gain).Plus(-.2).Where("cell", "one")))), judge.Reproduced, "all less"},
		"equivalent": {Equivalent(.2, 1, points, Unit("all", at(gain).Where("cell", "one"))), judge.Reproduced, "all"},
		"printed":    {Printed(.1, at(gain).Where("cell", "one"), .001), judge.Reproduced, ""},
		"ratio":      {Ratio(judge.Ratio{Bound: .9, AtLeast: true}, at(gain).Where("cell", "one"), at(gain).Where("cell", "two")), judge.Reproduced, ""},
		"always":     {Always(func(g *table.Table) bool { return g.Len() == 8 }), judge.Reproduced, ""},
		"never":      {NeverNegative(at(gain).Plus(-.05)), judge.Reproduced, ""},
		"sometimes":  {NeverNegative(errs.Where("cell", "one", "method", "a", "size", "2").Plus(-.22)), judge.Partly, ""},
		"units":      {Positive(points, OverCells("cell", []string{"one"}, gain).Where("size", "1")), judge.Reproduced, "one"},
		"stand-in":   {Positive(points, OverCells("cell", []string{"one"}, at(gain))).StandIn("there"), judge.Untestable, "one"},
		"named":      {Positive(points, Together(OverCells("cell", []string{"one"}, at(gain)).Named("on ", " data"), Unit("all", at(gain).Where("cell", "two")))), judge.Reproduced, "on one data all"},
		"readings": {UnderNames([]string{"1", "2"}, func(size string) Test {
			return Positive(points, Unit(size, gain.Where("cell", "one", "size", size).Plus(map[string]float64{"2": -1}[size])))
		}), judge.Reproduced, ""},
		"parts": {Parts([]string{"more", "less"}, Positive(points, Unit("u", at(gain).Where("cell", "one"))), Positive(points, Unit("u", at(gain).Where("cell", "one").Times(-1)))), judge.Partly, ""},
	} {
		f, err := judge.Judge(tt.test(made()))
		var units string
		for i, u := range f.Units {
			if i > 0 {
				units += " "
			}
			units += u.Name
		}
		if err != nil || f.Verdict != tt.want || units != tt.units {
			t.Errorf("%s: %q of %q, %v; want %q of %q", name, f.Verdict, units, err, tt.want, tt.units)
		}
	}
	told := Readings(Reading{Name: "late", Test: Positive(points, Unit("u", at(gain).Where("cell", "one"))), Afterwards: "all"}).Told(func(t *table.Table) judge.Shown {
		return judge.Shown{Ours: fmt.Sprint(t.Len())}
	})
	f, err := judge.Judge(told(made()))
	if err != nil || f.Ours != "56" || len(f.Readings) != 1 || f.Readings[0].Afterwards != "all" {
		t.Errorf("told %+v, %v", f, err)
	}
}
