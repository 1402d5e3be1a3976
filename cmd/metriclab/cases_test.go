package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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
	fit := func(file, more string) string { return "fit --triplets " + file + " --learner ste --param tau=1 --out m.json" + more }
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
		"blanks.csv": as(func(o, row int) string { return []string{"", " ", "\u00a0"}[row%3] + "Item " + fmt.Sprint(o) + []string{"", " "}[row%2] }),
		"case.csv":   as(func(o, row int) string { return []string{"I", "i"}[row%2] + "tem " + fmt.Sprint(o) }),
		"inner.csv":  as(func(o, row int) string { return "Item" + []string{" ", "\u00a0"}[row%2] + fmt.Sprint(o) }),
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
