package main

import (
	"strings"
	"testing"
)

// TestMirrors: rules with two sides, each of which has an input that fails if the rule of that side goes. A rule for commas that is not there for points,
// or for pairs and not for triplets, is half a rule.
func TestMirrors(t *testing.T) {
	rows := func(head, a, b string) string {
		return head + "\n" + each(24, func(i int) string { return strings.ReplaceAll([]string{a, b}[i%2], "#", string(rune('1'+i%9))) })
	}
	files(t, map[string]string{
		"comma.csv": rows("v;y", "1,#50;A", "5#3;B"), "point.csv": rows("v;y", "1.#50;A", "5#3;B"),
		"comma2.csv": rows("v;w;y", "1,250;0.#;A", "5#3;0.5;B"), "point2.csv": rows("v;w;y", "1.250;0,#;A", "5#3;0,5;B"),
		"over.csv": "a,y\n1,A\n1e400,B\n2,A\n3,B\n", "under.csv": "a,y\n1,A\n1e-400,B\n2,A\n3,B\n",
		"t.csv": "a,b\n1,2\n2,1\n3,5\n4,4\n5,1\n6,3\n", "t.npy": npyOf(t, "<f8", "(6, 2)", []float64{1, 2, 2, 1, 3, 5, 4, 4, 5, 1, 6, 3}),
		"labels.csv": "A\nB\nA\nB\nA\nB\n", "labels.npy": npyOf(t, "<i8", "(6,)", []int64{0, 1, 0, 1, 0, 1}),
		"pairs.csv": "left,right,same\n0,1,1\n2,3,0\n0,1,0\n", "answers.csv": "head,loser,winner\n0,1,2\n0,2,1\n1,2,0\n",
		"pairs.odd": "p,q,r\n0,1,1\n2,3,-1\n", "answers.odd": "p,q,r\n0,1,2\n1,2,0\n",
		"pairs.both": "0,1,1\n1,2,0\n2,3,-1\n", "answers.both": "0,1,2,0\n1,2,0,-1\n",
		"pairs.jsonl": `{"left":0,"right":1,"same":true,"by":1}` + "\n" + `{"left":2,"right":3,"same":false,"by":1}`, "answers.jsonl": `{"head":0,"winner":1,"loser":2,"by":1}` + "\n" + `{"head":1,"winner":2,"loser":0,"by":1}`,
		"big.csv": "a,y\n9007199254740993,A\n1,B\n2,A\n3,B\n", "big.npy": npyOf(t, "<i8", "(6, 1)", []int64{1, 2, 1<<53 + 1, 4, 5, 6}),
		"wide.csv": "\xff\xfea\x00,\x00y\x00\n\x00" + strings.Repeat("1\x00,\x00A\x00\n\x002\x00,\x00B\x00\n\x00", 6), "wide.be": "\xfe\xff\x00a\x00,\x00y\x00\n" + strings.Repeat("\x001\x00,\x00A\x00\n\x002\x00,\x00B\x00\n", 6),
		"class.csv": "a,y\n1,0\n2,1\n3,0\n4,1\n1.5,0\n2.5,1\n", "class.new": "a,y\n1,0.0\n2,1.0\n", "class.other": "a,y\n1,u\n2,v\n",
	})
	fit := func(args string) string { return "fit " + args + " --out m.json" }
	const euclidean = " --label y --learner euclidean"
	for _, m := range []struct {
		rule   string
		before string // what both sides need
		a, b   said
	}{
		{"a mark that may group thousands: comma, point", "", said{fit("comma.csv" + euclidean), 2, []string{"may be decimal or mark thousands"}, nil}, said{fit("point.csv" + euclidean), 2, []string{"may be decimal or mark thousands"}, nil}},
		{"the other mark groups thousands: comma, point", "", said{fit("comma2.csv" + euclidean), 0, nil, nil}, said{fit("point2.csv" + euclidean), 0, nil, nil}},
		{"a number out of range: too large, too small", "", said{fit("over.csv" + euclidean), 1, []string{`over.csv:3: column "a": "1e400" is not allowed`}, nil}, said{fit("under.csv" + euclidean), 1, []string{`under.csv:3: column "a": "1e-400" is not allowed`}, nil}},
		{"columns by name: pairs, triplets", "", said{fit("t.csv --pairs pairs.csv --learner itml"), 0, []string{"i = left, j = right, label = same"}, nil}, said{fit("--triplets answers.csv --learner ste --param tau=1"), 0, []string{"a = head, near = winner, far = loser"}, nil}},
		{"a header that is not known: pairs, triplets", "", said{fit("t.csv --pairs pairs.odd --learner itml"), 1, []string{`("p", "q", "r") is not known as a header`}, nil}, said{fit("--triplets answers.odd --learner ste"), 1, []string{`("p", "q", "r") is not known as a header`}, nil}},
		{"0 beside -1: pairs, triplets", "", said{fit("t.csv --pairs pairs.both --learner itml"), 1, []string{`"-1" beside 0`}, nil}, said{fit("--triplets answers.both --learner ste"), 1, []string{`"-1" beside 0`}, nil}},
		{"answered both ways: pairs, triplets", "", said{fit("t.csv --pairs pairs.csv --learner itml"), 0, []string{"labelled both ways: 1 pair"}, nil}, said{fit("--triplets answers.csv --learner ste --param tau=1"), 0, []string{"1 of them answered both ways"}, nil}},
		{"fields that are not used: pairs, triplets", "", said{fit("t.csv --pairs pairs.jsonl --learner itml"), 0, []string{`not used: "by"`}, nil}, said{fit("--triplets answers.jsonl --learner ste --param tau=1"), 0, []string{`not used: "by"`}, nil}},
		{"whole numbers that no float64 is: CSV, npy", "", said{fit("big.csv" + euclidean), 1, []string{"9007199254740992"}, nil}, said{fit("big.npy --labels labels.csv --learner euclidean"), 1, []string{"9007199254740992"}, nil}},
		{"labels of an array: CSV, npy", "", said{fit("t.npy --labels labels.csv --learner euclidean"), 0, []string{"2 classes: A (3), B (3)"}, nil}, said{fit("t.npy --labels labels.npy --learner euclidean"), 0, []string{"2 classes: 0 (3), 1 (3)"}, nil}},
		{"UTF-16: little end, big end", "", said{fit("wide.csv" + euclidean), 0, []string{"12 rows"}, nil}, said{fit("wide.be" + euclidean), 0, []string{"12 rows"}, nil}},
		{"UTF-16: fit, transform", fit("wide.csv" + euclidean), said{"predict wide.csv --train wide.be --model m.json", 0, []string{"0 of 12 rows wrong"}, nil}, said{"transform wide.be --model m.json", 0, nil, nil}},
		{"classes of new rows: the same in another form, others", fit("class.csv" + euclidean), said{"predict class.new --train class.csv --model m.json --k 1", 0, []string{"0 of 2 rows wrong"}, nil}, said{"predict class.other --train class.csv --model m.json --k 1", 0, []string{"no error to tell"}, []string{"100.00 %"}}},
		{"the default k is cut: neighbours, predict", fit("class.csv" + euclidean), said{"neighbours class.new --train class.new --model m.json", 0, []string{"--k: 2 in place of 5"}, nil}, said{"predict class.new --train class.new --model m.json", 0, []string{"--k: 2 in place of 5"}, nil}},
		{"a k that is given is not: neighbours, predict", fit("class.csv" + euclidean), said{"neighbours class.new --train class.new --model m.json --k 5", 2, []string{"k: 5 is not allowed"}, nil}, said{"predict class.new --train class.new --model m.json --k 5", 2, []string{"k: 5 is not allowed"}, nil}},
	} {
		if m.before != "" {
			say(t, []said{{m.before, 0, nil, nil}})
		}
		t.Run(m.rule, func(t *testing.T) { say(t, []said{m.a, m.b}) })
	}
}
