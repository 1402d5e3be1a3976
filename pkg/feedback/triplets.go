package feedback

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
)

// MaxObjects is the largest number of objects that triplets speak of.
const MaxObjects = datasets.MaxTripletObjects

// Triplets are the relative comparisons of a file, in its order.
type Triplets struct {
	// Name is that of the file, for messages.
	Name string
	// Objects is the number of objects. Not all of them need occur.
	Objects int
	// Names are those of the objects, in ascending order; nil if the file has numbers.
	Names []string
	List  []metric.Triplet
	// Read counts the answers of the file, and of these Degenerate those dropped because their objects are not distinct, and
	// Ties those dropped because as many votes are for them as against.
	Read, Degenerate, Ties int
}

// ReadTriplets reads relative comparisons, "a,near,far": a is more like near than like far. See the package documentation
// for the forms, and for headers; name is that of the file, for messages. Two more forms are those of published sets: a
// MAT-file such as that of the music set (see datasets.ReadMATTriplets, with numbers from 1), and JSON with votes such as that
// of the material set (see datasets.ReadVotedTriplets).
//
// If all cells are whole numbers, they are objects from 0 to objects−1; objects 0 means one more than the largest. Otherwise they are
// names. A first row of CSV without a number before rows of numbers is a header.
//
// Answers whose objects are not distinct are dropped and counted. It returns an error if a number is out of range, if there are fewer than 3 or more than
// MaxObjects objects, if objects is given beside names, or if no answer is left.
func ReadTriplets(r io.Reader, name string, objects int) (*Triplets, error) {
	if objects != 0 && (objects < 3 || objects > MaxObjects) {
		return nil, fmt.Errorf("feedback: objects: %d is not allowed, want 3 to %d", objects, MaxObjects)
	}
	t := &table{name: name, columns: tripletColumns, number: -1}
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	read := datasets.ReadMATTriplets
	if !bytes.HasPrefix(raw, []byte(matMagic)) {
		if !voted(raw) {
			return t.triplets(raw, objects)
		}
		read = datasets.ReadVotedTriplets
	}
	most := objects
	if most == 0 {
		most = MaxObjects
	}
	set, err := read(bytes.NewReader(raw), name, most)
	if err != nil {
		return nil, fmt.Errorf("feedback: %w", err)
	}
	out := &Triplets{Name: name, Objects: objects, List: set.Triplets, Read: set.Report.Read, Degenerate: set.Report.Degenerate, Ties: set.Report.Ties}
	if objects == 0 {
		for _, t := range out.List {
			out.Objects = max(out.Objects, t.A+1, t.Near+1, t.Far+1)
		}
	}
	return out, nil
}

// ReadTripletsOf is ReadTriplets of objects that are known: a cell is the number of an object, or its name if o has names.
// Of o.Names those of the result are none: objects are numbers. It panics if o has no object, or two have one name.
func ReadTripletsOf(r io.Reader, name string, o Objects) (*Triplets, error) {
	find, err := o.Finder()
	if err != nil {
		panic("feedback: ReadTripletsOf: " + err.Error())
	}
	t := &table{name: name, columns: tripletColumns, number: -1}
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(raw, []byte(matMagic)) || voted(raw) {
		return nil, fmt.Errorf("feedback: %s: the form of a published set is not allowed here, want CSV, JSON lines or .npy", name)
	}
	out := &Triplets{Name: name, Objects: max(o.Count, len(o.Names))}
	first := true
	err = t.each(raw, func(r row) error {
		var at [3]int
		known := 0
		var bad error
		for c, cell := range r.cells {
			i, err := find(cell)
			if err == nil {
				at[c] = i
				known++
			} else if bad == nil {
				bad = t.bad(r.line, t.columns[c][0], err)
			}
		}
		if header := first && known == 0 && !slices.ContainsFunc(r.cells[:], isWhole); bad != nil && !header {
			return bad
		} else if header {
			first = false
			return nil
		}
		first = false
		out.Read++
		answer := metric.Triplet{A: at[0], Near: at[1], Far: at[2]}
		if answer.Degenerate() {
			out.Degenerate++
			return nil
		}
		out.List = append(out.List, answer)
		return t.room(len(out.List), linkBytes)
	})
	if err == nil && len(out.List) == 0 {
		err = fmt.Errorf("feedback: %s: no triplet of three distinct objects, of %d, want at least one", name, out.Read)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func isWhole(cell string) bool { _, ok := whole(cell); return ok }

// tripletColumns are the names of the columns of triplets.
var tripletColumns = [3][]string{{"a", "anchor"}, {"near", "positive"}, {"far", "negative"}}

// voted tells whether a file is one JSON object with answers.
func voted(raw []byte) bool {
	begin := bytes.TrimLeft(raw, " \t\r\n")
	if len(begin) == 0 || begin[0] != '{' {
		return false
	}
	first, _, _ := bytes.Cut(begin, []byte("\n"))
	var object map[string]any
	if json.Unmarshal(first, &object) == nil {
		_, ok := object["answers"]
		return ok
	}
	return bytes.Contains(begin, []byte(`"answers"`)) // an object over several lines
}

// rowBytes is about what a triplet takes while the list of them grows, and nameBytes what a name does beside its text.
const (
	rowBytes  = 3 * 32
	nameBytes = 3 * 64
)

// triplets reads all forms that are not of published sets.
func (t *table) triplets(raw []byte, objects int) (*Triplets, error) {
	var rows []row3
	at := map[string]int{}
	var words []string
	err := t.each(raw, func(r row) error {
		o := row3{line: r.line}
		for c, cell := range r.cells {
			k, ok := at[cell]
			if !ok {
				k = len(words)
				at[cell] = k
				words = append(words, cell)
				if err := t.room(len(words), nameBytes); err != nil {
					return err
				}
			}
			o.word[c] = k
		}
		rows = append(rows, o)
		return t.room(len(rows), rowBytes)
	})
	if err != nil {
		return nil, err
	}
	out := &Triplets{Name: t.name, Objects: objects}
	if len(rows) == 0 {
		return nil, fmt.Errorf("feedback: %s: no triplet, want at least one", t.name)
	}
	numbers := make([]int, len(words))
	isNumber := make([]bool, len(words))
	for k, w := range words {
		numbers[k], isNumber[k] = whole(w)
	}
	if headed(rows, isNumber) {
		rows = rows[1:]
	} else if slices.Contains(isNumber, false) {
		if objects != 0 {
			k := slices.Index(isNumber, false)
			return nil, fmt.Errorf("feedback: %s: objects: %d is given, but objects have names, such as %s", t.name, objects, clip(words[k]))
		}
		if len(words) > MaxObjects {
			return nil, fmt.Errorf("feedback: %s: %d names, want at most %d", t.name, len(words), MaxObjects)
		}
		out.Names = slices.Sorted(slices.Values(words))
		for i, w := range out.Names {
			numbers[at[w]] = i
		}
		out.Objects = len(out.Names)
	}
	for _, r := range rows {
		var o [3]int
		for c, k := range r.word {
			o[c] = numbers[k]
			if most := cmp.Or(objects, MaxObjects); out.Names == nil && (o[c] < 0 || o[c] >= most) {
				return nil, t.bad(r.line, t.columns[c][0], fmt.Errorf("%s is not allowed, want an object from 0 to %d", clip(words[k]), most-1))
			}
		}
		out.Read++
		answer := metric.Triplet{A: o[0], Near: o[1], Far: o[2]}
		if answer.Degenerate() {
			out.Degenerate++
			continue
		}
		out.List = append(out.List, answer)
		if objects == 0 && out.Names == nil {
			out.Objects = max(out.Objects, o[0]+1, o[1]+1, o[2]+1)
		}
	}
	if len(out.List) == 0 {
		return nil, fmt.Errorf("feedback: %s: no triplet of three distinct objects, of %d, want at least one", t.name, out.Read)
	}
	return out, nil
}

// row3 is a row whose cells are numbered words.
type row3 struct {
	word [3]int
	line int
}

// headed tells whether the first row has words only, and all others, at least one, have numbers only.
func headed(rows []row3, isNumber []bool) bool {
	for i, r := range rows {
		for _, k := range r.word {
			if isNumber[k] == (i == 0) {
				return false
			}
		}
	}
	return len(rows) > 1
}

// Agreement says how far the answers agree with each other. A question is an object and two to compare with it.
type Agreement struct {
	// Questions counts the different questions, and Contradicted those that were answered both ways.
	Questions, Contradicted int
	// Outvoted counts the answers that were given less often than the opposite ones; of as many answers both ways it counts one half.
	// No distances satisfy more than all answers but these.
	Outvoted int
}

// Agreement counts the answers to each question.
func (t *Triplets) Agreement() Agreement {
	votes := map[metric.Triplet]*[2]int{}
	for _, v := range t.List {
		q, way := v, 0
		if v.Near > v.Far {
			q.Near, q.Far, way = v.Far, v.Near, 1
		}
		if votes[q] == nil {
			votes[q] = new([2]int)
		}
		votes[q][way]++
	}
	a := Agreement{Questions: len(votes)}
	for _, v := range votes {
		if least := min(v[0], v[1]); least > 0 {
			a.Contradicted++
			a.Outvoted += least
		}
	}
	return a
}
