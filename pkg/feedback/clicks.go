package feedback

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"metriclab/internal/plural"
)

// ReadClicks reads a log of clicks as judgements, JSON lines such as {"query":"q7","shown":["d3","d9","d1"],"clicked":["d9"]}: a page of results, in the order of its places, and
// which of them somebody clicked. A document that was clicked has grade 1. One that was shown before the last click, or in the place after it, and was never clicked for the query
// has grade 0. It was seen and passed over (Joachims et al., Accurately Interpreting Clickthrough Data as Implicit Feedback, SIGIR 2005: "skip above", "no-click next").
// The others, and pages without a click, say nothing, since nobody knows whether they were seen. Only what was shown is judged at all.
//
// name is that of the file, for messages. Errors are those of ReadJudgements, and a document that is shown twice on a page, or clicked and not shown. Other fields are ignored. It panics if there is no
// query or no document.
func ReadClicks(r io.Reader, name string, queries, documents Objects) (*Judgements, error) {
	t := newTable(name, Form{}, &judgementKind)
	findQuery, errQuery := queries.Finder()
	find, err := documents.Finder()
	if err = errors.Join(errQuery, err); err != nil {
		panic("feedback: ReadClicks: " + err.Error())
	}
	raw, err := t.load(r)
	if err != nil {
		return nil, err
	}
	out := &Judgements{Name: name}
	at := map[[2]int]int{} // the place in the list of each pair
	pages, without, line := 0, 0, 0
	for text := range bytes.Lines(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var page struct {
			Query          jsontext.Value   `json:"query"`
			Shown, Clicked []jsontext.Value `json:",omitempty"`
		}
		if err := json.Unmarshal(text, &page, json.MatchCaseInsensitiveNames(true)); err != nil {
			return nil, fmt.Errorf("feedback: %s: %w", t.place(line), err)
		}
		query, err := objectOf(page.Query, findQuery)
		if err != nil {
			return nil, t.bad(line, "query", err)
		}
		places := map[int]int{}
		var shown []int
		for _, v := range page.Shown {
			d, err := objectOf(v, find)
			if err != nil {
				return nil, t.bad(line, "shown", err)
			}
			if _, twice := places[d]; twice {
				return nil, t.bad(line, "shown", fmt.Errorf("%s stands twice", clip(string(v))))
			}
			places[d] = len(shown)
			shown = append(shown, d)
		}
		clicked, last := map[int]bool{}, -1
		for _, v := range page.Clicked {
			d, err := objectOf(v, find)
			if err != nil {
				return nil, t.bad(line, "clicked", err)
			}
			place, ok := places[d]
			if !ok {
				return nil, t.bad(line, "clicked", fmt.Errorf("%s was not shown", clip(string(v))))
			}
			clicked[d], last = true, max(last, place)
		}
		pages++
		if last < 0 {
			without++
			continue
		}
		for _, d := range shown[:min(last+2, len(shown))] {
			pair := [2]int{query, d}
			i, ok := at[pair]
			if !ok {
				i = len(out.List)
				at[pair] = i
				out.List = append(out.List, Judgement{Query: query, Document: d})
				if err := t.room(len(out.List), judgementBytes); err != nil {
					return nil, err
				}
			}
			if clicked[d] {
				out.List[i].Grade = 1
			}
		}
	}
	switch {
	case pages == 0:
		return nil, fmt.Errorf("feedback: %s: no page of results, want at least one", name)
	case len(out.List) == 0:
		return nil, fmt.Errorf("feedback: %s: no page of results has a click, want at least one", name)
	}
	if without > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("pages without a click, which say nothing: %d of %s", without, plural.Of(pages, "page")))
	}
	if one := out.oneGrade(); one != "" {
		out.Notes = append(out.Notes, one)
	}
	return out, nil
}

// objectOf finds the object that a text or a whole number of JSON stands for.
func objectOf(v jsontext.Value, find func(string) (int, error)) (int, error) {
	switch v.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return 0, err
		}
		return find(text)
	case '0':
		return find(string(v))
	case 0:
		return 0, errors.New("missing, want an id")
	}
	return 0, fmt.Errorf("%s is not allowed, want a text or a number", clip(string(v)))
}
