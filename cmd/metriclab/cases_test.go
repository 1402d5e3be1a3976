package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

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

// writeSame writes n equal vectors of 3 numbers.
func writeSame(t *testing.T, name string, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := metric.WriteNPY(&b, mat.NewDense(n, 3, slices.Repeat([]float64{1}, 3*n))); err != nil {
		t.Fatal(err)
	}
	writeTest(t, name, b.String())
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
		{"compare --vectors X.npy --pairs p.csv --learners lego,cosine --validation 0", 0, []string{"drawn anew, since a side lacked a kind of answer"}, nil},
		{"evaluate --vectors X.npy --pairs p.csv --learner lego --test-share 0.5", 0, nil, []string{"drawn anew"}},
		{"evaluate --vectors X.npy --pairs few.csv --learner lego", 1, []string{"drawn 200 times", "no training pair is dissimilar"}, nil},
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
		{"compare t10.csv --label y --learners euclidean,fda --repeats 2", 0, []string{"k is at most 7 in place of 9", "euclidean-raw", "best by validation"}, []string{"no error of the choice"}},
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

// npyOf writes an array as numpy.save does.
func npyOf(t *testing.T, descr, shape string, values any) string {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	b := bytes.NewBufferString("\x93NUMPY\x01\x00")
	_ = binary.Write(b, binary.LittleEndian, uint16(len(head))) // to memory
	b.WriteString(head)
	if err := binary.Write(b, order, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOddTables: what other programs write is read, or named with advice that then works.
func TestOddTables(t *testing.T) {
	wide := func(text string, order binary.AppendByteOrder, mark string) string {
		out := []byte(mark)
		for _, c := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, c)
		}
		return string(out)
	}
	plain := "a\tb\ty\n" + each(20, func(i int) string { return fmt.Sprintf("%d\t%d\t%s", i, i*7%5, []string{"A", "Ä"}[i%2]) })
	odd := "a,p,d,t,n,y\n" + each(20, func(i int) string {
		return fmt.Sprintf("%d,%d %%,2026-11-%02d,%s,%s,%s", i, i, i+1, []string{"True", "False"}[i%2], []string{"1", "NaN", "2", "N/A", "3"}[i%5], []string{"A", "B"}[i%2])
	})
	files(t, map[string]string{
		"le.txt": wide(plain, binary.LittleEndian, "\xff\xfe"), "be.txt": wide(plain, binary.BigEndian, "\xfe\xff"), "bar.csv": strings.ReplaceAll(plain, "\t", "|"), "sep.csv": "sep=;\n" + strings.ReplaceAll(plain, "\t", ";"),
		"latin.csv": "a,y\n1,\xc4\n2,B\n", "odd.csv": odd, "two.csv": "a,u,v,y\n" + each(20, func(i int) string { return fmt.Sprintf("%d,%c,%c,%d", i, 'a'+i%3, 'p'+i%2, i%2) }),
		"p.csv": wide("i,j,label\n0,1,1\n0,2,-1\n", binary.LittleEndian, "\xff\xfe"),
	})
	for _, f := range []string{"le.txt", "be.txt", "bar.csv", "sep.csv"} {
		say(t, []said{
			{"fit " + f + " --label y --learner euclidean --out m.json", 0, []string{"20 rows, 2 features, 2 classes: A (10), Ä (10)"}, nil},
			{"transform " + f + " --model m.json", 0, nil, nil}, {"predict " + f + " --train " + f + " --model m.json", 0, []string{"0 of 20 rows wrong"}[:0], nil},
		})
	}
	say(t, []said{
		{"fit le.txt --drop y --pairs p.csv --learner itml --out m.json", 0, []string{"2 pairs"}, nil},
		{"fit latin.csv --label y --learner euclidean --out m.json", 1, []string{"iconv -f WINDOWS-1252 -t UTF-8"}, nil},
		{"fit odd.csv --label y --learner euclidean --out m.json", 1, []string{`"p" (20 cells, the first "0 %" on line 2)`, `"d" (20 cells`, `"t" (20 cells`, `"n" (8 cells, the first "NaN" on line 3)`, "delete the signs of per cent", "--drop d", "--one-hot t", "--missing '?,NA,N/A,NaN' --impute mean"}, nil},
		{"fit odd.csv --label y --drop d,p --one-hot t --missing ?,NA,N/A,NaN --impute mean --learner euclidean --out m.json", 0, []string{"4 features"}, nil},
		{"fit two.csv --label y --one-hot u,v --learner euclidean --out m.json", 0, []string{"6 features"}, nil},
	})
}
