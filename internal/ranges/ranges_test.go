package ranges

import (
	"math"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tiny, inf, nan := math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()
	for _, c := range []struct {
		tag     string
		integer bool
		text    string
		in, out []float64
	}{
		{"finite", false, "a finite number", []float64{0, -1e300, 1e300}, []float64{inf, -inf, nan}},
		{"> 0", false, "a finite number > 0", []float64{tiny, math.MaxFloat64}, []float64{0, -1, inf, -inf, nan}},
		{">= 0", false, "a finite number ≥ 0", []float64{0, 3}, []float64{-tiny, inf, nan}},
		{"> 0, or +Inf", false, "a number > 0, or +Inf", []float64{1, inf}, []float64{0, -inf, nan}},
		{"> 0 and < 1", false, "a number > 0 and < 1", []float64{tiny, math.Nextafter(1, 0)}, []float64{0, 1, inf, nan}},
		{">= 0 and < 1", false, "a number ≥ 0 and < 1", []float64{0}, []float64{1, -tiny}},
		{"> 0 and <= 1e100", false, "a number > 0 and at most 1e+100", []float64{1e100}, []float64{0, math.Nextafter(1e100, inf), inf}},
		{">= -1e100 and <= 1e100", false, "a number from -1e+100 to 1e+100", []float64{-1e100, 1e100}, []float64{-1e101, nan}},
		{"0, or > 0 and <= 1e100", false, "a number from 0 to 1e+100", []float64{0, 1}, []float64{-1, 1e101}},
		{"0, or >= 1e-140 and < l", false, "0, or a number ≥ 1e-140 and < l", []float64{0, 1e-140}, []float64{-1, 1e-150}},
		{"> u and <= 9", false, "a number > u and at most 9", []float64{-3, 9}, []float64{10}},
		{"<= 3", false, "a number at most 3", []float64{3, -1e300}, []float64{4, -inf}},
		{">= 1", true, "an integer ≥ 1", []float64{1, 1e18}, []float64{0, 1.5, inf, nan}},
		{"0, or >= 1", true, "an integer ≥ 0", []float64{0, 1}, []float64{-1}},
		{">= 1 and <= 1000000", true, "an integer from 1 to 1000000", []float64{1e6}, []float64{1e6 + 1}},
		{"0, or >= 1 and <= 5", true, "an integer from 0 to 5", []float64{0, 5}, []float64{6}},
		{"0, or >= 1 and <= the rows", true, "0, or an integer from 1 to the rows", []float64{0, 7}, []float64{-1}},
		{">= 1 and <= the rows and columns", true, "an integer from 1 to the rows and columns", []float64{1}, []float64{0}},
		{"0, or >= 2", true, "0, or an integer ≥ 2", []float64{0, 2}, []float64{1}},
	} {
		r, err := Parse(c.tag, c.integer)
		if err != nil {
			t.Errorf("%q: %v", c.tag, err)
			continue
		}
		if r.Text() != c.text {
			t.Errorf("%q is %q, want %q", c.tag, r.Text(), c.text)
		}
		for _, v := range c.in {
			if !r.Admits(v) {
				t.Errorf("%q refuses %v", c.tag, v)
			}
		}
		for _, v := range c.out {
			if r.Admits(v) {
				t.Errorf("%q admits %v", c.tag, v)
			}
		}
	}
	for _, bad := range []string{
		"", "any", "0", "0, or finite", "finite, or +Inf", ">0", "> ", "> 1e1oo", "> NaN", "< +Inf", "> 0 and > 1", "> 1 and < 1",
		">= 3 and <= 2", "= 3", "=> 3", "> 0 and", "> 0 and < 1, or +Inf", "> 0 or < 1", "> 0 and < 1 and < 2", "> u and > 0", "< 1 and > 0",
	} {
		if r, err := Parse(bad, false); err == nil {
			t.Errorf("%q is %q, want an error", bad, r.Text())
		}
	}
	for _, bad := range []string{"> 0.5", ">= 1e300", "> 0, or +Inf"} {
		if _, err := Parse(bad, true); err == nil {
			t.Errorf("%q is a range of integers", bad)
		}
	}
}

func TestAdmitsInt(t *testing.T) {
	r, err := Parse("0, or >= 2 and <= 9007199254740992", true)
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[int]bool{-1: false, 0: true, 1: false, 2: true, 1 << 53: true, 1<<53 + 1: false, math.MaxInt: false, math.MinInt: false} {
		if got := r.AdmitsInt(v); got != want {
			t.Errorf("%d: %v, want %v", v, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	parse := func(tag string, integer bool) Range {
		r, err := Parse(tag, integer)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for want, r := range map[string]Range{
		"a number from 0 to 3":             parse("> 0 and <= 3", false).OrZero(),
		"0, or a number > u and at most 9": parse("> u and <= 9", false).OrZero(),
		"a number > 0 and at most 3":       parse("0, or > 0 and <= 3", false).WithoutZero(),
		"a finite number > 0":              parse("> 0, or +Inf", false).Finite(),
		"an integer from 1 to 7":           parse(">= 1", true).AtMost(7),
		"an integer from 1 to 8":           parse(">= 1 and <= 8", true).AtMost(7),
		"an integer from 1 to the rows":    parse(">= 1 and <= the rows", true).AtMost(7),
		"a number from -1 to 1":            parse(">= -1 and <= 1", false).OrZero(),
		"0, or a number > 2 and at most 3": parse("> 2 and <= 3", false).OrZero(),
	} {
		if r.Text() != want {
			t.Errorf("%q, want %q", r.Text(), want)
		}
	}
	low, high, lowOpen, highOpen := parse("> 0 and <= 3", false).Ends()
	if low != 0 || high != 3 || !lowOpen || highOpen {
		t.Errorf("ends %v, %v, open %v, %v", low, high, lowOpen, highOpen)
	}
	if low, high, _, _ := parse("> u and < l", false).Ends(); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("ends %v, %v", low, high)
	}
	if low, high := parse("> u and < 3", false).Words(); low != "u" || high != "" {
		t.Errorf("words %q, %q", low, high)
	}
}

type embedded struct {
	Inner float64 `range:"> 0"`
}

type params struct {
	embedded
	C             float64   `json:"weight,omitempty" range:"> 0"`
	B1            *float64  `json:"-" range:">= -1 and <= 1"`
	Grid          []float64 `range:"> 0"`
	MaxIterations int       `range:">= 1 and <= the rows"`
	Free          float64
}

func TestCheck(t *testing.T) {
	good := func() params { return params{C: 1, MaxIterations: 1} }
	if err := Check("p", good()); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*params){
		"p: weight: 0 is not allowed, want a finite number > 0":                      func(p *params) { p.C = 0 },
		"p: weight: NaN is not allowed, want a finite number > 0":                    func(p *params) { p.C = math.NaN() },
		"p: b1: -2 is not allowed, want a number from -1 to 1":                       func(p *params) { p.B1 = new(-2.0) },
		"p: grid[1]: -3 is not allowed, want a finite number > 0":                    func(p *params) { p.Grid = []float64{1, -3} },
		"p: max_iterations: 0 is not allowed, want an integer from 1 to 5, the rows": func(p *params) { p.MaxIterations = 0 },
		"p: max_iterations: 6 is not allowed, want an integer from 1 to 5, the rows": func(p *params) { p.MaxIterations = 6 },
		"p: weight: -1 is not allowed, want a finite number > 0":                     func(p *params) { p.C, p.MaxIterations = -1, -1 },
	} {
		p := good()
		change(&p)
		if err := Check("p", p, Limit{"the rows", 5}); err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	p := good()
	p.MaxIterations = 6
	if err := Check("p", p); err != nil {
		t.Errorf("an end that is not told: %v", err)
	}
	p.MaxIterations = 0
	if err := Check("", p); err == nil || err.Error() != "max_iterations: 0 is not allowed, want an integer from 1 to the rows" {
		t.Error(err)
	}
}

func TestOf(t *testing.T) {
	if got := Of(params{}, "B1").Text(); got != "a number from -1 to 1" {
		t.Error(got)
	}
	if got := Of(params{}, "Inner").Text(); got != "a finite number > 0" {
		t.Error(got)
	}
	if r := Of(params{}, "MaxIterations"); !r.Integer() || Of(params{}, "C").Integer() {
		t.Error("kinds are mixed up")
	}
	for want, f := range map[string]func(){
		"ranges: ranges.params has no field D":             func() { Of(params{}, "D") },
		"ranges: field Free of ranges.params has no range": func() { Of(params{}, "Free") },
		"is no number": func() {
			Of(struct {
				S string `range:"> 0"`
			}{}, "S")
		},
		`range "?" is not allowed`: func() {
			Of(struct {
				C float64 `range:"?"`
			}{}, "C")
		},
		`no range of ranges.params ends in "the columns"`: func() { _ = Check("p", params{}, Limit{"the columns", 1}) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{"C": "c", "B1": "b1", "MaxIterations": "max_iterations", "SVM": "svm", "BiasScale": "bias_scale"} {
		if got := snake(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
