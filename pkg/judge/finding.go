package judge

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Finding is what a test found: a verdict, the numbers that led to it, and the words for
// them.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Ours is our value, with its interval; Reason says why the verdict is what it is.
	Ours   string `json:"ours"`
	Reason string `json:"reason"`
	// Need says what would decide an undecided test; "" of others, and if nothing can be
	// said.
	Need string `json:"need,omitempty"`
	// Test is the kind of the test.
	Test Kind `json:"test,omitempty"`
	// Unit is that of all numbers here: "points" are percentage points. Sample is what n counts.
	Unit   string `json:"unit,omitempty"`
	Sample string `json:"sample,omitempty"`
	// Mean is that over the units, taken per trial; of Number that of the values.
	Mean *Estimate `json:"mean,omitempty"`
	// Units are the units in their order; of Ratio the difference that decides.
	Units []UnitFinding `json:"units,omitempty"`
	// Exceptions is that of Positive; Margin, Share and Printed are those of Equivalent.
	Exceptions int     `json:"exceptions,omitempty"`
	Margin     float64 `json:"margin,omitempty"`
	Share      float64 `json:"share,omitempty"`
	Printed    bool    `json:"printed,omitempty"`
	// Theirs and Tolerance are those of Number; Theirs is also the bound of Ratio, Bound
	// says "at most" or "at least", and Over, Under and Quotient are what it is of.
	Theirs    *float64  `json:"theirs,omitempty"`
	Tolerance float64   `json:"tolerance,omitempty"`
	Bound     string    `json:"bound,omitempty"`
	Over      *Estimate `json:"over,omitempty"`
	Under     *Estimate `json:"under,omitempty"`
	Quotient  *Estimate `json:"quotient,omitempty"`
	// Trials and Failing are those of Holds: how many there are, and in which of them,
	// counted from 0, the statement is false.
	Trials  int   `json:"trials,omitempty"`
	Failing []int `json:"failing,omitempty"`
	// Readings are the findings of Readings and the parts of Both.
	Readings []ReadingFinding `json:"readings,omitempty"`
	// Would is the verdict that StandIn does not give.
	Would Verdict `json:"would,omitempty"`
	// Note is that of Shown, or what Margin says.
	Note string `json:"note,omitempty"`
	// Proof is why a Check cannot fail, "" of what is no check; Cases is how many independent
	// cases were tried.
	Proof string `json:"proof,omitempty"`
	Cases int    `json:"cases,omitempty"`
}

// Kind names the kind of a test.
type Kind string

// The kinds of tests.
const (
	KindPositive   Kind = "positive"
	KindEquivalent Kind = "equivalent"
	KindHolds      Kind = "holds"
	KindNumber     Kind = "number"
	KindRatio      Kind = "ratio"
	KindReadings   Kind = "readings"
	KindBoth       Kind = "both"
	KindUntestable Kind = "untestable"
	KindOpen       Kind = "open"
)

// Estimate is a mean with the half-width of its 95 % interval, NaN (null in JSON) if it
// has none. Side is that of zero on which the interval lies; "" where zero means nothing.
type Estimate struct {
	N    int
	Mean float64
	Half float64
	Side Side
}

// UnitFinding is what was found of one unit.
type UnitFinding struct {
	Name string
	// Estimate has the Side as which the unit counts: For only if it is at the level that
	// Positive.Exceptions asks for; of Equivalent For within the margin, Against beyond.
	Estimate
	// Excepted says that it is one of the exceptions that the statement allows.
	Excepted bool
	// Confirms and Refutes say that it is for, or against, even after correction for the
	// number of units; of printed numbers Refutes says that one lies outside of our interval.
	Confirms, Refutes bool
	// Blind says of a unit of Equivalent that its half-width is not below the margin: it can
	// tell neither way.
	Blind bool
}

// ReadingFinding is the finding of one reading, or of one part.
type ReadingFinding struct {
	Name string `json:"name"`
	// Headline says why the verdict of the whole is that of this reading; "" of all others.
	Headline string `json:"headline,omitempty"`
	// Afterwards is that of the Reading.
	Afterwards string  `json:"afterwards,omitempty"`
	Finding    Finding `json:"finding"`
}

// jsonEstimate is the JSON of an Estimate, with six digits of each number.
type jsonEstimate struct {
	N    int    `json:"n"`
	Mean digits `json:"mean"`
	Half digits `json:"half"`
	Side Side   `json:"side,omitempty"`
}

// MarshalJSON writes null for a number that there is not.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonEstimate{e.N, digits(e.Mean), digits(e.Half), e.Side})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j jsonEstimate
	err := json.Unmarshal(data, &j)
	*e = Estimate{j.N, float64(j.Mean), float64(j.Half), j.Side}
	return err
}

// jsonUnit is the JSON of a UnitFinding.
type jsonUnit struct {
	Name string `json:"name"`
	jsonEstimate
	Excepted bool `json:"excepted,omitempty"`
	Confirms bool `json:"confirms,omitempty"`
	Refutes  bool `json:"refutes,omitempty"`
	Blind    bool `json:"blind,omitempty"`
}

// MarshalJSON writes the name first, and null for a number that there is not.
func (u UnitFinding) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonUnit{u.Name, jsonEstimate{u.N, digits(u.Mean), digits(u.Half), u.Side}, u.Excepted, u.Confirms, u.Refutes, u.Blind})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (u *UnitFinding) UnmarshalJSON(data []byte) error {
	var j jsonUnit
	err := json.Unmarshal(data, &j)
	*u = UnitFinding{j.Name, Estimate{j.N, float64(j.Mean), float64(j.Half), j.Side}, j.Excepted, j.Confirms, j.Refutes, j.Blind}
	return err
}

// digits is a number of which JSON has six digits.
type digits float64

func (d digits) MarshalJSON() ([]byte, error) {
	v := float64(d)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	text := strconv.AppendFloat(nil, v, 'g', 6, 64)
	return bytes.Replace(text, []byte("e+"), []byte("e"), 1), nil
}

// UnmarshalJSON reads a number, NaN for null.
func (d *digits) UnmarshalJSON(data []byte) error {
	v := math.NaN()
	if string(data) != "null" {
		var err error
		if v, err = strconv.ParseFloat(string(data), 64); err != nil {
			return err
		}
	}
	*d = digits(v)
	return nil
}

// estimate returns the estimate of a summary, scaled for print.
func (r Rule) estimate(s Summary) Estimate {
	return Estimate{N: s.N, Mean: r.scale() * s.Mean, Half: r.scale() * s.Half, Side: s.Side()}
}

// level is the estimate of what is not compared with zero.
func (r Rule) level(s Summary) *Estimate {
	e := r.estimate(s)
	e.Side = ""
	return &e
}

// few reports whether there are too few values for an interval.
func (e Estimate) few() bool { return e.N < MinTrials }

// check refuses a rule that makes no sense.
func (r Rule) check() {
	if !(r.Scale >= 0) || math.IsInf(r.Scale, 1) {
		Refuse("judge: scale %g, want a positive number, or 0 for 1", r.Scale)
	}
	checkRatio(r.TestRatio)
}

func (r Rule) scale() float64 {
	if r.Scale == 0 {
		return 1
	}
	return r.Scale
}

// sample is what there is one value of.
func (r Rule) sample() string {
	if r.Sample == "" {
		return aTrial
	}
	return r.Sample
}

// aTrial is the default of Rule.Sample.
const aTrial = "trial"
