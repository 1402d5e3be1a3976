package feedback

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
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
	// Threes counts the answers that name the odd one out of three objects, or the most central: each is two of List.
	Threes int
	// Notes say what a reader should know: how columns were read, objects that are written alike, groups that no triplet connects.
	Notes []string
}

// ReadTriplets reads relative comparisons, "a,near,far": a is more like near than like far. See the package documentation
// for the forms, and for headers; name is that of the file, for messages. Two more forms are those of published sets: a
// MAT-file such as that of the music set (see datasets.ReadMATTriplets, with numbers from 1), and JSON with votes such as that
// of the material set (see datasets.ReadVotedTriplets).
//
// If all cells are whole numbers, they are objects from 0 to objects−1; objects 0 means one more than the largest. Otherwise they are
// names, and so are the numbers.
//
// Answers that name the odd one out of three objects, or the most central, are two comparisons each; what a file has is told by the names of its columns or
// by those of Form. Answers whose objects are not distinct are dropped and counted. It returns an error if a number is out of range, if there are fewer than 3 or more than
// MaxObjects objects, if objects is given beside names, or if no answer is left.
func ReadTriplets(r io.Reader, name string, objects int, form Form) (*Triplets, error) {
	if objects != 0 && (objects < 3 || objects > MaxObjects) {
		return nil, fmt.Errorf("feedback: objects: %d is not allowed, want 3 to %d", objects, MaxObjects)
	}
	t := newTable(name, form, tripletKinds...)
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
	out.Notes = said(out.notesOf())
	return out, nil
}

// ReadTripletsOf is ReadTriplets of objects that are known: a cell is the number of an object, or its name if o has names.
// Of o.Names those of the result are none: objects are numbers. It panics if o has no object, or two have one name.
func ReadTripletsOf(r io.Reader, name string, o Objects, form Form) (*Triplets, error) {
	find, err := o.Finder()
	if err != nil {
		panic("feedback: ReadTripletsOf: " + err.Error())
	}
	t := newTable(name, form, tripletKinds...)
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(raw, []byte(matMagic)) || voted(raw) {
		return nil, fmt.Errorf("feedback: %s: the form of a published set is not allowed here, want CSV, JSON lines or .npy", name)
	}
	out := &Triplets{Name: name, Objects: max(o.Count, len(o.Names))}
	var answers signs
	var beyond beyond
	err = t.each(raw, func(r row) error {
		if t.heads(r, find) {
			return t.skip(r)
		}
		var at [3]int
		for c := range at {
			var err error
			if at[c], err = beyond.find(t, o, find, r, c); err != nil {
				return err
			}
		}
		if err := t.respond(r, &answers, &at); err != nil {
			return err
		}
		return out.add(t, t.kind, at)
	})
	if err := cmp.Or(err, beyond.err("triplet"), out.some()); err != nil {
		return nil, err
	}
	out.Notes = said(append([]string{t.reading, answers.note("response", exchanged), out.threes(t.kind)}, out.notesOf()...))
	return out, nil
}

// threes says what an answer about three objects is.
func (t *Triplets) threes(k *kind) string {
	if t.Threes == 0 {
		return ""
	}
	return fmt.Sprintf("%s that name %s of three objects, two comparisons each", plural.Of(t.Threes, "answer"), cmp.Or(k.noun, "one"))
}

// add adds the comparisons of an answer, if its objects are distinct.
func (t *Triplets) add(in *table, k *kind, of [3]int) error {
	t.Read++
	if (metric.Triplet{A: of[0], Near: of[1], Far: of[2]}).Degenerate() {
		t.Degenerate++
		return nil
	}
	says := k.says
	if says == nil {
		says = [][3]int{{0, 1, 2}}
	} else {
		t.Threes++
	}
	for _, at := range says {
		t.List = append(t.List, metric.Triplet{A: of[at[0]], Near: of[at[1]], Far: of[at[2]]})
		if err := in.room(len(t.List), rowBytes); err != nil {
			return err
		}
	}
	return nil
}

// some returns an error if no answer is left.
func (t *Triplets) some() error {
	switch {
	case t.Read == 0:
		return fmt.Errorf("feedback: %s: no triplet, want at least one", t.Name)
	case len(t.List) == 0:
		return fmt.Errorf("feedback: %s: no triplet of three distinct objects, of %d, want at least one", t.Name, t.Read)
	}
	return nil
}

// exchanged is what a response of −1 says.
const exchanged = "near and far exchanged"

// respond exchanges near and far if the response of a row says so.
func (t *table) respond(r row, answers *signs, of *[3]int) error {
	if r.cells[3] == "" {
		return nil
	}
	sign, err := answers.read(r.cells[3], "as it stands", exchanged)
	if err != nil {
		return t.bad(r.line, "response", err)
	}
	if sign < 0 {
		of[1], of[2] = of[2], of[1]
	}
	return nil
}

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
	type numbered struct {
		word [3]int // cells, by their place among the words
		line int
		of   *kind
	}
	var rows []numbered
	var words []string
	at := map[string]int{}
	var written spellings
	var answers signs
	var header *row // the first row, if it may be one
	err := t.each(raw, func(r row) error {
		if r.first && !slices.ContainsFunc(r.cells[:3], isWhole) {
			header = &r // data only if its names recur
			return nil
		}
		o := numbered{line: r.line, of: t.kind}
		for c := range o.word {
			cell := written.name(r.cells[c])
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
		if err := t.respond(r, &answers, &rows[len(rows)-1].word); err != nil {
			return err
		}
		return t.room(len(rows), rowBytes)
	})
	if err != nil {
		return nil, err
	}
	if header != nil {
		o := numbered{line: header.line, of: t.kind}
		recurs := true
		for c, cell := range header.cells[:3] {
			k, ok := at[cell]
			o.word[c], recurs = k, recurs && ok
		}
		if !recurs {
			if err := t.skip(*header); err != nil {
				return nil, fmt.Errorf("%w, or say by --no-header that it is data", err)
			}
		} else if err := t.respond(*header, &answers, &o.word); err != nil {
			return nil, err
		} else {
			rows = slices.Insert(rows, 0, o)
		}
	}
	out := &Triplets{Name: t.name, Objects: objects}
	numbers := make([]int, len(words))
	whole := 0
	other := -1 // a word that is no number
	for k, w := range words {
		if v, ok := closest.Whole(w); ok {
			numbers[k] = v
			whole++
		} else if other < 0 {
			other = k
		}
	}
	mixed := ""
	if other >= 0 {
		if objects != 0 {
			return nil, fmt.Errorf("feedback: %s: objects: %d is given, but objects have names, such as %s", t.name, objects, clip(words[other]))
		}
		if len(words) > MaxObjects {
			return nil, fmt.Errorf("feedback: %s: %d names, want at most %d", t.name, len(words), MaxObjects)
		}
		out.Names = slices.Sorted(slices.Values(words))
		for i, w := range out.Names {
			numbers[at[w]] = i
		}
		out.Objects = len(out.Names)
		if whole > 0 {
			mixed = fmt.Sprintf("objects are names, since %s is no whole number; %d of %d are numbers", clip(words[other]), whole, len(words))
		}
	}
	most := cmp.Or(objects, MaxObjects)
	for _, r := range rows {
		var o [3]int
		for c, k := range r.word {
			o[c] = numbers[k]
			if out.Names == nil && (o[c] < 0 || o[c] >= most) {
				return nil, t.bad(r.line, r.of.roles[c], fmt.Errorf("%s is not allowed, want an object from 0 to %d", clip(words[k]), most-1))
			}
		}
		if err := out.add(t, r.of, o); err != nil {
			return nil, err
		}
		if objects == 0 && out.Names == nil {
			out.Objects = max(out.Objects, o[0]+1, o[1]+1, o[2]+1)
		}
	}
	if err := out.some(); err != nil {
		return nil, err
	}
	out.Notes = said(append([]string{t.reading, answers.note("response", exchanged), out.threes(t.kind), mixed, written.note()}, out.notesOf()...))
	return out, nil
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
	votes := ways[metric.Triplet]{}
	for _, v := range t.List {
		way := 0
		if v.Near > v.Far {
			v.Near, v.Far, way = v.Far, v.Near, 1
		}
		votes.add(v, way)
	}
	return votes.agreement()
}
