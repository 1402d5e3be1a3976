package main

import (
	"os"
	"path/filepath"
	"testing"
)

// feedbackFiles are the files of the tests on feedback that is no class.
var feedbackFiles = map[string]string{
	"faces.csv":  "id,x,y,person\n1,0,5,ann\n2,0.5,1,ann\n3,1,3,ann\n4,4,-4,bob\n5,4.5,0,bob\n6,4,5,\n7,9,2,eve\n8,2,2,?\n",
	"alone.csv":  "x,y,person\n1,2,ann\n2,1,bob\n3,0,\n",
	"one.csv":    "x,y,person\n1,2,ann\n2,1,ann\n3,0,\n",
	"bare.csv":   "0,5\n0.5,1\n1,3\n4,-4\n4.5,0\n",
	"pairs.csv":  "i,j,label\n0,1,1\n0,2,1\n3,4,1\n0,3,-1\n2,4,-1\n1,3,-1\n",
	"p.jsonl":    `{"i":0,"j":1,"label":1}` + "\n" + `{"i":0,"j":3,"label":-1}` + "\n",
	"far.csv":    "0,1,1\n\n0,8,-1\n",
	"zero.csv":   "0,1,0\n",
	"cells.csv":  "0,1\n",
	"cut.jsonl":  `{"i":0,"j":1,"label":1}` + "\n" + `{"i":0,"j"` + "\n",
	"empty.csv":  "",
	"unlike.csv": "0,1,-1\n",
	"words.svm":  "1 1:2 2:1 5:1\n1 1:1\n2 3:1 5:2\n2 3:1 4:2\n",
}

// inFeedback makes the files in an empty working folder.
func inFeedback(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range feedbackFiles {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoldenPairs(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "pairs.golden"))
	if err != nil {
		t.Fatal(err)
	}
	inFeedback(t)
	const faces = "fit faces.csv --drop id --drop person --out m.json "
	c := newCommand(toys(nil))
	compare(t, golden, c.session([]string{
		faces + "--pairs pairs.csv --learner pola",
		"transform faces.csv --model m.json",
		"plot faces.csv --model m.json --out p.svg",
		"evaluate faces.csv --model m.json",
		faces + "--pairs pairs.csv --learner pa --param rule=pa1 --param c=1 --passes 3",
		faces + "--pairs p.jsonl --learner itml --param rule=given --param upper=1 --param lower=4",
		"fit bare.csv --pairs pairs.csv --learner rca --no-standardise --out bare.json",
		"transform bare.csv --model bare.json",
		"fit faces.csv --drop person --label id --pairs pairs.csv --learner lego --out m.json",
		"fit words.svm --pairs p.jsonl --learner kernel-rca --param ridge=0.1 --out m.json",
		"fit faces.csv --drop id --chunklets person --learner rca --param ridge=0.1 --out m.json",
		"transform faces.csv --model m.json",
		"fit faces.csv --drop id --chunklets person --learner pola --seed 2 --out m.json",
		"fit faces.csv --drop id --chunklets person --dissimilar none --learner itml --param rule=given --param upper=1 --param lower=2 --out m.json",
		// errors
		faces + "--pairs far.csv --learner pola", faces + "--pairs zero.csv --learner pola", faces + "--pairs cells.csv --learner pola",
		faces + "--pairs cut.jsonl --learner pola", faces + "--pairs empty.csv --learner pola", faces + "--pairs nowhere.csv --learner pola", faces + "--pairs= --learner pola",
		faces + "--pairs unlike.csv --learner rca", faces + "--pairs pairs.csv --learner fda", faces + "--pairs pairs.csv --learner pola --seed 2", faces + "--pairs 30 --learner pola",
		faces + "--pairs 99999999999999999999 --learner pola", faces + "--pairs pairs.csv --chunklets id --learner pola", faces + "--pairs pairs.csv --dissimilar none --learner pola",
		"fit faces.csv --pairs pairs.csv --learner pola --out pairs.csv", "evaluate faces.csv --label person --pairs pairs.csv --learner pola",
		"fit faces.csv --drop id --chunklets man --learner rca --out m.json", "fit faces.csv --chunklets id --learner rca --out m.json", "fit alone.csv --chunklets person --learner rca --out m.json",
		"fit one.csv --chunklets person --learner pola --out m.json", "fit one.csv --chunklets person --learner fda --out m.json", "fit one.csv --chunklets person --learner rca --dissimilar none --out m.json",
		"fit one.csv --chunklets person --learner pola --dissimilar all --out m.json", "fit one.csv --chunklets person --learner pola --pairs 9 --out m.json",
		"fit one.csv --chunklets person --drop person --learner rca --out m.json", "fit one.csv --chunklets= --learner rca --out m.json",
		"fit words.svm --chunklets 1 --learner rca --out m.json", "fit --gram k.csv --constraints c.jsonl --chunklets 1 --learner spectral --out m.json",
		"fit --gram k.csv --labels l.csv --pairs pairs.csv --learner kernel-rca --out m.json",
	}))
}
