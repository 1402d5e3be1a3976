package ask

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/limits"
)

// columns are those of a file of answers. The first three are what ReadTriplets and ReadPairs of package feedback look for.
var columns = map[Kind][]string{
	KindCompare: {"a", "near", "far", "shown_left", "shown_right", "why", "person", "time", "ms"},
	KindOdd:     {"odd", "a", "b", "shown_left", "shown_middle", "shown_right", "why", "person", "time", "ms"},
	KindAlike:   {"i", "j", "label", "why", "person", "time", "ms"},
}

// Header returns the first line of a file of answers, with its line feed: CSV that metriclab fit --triplets reads, of KindAlike --pairs. Columns are the
// answer by names of items, who was shown what where, why it was asked, who answered, when (UTC) and in how many milliseconds.
func (k Kind) Header() []byte { return line(columns[k]) }

// Line returns the line of an answer, with its line feed. names are those of the items, without line feeds.
func (k Kind) Line(names []string, a Answer) []byte {
	item := func(place int) string { return names[a.Items[place]] }
	var cells []string
	switch k {
	case KindCompare:
		cells = []string{item(0), item(a.Said), item(3 - a.Said), item(1), item(2)}
	case KindOdd:
		cells = []string{item(a.Said), item((a.Said + 1) % 3), item((a.Said + 2) % 3), item(0), item(1), item(2)}
	case KindAlike:
		cells = []string{item(0), item(1), strconv.Itoa(2*a.Said - 1)}
	}
	return line(append(cells, a.Why.String(), a.Person, a.At.UTC().Format(time.RFC3339Nano), strconv.FormatInt(a.Took.Milliseconds(), 10)))
}

func line(cells []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(cells) // of a buffer no error
	w.Flush()
	return b.Bytes()
}

// Written are the answers of a file.
type Written struct {
	Answers []Answer
	// Strangers counts the answers about items that are not there.
	Strangers int
	// Whole is the number of bytes up to the end of the last whole line. What follows was being written when a process was killed.
	Whole int64
}

// ReadWritten reads what Header and Line wrote, except a last line without an end; name is that of the file, for messages. Answers about other items
// than names are counted and left out. It returns an error if a line is none of an answer of this kind.
func (k Kind) ReadWritten(r io.Reader, name string, names []string) (Written, error) {
	raw, err := limits.ReadAll(r, name)
	if err != nil {
		return Written{}, err
	}
	all := raw
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	out := Written{Whole: int64(len(raw))}
	noAnswers := fmt.Errorf("%s: it has no answers, and is not empty: want a file that metriclab ask has made, or none", name)
	if len(raw) == 0 {
		if !bytes.HasPrefix(k.Header(), all) {
			return Written{}, noAnswers
		}
		return out, nil
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // of a program that has saved it again
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[n] = i
	}
	in := csv.NewReader(bytes.NewReader(raw))
	in.FieldsPerRecord = -1
	for first := true; ; first = false {
		cells, err := in.Read()
		if err == io.EOF {
			if first {
				return Written{}, noAnswers
			}
			return out, nil
		}
		var n int
		if p := (*csv.ParseError)(nil); errors.As(err, &p) {
			n, err = p.StartLine, p.Err
		} else {
			n, _ = in.FieldPos(0)
		}
		if err == nil && first && !slices.Equal(cells, columns[k]) {
			err = fmt.Errorf("columns %s, want %s: it has answers of another kind, or of another program", strings.Join(cells, ","), strings.Join(columns[k], ","))
		}
		if err == nil && !first {
			var a Answer
			var known bool
			a, known, err = k.answer(cells, at)
			switch {
			case err == nil && known:
				err = k.check(len(names), a)
				out.Answers = append(out.Answers, a)
			case err == nil:
				out.Strangers++
			}
		}
		if err != nil {
			return Written{}, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
}

// answer reads the cells of a line, and tells whether all of its items are known.
func (k Kind) answer(cells []string, at map[string]int) (a Answer, known bool, err error) {
	if len(cells) != len(columns[k]) {
		return a, false, fmt.Errorf("%d cells, want %d", len(cells), len(columns[k]))
	}
	shown := map[Kind][]int{KindCompare: {0, 3, 4}, KindOdd: {3, 4, 5}, KindAlike: {0, 1}}[k]
	a.Items, known = [3]int{-1, -1, -1}, true
	for i, c := range shown {
		item, ok := at[cells[c]]
		a.Items[i], known = item, known && ok
	}
	switch k {
	case KindAlike:
		a.Said = slices.Index([]string{"-1", "1"}, cells[2])
	case KindCompare:
		a.Said = 1 + slices.Index(cells[3:5], cells[1])
	case KindOdd:
		a.Said = slices.Index(cells[3:6], cells[0])
	}
	said, seen := slices.Clone(cells[:k.shown()]), make([]string, 0, 3)
	for _, c := range shown {
		seen = append(seen, cells[c])
	}
	slices.Sort(said)
	slices.Sort(seen)
	if a.Said < 0 || k == KindCompare && a.Said == 0 || !slices.Equal(said, seen) {
		return a, false, fmt.Errorf("%q is no answer to what was shown", strings.Join(cells[:3], ","))
	}
	rest := cells[len(cells)-4:]
	if a.Why, err = reasonNames.Parse("why", rest[0]); err != nil {
		return a, false, err
	}
	a.Person = rest[1]
	if a.At, err = time.Parse(time.RFC3339Nano, rest[2]); err != nil {
		return a, false, fmt.Errorf("time: %q is not allowed, want such as 2026-01-31T12:00:00Z", rest[2])
	}
	const most = int64(math.MaxInt64 / time.Millisecond)
	ms, err := strconv.ParseInt(rest[3], 10, 64)
	if err != nil || ms < 0 || ms > most {
		return a, false, fmt.Errorf("ms: %q is not allowed, want a whole number from 0 to %d", rest[3], most)
	}
	a.Took = time.Duration(ms) * time.Millisecond
	return a, known, nil
}
