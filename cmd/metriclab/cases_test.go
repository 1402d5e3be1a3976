package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// said is a command line, its exit code, and what it must print, on standard output or error, or must not.
type said struct {
	line string
	code int
	want []string
	not  []string
}

// say runs the lines in the folder where the test is.
func say(t *testing.T, lines []said) {
	t.Helper()
	c := newCommand(toys(nil))
	for _, s := range lines {
		code := c.run(strings.Fields(s.line)...)
		got := c.out.String() + c.err.String()
		if code != s.code {
			t.Errorf("metriclab %s: exit code %d, want %d:\n%s", s.line, code, s.code, got)
		}
		for _, want := range s.want {
			if !strings.Contains(got, want) {
				t.Errorf("metriclab %s: no %q in:\n%s", s.line, want, got)
			}
		}
		for _, not := range s.not {
			if strings.Contains(got, not) {
				t.Errorf("metriclab %s: %q in:\n%s", s.line, not, got)
			}
		}
	}
}

// files writes files of lines into a new folder and goes there.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range content {
		writeTest(t, name, text)
	}
}

// each writes a line for each of n.
func each(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// onLine are triplets of n objects at places on a line, the far one named by its own rule.
func onLine(n, seed int, name func(o, row int) string) [][3]string {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var out [][3]string
	for len(out) < 40*n {
		o := rng.Perm(n)[:3]
		a, b, c := o[0]*o[0]+o[0], o[1]*o[1]+o[1], o[2]*o[2]+o[2]
		if near, far := (a-b)*(a-b), (a-c)*(a-c); near > far {
			o[1], o[2] = o[2], o[1]
		} else if near == far {
			continue
		}
		row := len(out)
		out = append(out, [3]string{name(o[0], row), name(o[1], row), name(o[2], row)})
	}
	return out
}

func TestCase24TripletsOdd(t *testing.T) {
	plain := onLine(6, 1, func(o, _ int) string { return fmt.Sprint(o) })
	rows := func(head string, line func(v [3]string) string) string {
		return head + each(len(plain), func(i int) string { return line(plain[i]) })
	}
	apart := each(120, func(i int) string { return fmt.Sprintf("%d,%d,%d", i/60*3+i%3, i/60*3+(i+1)%3, i/60*3+(i+2)%3) })
	files(t, map[string]string{
		"full.csv":   rows("a,near,far\n", func(v [3]string) string { return v[0] + "," + v[1] + "," + v[2] }),
		"rev.csv":    rows("head,loser,winner\n", func(v [3]string) string { return v[0] + "," + v[2] + "," + v[1] }),
		"salmon.csv": rows("puid,head,winner,loser,response_time\n", func(v [3]string) string { return "u," + strings.Join(v[:], ",") + ",0.5" }),
		"turned.csv": rows("a,near,far,response\n", func(v [3]string) string { return v[0] + "," + v[2] + "," + v[1] + ",False" }),
		"other.csv":  rows("x1,x2,x3\n", func(v [3]string) string { return strings.Join(v[:], ",") }),
		"by.csv":     rows("x1,x2,x3\n", func(v [3]string) string { return v[2] + "," + v[1] + "," + v[0] }),
		"apart.csv":  apart,
		"one.csv":    rows("", func(v [3]string) string { return strings.Join(v[:], ",") }),
	})
	const none = "the learned kernel contradicts 0.00 %"
	fit := func(file, more string) string {
		return "fit --triplets " + file + " --learner ste --param tau=1 --out m.json" + more
	}
	say(t, []said{
		{fit("full.csv", ""), 0, []string{"of 6 objects", none}, []string{"full.csv: a ="}},
		{fit("one.csv", ""), 0, []string{"of 6 objects", none}, nil},
		{fit("rev.csv", ""), 0, []string{"rev.csv: a = head, near = winner, far = loser", "of 6 objects", none}, nil},
		{fit("salmon.csv", ""), 0, []string{`a = head, near = winner, far = loser; not used: "puid", "response_time"`, "of 6 objects", none}, nil},
		{fit("turned.csv", ""), 0, []string{"response = response", "response 0 is read", "of 6 objects", none}[2:], nil},
		{fit("other.csv", ""), 1, []string{`the first row ("x1", "x2", "x3") is not known as a header`, "head, winner, loser", "--columns a=1,near=2,far=3", "--no-header"}, nil},
		{fit("by.csv", " --columns a=x3,near=x2,far=x1"), 0, []string{"a = x3, near = x2, far = x1", "of 6 objects", none}, nil},
		{fit("by.csv", " --columns a=3,near=2,far=1"), 0, []string{"of 6 objects", none}, nil},
		{fit("other.csv", " --no-header"), 0, []string{"of 9 objects"}, nil},
		{fit("apart.csv", ""), 0, []string{"the objects are 2 groups that no triplet connects"}, nil},
		{"fit t.csv --columns i=1,j=2,label=3 --label y --learner fda --out m.json", 2, []string{"flag --columns: only together with --triplets or a file of --pairs"}, nil},
	})
}

func TestCase38ContradictingPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	pairs := make([][3]int, 40)
	for i := range pairs {
		pairs[i] = [3]int{i % 20, (i + 1 + i/20) % 20, 2*rng.IntN(2) - 1} // each once
	}
	file := func(line func(p [3]int) string) string {
		return "i,j,label\n" + each(len(pairs), func(i int) string { return line(pairs[i]) })
	}
	row := func(i, j, label int) string { return fmt.Sprintf("%d,%d,%d", i, j, label) }
	files(t, map[string]string{
		"t.csv":      "x,y\n" + each(20, func(int) string { return fmt.Sprintf("%.3f,%.3f", rng.NormFloat64(), rng.NormFloat64()) }),
		"base.csv":   file(func(p [3]int) string { return row(p[0], p[1], p[2]) }),
		"contra.csv": file(func(p [3]int) string { return row(p[0], p[1], p[2]) + "\n" + row(p[0], p[1], -p[2]) }),
		"rev.csv":    file(func(p [3]int) string { return row(p[0], p[1], p[2]) + "\n" + row(p[1], p[0], -p[2]) }),
		"allsim.csv": file(func(p [3]int) string { return row(p[0], p[1], 1) }),
		"alldis.csv": file(func(p [3]int) string { return row(p[0], p[1], -1) }),
		"from1.csv":  file(func(p [3]int) string { return row(p[0]+1, p[1]+1, p[2]) }),
	})
	fit := func(file, learner string) string {
		return "fit t.csv --pairs " + file + " --learner " + learner + " --out m.json"
	}
	say(t, []said{
		{fit("base.csv", "itml"), 0, nil, []string{"both ways", "all pairs are"}},
		{fit("contra.csv", "itml"), 0, []string{"contra.csv: labelled both ways", "any distance is wrong on at least 50.00 % of the labels"}, nil},
		{fit("rev.csv", "pola"), 0, []string{"rev.csv: labelled both ways", "50.00 %"}, nil},
		{fit("allsim.csv", "itml"), 0, []string{"all pairs are similar: nothing says what is to be far apart"}, nil},
		{fit("allsim.csv", "pola") + " --passes 50", 0, []string{"all pairs are similar"}, nil},
		{fit("alldis.csv", "itml"), 0, []string{"all pairs are dissimilar: nothing says what is to be near"}, nil},
		{fit("from1.csv", "itml"), 1, []string{`"20" is not allowed, want a number from 0 to 19; no pair names 0: these seem to count from 1`}, nil},
		{"evaluate t.csv --pairs contra.csv --learner itml --test-share 0.5 --json", 0, []string{`"labelled both ways`}, nil},
	})
}

func TestCase47NameSpelling(t *testing.T) {
	as := func(name func(o, row int) string) string {
		rows := onLine(6, 2, name)
		return each(len(rows), func(i int) string { return strings.Join(rows[i][:], ",") })
	}
	content := map[string]string{
		"plain.csv": as(func(o, _ int) string { return fmt.Sprint(o) }),
		"half.csv":  as(func(o, row int) string { return fmt.Sprint(o) + []string{"", ".0"}[row%2] }),
		"pad.csv":   as(func(o, row int) string { return []string{"", "0"}[row%2] + fmt.Sprint(o) }),
		"names.csv": as(func(o, row int) string {
			if o == 5 {
				return "o5"
			}
			return fmt.Sprint(o) + []string{"", ".0"}[row%2]
		}),
		"blanks.csv": as(func(o, row int) string {
			return []string{"", " ", "\u00a0"}[row%3] + "Item " + fmt.Sprint(o) + []string{"", " "}[row%2]
		}),
		"case.csv":  as(func(o, row int) string { return []string{"I", "i"}[row%2] + "tem " + fmt.Sprint(o) }),
		"inner.csv": as(func(o, row int) string { return "Item" + []string{" ", "\u00a0"}[row%2] + fmt.Sprint(o) }),
	}
	files(t, content)
	for name := range content {
		s := said{line: "fit --triplets " + name + " --learner ste --param tau=1 --out m.json", want: []string{"of 6 objects"}}
		switch name {
		case "half.csv", "pad.csv":
			s.want = append(s.want, "are one object: whole numbers count by their value")
		case "names.csv":
			s.want = append(s.want, "are one object", `objects are names, since "o5" is no whole number; 5 of 6 are numbers`)
		case "case.csv", "inner.csv":
			s.want = []string{"of 12 objects", "these objects count as different, though they are written alike"}
		default:
			s.not = []string{"one object", "alike"}
		}
		say(t, []said{s})
	}
}

func TestCase10OneColumn(t *testing.T) {
	files(t, map[string]string{
		"t.csv": "a,y\n1,A\n2,A\n3,B\n5,B\n1.1,A\n2.2,A\n3.2,B\n5.4,B\n", "new.csv": "a\n1.5\n4\n", "nohead.csv": "1.5\n4\n", "bare.csv": "1,A\n2,A\n3,B\n5,B\n",
		"u.csv": "a\n1\n1\n2\n5\n7\n9\n", "s.csv": "i,j,label\n0,2,1\n3,4,1\n2,5,-1\n",
	})
	say(t, []said{
		{"fit t.csv --label y --learner euclidean --out m.json", 0, nil, nil},
		{"transform --model m.json new.csv", 0, []string{"z1"}, nil},
		{"transform --model m.json nohead.csv", 2, []string{`no column "a"`, "the first row may be data"}, nil},
		{"predict new.csv --model m.json --train t.csv --k 1", 0, []string{"0,A,1", "1,B,1"}, nil},
		{"neighbours new.csv --model m.json --train t.csv --k 2", 0, []string{"row,rank,training_row"}, nil},
		{"evaluate t.csv --label y --learner fda --folds 2 --k 1 --repeats 1", 0, []string{"fda"}, nil},
		{"fit bare.csv --label 2 --no-header --learner euclidean --out b.json", 0, nil, nil},
		{"transform --model b.json nohead.csv", 0, []string{"z1"}, nil},
		{"fit u.csv --learner pca --out p.json", 0, []string{"pca dim=0", "embeds in 1 dimension"}, nil},
		{"transform --model p.json u.csv", 0, []string{"z1"}, nil},
		{"fit u.csv --pairs s.csv --learner pola --out q.json", 0, nil, nil},
		{"transform --model q.json u.csv", 0, []string{"z1"}, nil},
		{"plot --model q.json u.csv --out u.svg", 0, []string{"The embedding has one dimension"}, nil},
		{"neighbours u.csv --model q.json --train u.csv --k 1", 0, []string{"row,rank,training_row"}, nil},
	})
}

// writeSame writes n equal vectors of 3 numbers.
func writeSame(t *testing.T, name string, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := metric.WriteNPY(&b, mat.NewDense(n, 3, slices.Repeat([]float64{1}, 3*n))); err != nil {
		t.Fatal(err)
	}
	writeTest(t, name, b.String())
}

func TestCase36TiedDistances(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(3, 6))
	var lines []string
	for i := range n / 2 { // similar pairs among the first rows alone
		lines = append(lines, fmt.Sprintf("%d,%d,1", i, (i+1)%(n/2)), fmt.Sprintf("%d,%d,-1", n/2+i, n/2+(i+7)%(n/2)))
	}
	file := func(row func(i int) int, order []int) string {
		return each(len(lines), func(k int) string {
			var i, j, label int
			fmt.Sscanf(lines[order[k]], "%d,%d,%d", &i, &j, &label)
			return fmt.Sprintf("%d,%d,%d", row(i), row(j), label)
		})
	}
	inOrder, mixed, perm := make([]int, len(lines)), rng.Perm(len(lines)), rng.Perm(n)
	for i := range inOrder {
		inOrder[i] = i
	}
	files(t, map[string]string{
		"first.csv": file(func(i int) int { return i }, inOrder), "last.csv": file(func(i int) int { return n - 1 - i }, inOrder),
		"perm.csv": file(func(i int) int { return perm[i] }, inOrder), "mixed.csv": file(func(i int) int { return i }, mixed),
	})
	writeSame(t, "same.npy", n)
	c := newCommand(toys(nil))
	for _, name := range []string{"first.csv", "last.csv", "perm.csv", "mixed.csv"} {
		if code := c.run("evaluate", "--vectors", "same.npy", "--pairs", name, "--learner", "lego", "--test-share", "0.5", "--k", "10", "--no-standardise", "--json"); code != 0 {
			t.Fatalf("%s: %s", name, c.err.String())
		}
		var e struct {
			Euclidean evaluatedVector
			Test      []int `json:"test_pairs"`
		}
		if err := json.Unmarshal(c.out.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Euclidean.AUC.Mean != .5 {
			t.Errorf("%s: AUC %v, want .5", name, e.Euclidean.AUC.Mean)
		}
		for _, r := range e.Euclidean.Recall.Splits { // 10 of the others that pairs of held-out items name
			if r < .2 || r > .8 { // chance is 10 of about 25; by the order of rows it was 0 or 1
				t.Errorf("%s: recall %v", name, r)
			}
		}
	}
}

func TestCase50EvaluateOneSplitLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var b bytes.Buffer
	x := mat.NewDense(60, 4, nil)
	for i := range 60 {
		for j := range 4 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	if err := metric.WriteNPY(&b, x); err != nil {
		t.Fatal(err)
	}
	pairs := each(130, func(k int) string {
		i := rng.IntN(60)
		return fmt.Sprintf("%d,%d,%d", i, (i+1+rng.IntN(58))%60, map[bool]int{true: 1, false: -1}[k%9 == 0])
	})
	files(t, map[string]string{"X.npy": b.String(), "p.csv": pairs, "few.csv": "0,1,1\n2,3,-1\n4,5,-1\n6,7,-1\n"})
	say(t, []said{
		{"evaluate --vectors X.npy --pairs p.csv --learner lego", 0, []string{"drawn anew, since a side lacked a kind of answer", `always "similar"`, `always "dissimilar"`}, nil},
		{"evaluate --vectors X.npy --pairs p.csv --learner lego --test-share 0.5", 0, nil, []string{"drawn anew"}},
		{"evaluate --vectors X.npy --pairs few.csv --learner lego", 1, []string{"drawn 200 times", "no training pair is similar"}, nil},
	})
}

func TestCase51SmallTableDefaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	content := map[string]string{}
	for _, n := range []int{4, 6, 8, 10, 11, 12, 14} {
		content[fmt.Sprintf("t%d.csv", n)] = "a,b,y\n" + each(n, func(i int) string {
			return fmt.Sprintf("%.2f,%.2f,%c", rng.NormFloat64()+3*float64(i%2), rng.NormFloat64(), 'A'+rune(i%2))
		})
	}
	files(t, content)
	writeSame(t, "X.npy", 6)
	writeTest(t, "p.csv", "0,1,1\n1,2,-1\n3,4,1\n4,5,-1\n")
	for n, want := range map[int][]string{
		4: {"4 folds in place of 5: there are no more rows", "k is at most 1 in place of 9"}, 6: {"k is at most 3 in place of 9"}, 8: {"k is at most 5"}, 10: {"k is at most 7"}, 11: {"k is at most 7"}, 12: {"k is at most 7"},
	} {
		say(t, []said{{fmt.Sprintf("evaluate t%d.csv --label y --learner fda --param ridge=0.1", n), 0, want, nil}})
	}
	say(t, []said{
		{"evaluate t14.csv --label y --learner fda", 0, nil, []string{"in place of"}},
		{"evaluate t6.csv --label y --learner fda --k 9", 2, []string{"k: 9 is not allowed, want 1 to 4"}, nil},
		{"evaluate t4.csv --label y --learner fda --folds 5", 2, []string{"folds: 5 is not allowed"}, nil},
		{"compare t10.csv --label y --learners euclidean,fda --repeats 2", 0, []string{"k is at most 7 in place of 9", "euclidean-raw"}, nil},
		{"fit t4.csv --label y --learner euclidean --out m.json", 0, nil, nil},
		{"predict t6.csv --model m.json --train t4.csv", 0, []string{"--k: 4 in place of 5: there are no more training rows"}, nil},
		{"neighbours t6.csv --model m.json --train t4.csv", 0, []string{"--k: 4 in place of 5"}, nil},
		{"predict t6.csv --model m.json --train t4.csv --k 5", 2, []string{"k: 5 is not allowed, want 1 to 4"}, nil},
		{"fit --vectors X.npy --pairs p.csv --learner lego --no-standardise --out v.json", 0, nil, nil},
		{"neighbours --vectors X.npy --model v.json --rows 0 --k 9", 2, []string{"flag --k: 9 is not allowed, want 1 to 5"}, nil},
		{"neighbours --vectors X.npy --model v.json --rows 0", 0, nil, []string{"in place of"}},
		{"evaluate --triplets t3.csv --learner ste --param tau=1", 1, []string{"t3.csv"}, nil},
	})
	writeTest(t, "t3.csv", "0,1,2\n1,0,2\n2,1,0\n")
	say(t, []said{{"evaluate --triplets t3.csv --learner ste --param tau=1", 0, []string{"3 folds in place of 5: there are no more questions"}, nil}})
}

func TestCase54CoordinatesTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	var z [12][2]float64
	for i := range z {
		z[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	sq := func(i, j int) float64 { return math.Pow(z[i][0]-z[j][0], 2) + math.Pow(z[i][1]-z[j][1], 2) }
	var triplets [][3]int
	for range 300 {
		o := rng.Perm(12)
		if sq(o[0], o[1]) > sq(o[0], o[2]) {
			o[1], o[2] = o[2], o[1]
		}
		triplets = append(triplets, [3]int(o[:3]))
	}
	files(t, map[string]string{"t.csv": each(300, func(i int) string { return fmt.Sprintf("%d,%d,%d", triplets[i][0], triplets[i][1], triplets[i][2]) })})
	c := newCommand(toys(nil))
	if code := c.run("fit", "--triplets", "t.csv", "--learner", "ste", "--dim", "1", "--coordinates", "z.csv"); code != 0 {
		t.Fatal(c.err.String())
	}
	at := map[int]float64{}
	for _, line := range strings.Split(strings.TrimSpace(readTest(t, "z.csv")), "\n")[1:] {
		var o int
		var v float64
		if _, err := fmt.Sscanf(line, "%d,%g", &o, &v); err != nil {
			t.Fatal(err)
		}
		at[o] = v
	}
	wrong := 0
	for _, v := range triplets {
		if math.Abs(at[v[0]]-at[v[1]]) > math.Abs(at[v[0]]-at[v[2]]) {
			wrong++
		}
	}
	if want := fmt.Sprintf("they contradict %.2f %% of the triplets", 100*float64(wrong)/300); wrong == 0 || !strings.Contains(c.out.String(), want) {
		t.Errorf("no %q in:\n%s", want, c.out.String())
	}
}
