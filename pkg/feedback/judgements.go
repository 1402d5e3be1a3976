package feedback

import (
	"fmt"
	"io"
	"strconv"
)

var judgementKind = kind{
	roles: []string{"query", "document", "grade"}, needed: 3,
	alike: []group{
		{0, [][]string{{"query", "document"}, {"query-id", "corpus-id"}, {"query-id", "doc-id"}, {"query-id", "document-id"}, {"qid", "docid"}, {"qid", "docno"}, {"topic", "document"}}},
		{2, [][]string{{"grade"}, {"score"}, {"relevance"}, {"rel"}, {"label"}, {"judgement"}}},
	},
}

// Judgements are the judgements of a file, in its order.
type Judgements struct {
	// Name is that of the file, for messages.
	Name string
	List []Judgement
	// Notes say what a reader should know: how columns were read, and queries whose documents all have one grade.
	Notes []string
}

// ReadJudgements reads how relevant documents are to queries (qrels), "query,document,grade": as BEIR has them, with the header query-id,
// corpus-id, score; or with other names (see the package documentation); or three columns without a header. The four columns of TREC are read
// with Form.Columns, query=1,document=3,grade=4. A grade is a number from 0 to MaxGrade, and the higher the more relevant. name is that of the file, for messages. A query
// or document that is not among those given, another grade, a document that is judged twice for one query, and a file without judgements are
// errors. It panics if there is no query or no document.
func ReadJudgements(r io.Reader, name string, queries, documents Objects, form Form) (*Judgements, error) {
	sides := []Objects{queries, documents}
	var find [2]func(string) (int, error)
	for side, o := range sides {
		var err error
		if find[side], err = o.Finder(); err != nil {
			panic("feedback: ReadJudgements: " + err.Error())
		}
	}
	t := newTable(name, form, &judgementKind)
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	out := &Judgements{Name: name}
	places := map[[2]int]int{} // the line of each pair
	var beyond [2]beyond
	err = t.each(raw, func(row row) error {
		if t.heads(row, func(cell string) (int, error) {
			if i, err := find[0](cell); err == nil {
				return i, nil
			}
			return find[1](cell)
		}) {
			return t.skip(row)
		}
		var pair [2]int
		for side := range pair {
			var err error
			if pair[side], err = beyond[side].find(t, sides[side], find[side], row, side); err != nil {
				return err
			}
		}
		grade, err := strconv.ParseFloat(row.cells[2], 64)
		if err != nil || !(grade >= 0 && grade <= MaxGrade) {
			return t.bad(row.line, "grade", fmt.Errorf("%s is not allowed, want a number from 0, for what is not relevant, to %d", clip(row.cells[2]), MaxGrade))
		}
		if first, twice := places[pair]; twice {
			return t.bad(row.line, "query and document", fmt.Errorf("%s and %s are judged in %s, too", clip(row.cells[0]), clip(row.cells[1]), t.place(first)))
		}
		places[pair] = row.line
		out.List = append(out.List, Judgement{pair[0], pair[1], grade})
		return t.room(len(out.List), judgementBytes)
	})
	for _, b := range beyond {
		if err == nil {
			err = b.err("judgement")
		}
	}
	if err == nil && len(out.List) == 0 {
		err = fmt.Errorf("feedback: %s: no judgement, want at least one", name)
	}
	if err != nil {
		return nil, err
	}
	out.Notes = said([]string{t.reading, out.oneGrade()})
	return out, nil
}

// judgementBytes is about what a judgement takes while the list of them grows: itself, and its line in a map.
const judgementBytes = 3*24 + 80

// oneGrade says how many queries tell nothing alone.
func (j *Judgements) oneGrade() string {
	type span struct{ least, most float64 }
	grades := map[int]span{}
	for _, v := range j.List {
		s, seen := grades[v.Query]
		if !seen {
			s = span{v.Grade, v.Grade}
		}
		grades[v.Query] = span{min(s.least, v.Grade), max(s.most, v.Grade)}
	}
	one := 0
	for _, s := range grades {
		if s.least == s.most {
			one++
		}
	}
	if one == 0 {
		return ""
	}
	return fmt.Sprintf("queries whose documents all have one grade: %d of %d; these say nothing of what is nearer", one, len(grades))
}
