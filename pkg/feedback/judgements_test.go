package feedback

import (
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

func TestReadJudgements(t *testing.T) {
	want := []Judgement{{0, 2, 1}, {0, 1, 0}, {1, 0, 2.5}}
	queries, documents := Objects{Names: []string{"q1", "7"}}, Objects{Names: []string{"d1", "d 2", "3"}}
	for form, text := range map[string]string{
		"beir":       "query-id\tcorpus-id\tscore\nq1\t3\t1\nq1\td 2\t0\n7\td1\t2.5\n",
		"plain":      "q1,3,1\nq1,d 2,0\n7.0,d1,2.5",
		"header":     "grade,document,query\n1,3,q1\n0,d 2,q1\n2.5e0,d1,7\n",
		"other":      "\ufeffqid;docid;rel;by\r\nq1;3;1;me\r\nq1;d 2;0;me\r\n7;d1;2.5;you\r\n",
		"json":       `{"query_id":"q1","doc_id":"3","relevance":1}` + "\n" + `{"query_id":"q1","doc_id":"d 2","relevance":0}` + "\n" + `{"query_id":7,"doc_id":"d1","relevance":2.5}`,
		"json lists": `["q1",3,1]` + "\n" + `["q1","d 2",0]` + "\n" + `["7","d1",2.5]`,
	} {
		j, err := ReadJudgements(strings.NewReader(text), "r", queries, documents, Form{})
		if err != nil || !slices.Equal(j.List, want) || j.Name != "r" {
			t.Errorf("%s: %+v, %v", form, j, err)
			continue
		}
		if note := "queries whose documents all have one grade: 1 of 2"; !strings.Contains(strings.Join(j.Notes, "\n"), note) {
			t.Errorf("%s: notes %q, want %q", form, j.Notes, note)
		}
	}
	trec := Form{Columns: map[string]string{"query": "1", "document": "3", "grade": "4"}}
	if j, err := ReadJudgements(strings.NewReader("q1 0 3 1\nq1 0 d1 0\n7 0 d1 2.5\n"), "r", queries, documents, trec); err != nil || !slices.Equal(j.List, []Judgement{{0, 2, 1}, {0, 0, 0}, {1, 0, 2.5}}) {
		t.Errorf("TREC: %+v, %v", j, err)
	}
}

func TestReadJudgementsErrors(t *testing.T) {
	queries, documents := Objects{Count: 2}, Objects{Count: 3}
	for text, want := range map[string]string{
		"":                       "r: no judgement, want at least one",
		"query,document,grade":   "r: no judgement, want at least one",
		"0,0,1\n2,0,1":           `r:2: query: "2" is not allowed, want a number from 0 to 1`,
		"1,3,1\n1,1,1":           `r:1: document: "3" is not allowed, want a number from 0 to 2; no judgement names 0: these seem to count from 1`,
		"0,3,1\n1,0,1":           `r:1: document: "3" is not allowed, want a number from 0 to 2`,
		"0,0,-1":                 `r:1: grade: "-1" is not allowed, want a number from 0, for what is not relevant, to 64`,
		"0,0,NaN":                `r:1: grade: "NaN" is not allowed`,
		"0,0,Inf":                `r:1: grade: "Inf" is not allowed`,
		"0,0,64\n0,1,65":         `r:2: grade: "65" is not allowed`,
		"0,0,1e999":              `r:1: grade: "1e999" is not allowed`,
		"0,0,yes":                `r:1: grade: "yes" is not allowed`,
		"0,0,1\n1,0,1\n0,0,2":    `r:3: query and document: "0" and "0" are judged in r:1, too`,
		"0 0 0 1\n":              `r:1: 4 cells, want 3: query, document, grade; or --columns query=1,document=2,grade=3`,
		"query,doc,score\n0,0,1": `the first row ("query", "doc", "score") is not known as a header: no column is called document`,
		"0,0\n":                  "2 cells, want 3",
	} {
		j, err := ReadJudgements(strings.NewReader(text), "r", queries, documents, Form{})
		if err == nil || !strings.Contains(err.Error(), want) || j != nil {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, o := range [][2]Objects{{{}, documents}, {queries, {}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v does not panic", o)
				}
			}()
			_, _ = ReadJudgements(strings.NewReader("0,0,1"), "r", o[0], o[1], Form{})
		}()
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 12)
	var many strings.Builder
	for i := range 200 {
		many.WriteString("0," + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10)) + ",1\n")
	}
	if _, err := ReadJudgements(strings.NewReader(many.String()), "r", queries, Objects{Count: 200}, Form{}); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("200 judgements in 4 kB: %v", err)
	}
}

// FuzzReadJudgements: what is accepted is allowed, and no pair stands twice.
func FuzzReadJudgements(f *testing.F) {
	for _, seed := range []string{"query-id\tcorpus-id\tscore\n0\t1\t1\n", "0,1,1\n1,2,0", `{"qid":0,"docid":1,"rel":2}`, "[0,1,1e308]", "0 0 1 1", "0,1,1\n0,1.0,1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := ReadJudgements(strings.NewReader(text), "r", Objects{Count: 2}, Objects{Count: 3}, Form{})
		if err != nil {
			return
		}
		seen := map[[2]int]bool{}
		for _, v := range j.List {
			pair := [2]int{v.Query, v.Document}
			if v.Query < 0 || v.Query > 1 || v.Document < 0 || v.Document > 2 || !(v.Grade >= 0) || v.Grade-v.Grade != 0 || seen[pair] {
				t.Fatalf("%q: %+v", text, v)
			}
			seen[pair] = true
		}
		if len(j.List) == 0 {
			t.Fatalf("%q: nothing", text)
		}
	})
}
