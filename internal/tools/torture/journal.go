//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison is a comparison of learners with a journal, and what it must come to.
type comparison struct {
	want   string // of the undisturbed one
	length time.Duration
	saved  []byte // a finished journal
}

// measured are the numbers of a comparison that differ from run to run.
var measured = regexp.MustCompile(`"(fit_cpu_seconds|peak_bytes)": [^,\n]*`)

// compareArgs are the arguments of a comparison with a journal.
func (c *campaign) compareArgs(journal string) []string {
	return []string{"compare", filepath.Join(c.dir, "table.csv"), "--label", "y", "--learners", "fda,itml,lmnn", "--repeats", "2", "--validation", "2", "--json", "--resume", journal}
}

// compared makes the undisturbed comparison.
func (c *campaign) compared() error {
	if c.comparison.want != "" {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 1))
	table := "a,b,c,y\n"
	for i := range 150 {
		table += fmt.Sprintf("%.4f,%.4f,%.4f,%d\n", rng.NormFloat64()+float64(i%3), rng.NormFloat64(), rng.NormFloat64(), i%3)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "table.csv"), []byte(table), 0o644); err != nil {
		return err
	}
	path := c.folder()
	start := time.Now()
	out, err := c.compareOnce(path)
	if err != nil {
		return err
	}
	c.comparison.length = time.Since(start)
	c.comparison.want = out
	c.comparison.saved, err = os.ReadFile(path)
	return err
}

// compareOnce runs a comparison to its end and returns what does not change from run to run.
func (c *campaign) compareOnce(journal string) (string, error) {
	p, err := c.start(c.bin, c.compareArgs(journal)...)
	if err != nil {
		return "", err
	}
	if code := p.ended(); code != 0 {
		return "", fmt.Errorf("exit code %d: %q", code, tail(p.out.String()))
	}
	return ranking(p.out.String()), nil
}

// ranking is the JSON of a comparison without measured numbers.
func ranking(out string) string {
	if i := strings.Index(out, "\n{\n"); i >= 0 {
		out = out[i+1:] // after the lines of progress
	}
	return measured.ReplaceAllString(out, "")
}

// agreed counts a loss unless the comparison goes on to what it must come to.
func (c *campaign) agreed(r *result, what, journal string) {
	got, err := c.compareOnce(journal)
	if err == nil && got != c.comparison.want {
		err = fmt.Errorf("another comparison: %.200q", got)
	}
	if err != nil {
		c.lose(r, what, err)
	}
}

func (c *campaign) killCompare(r *result) error {
	if err := c.compared(); err != nil {
		return err
	}
	path := c.folder()
	defer os.Remove(path)
	for range 1 + c.rng.IntN(3) {
		p, err := c.start(c.bin, c.compareArgs(path)...)
		if err != nil {
			return err
		}
		if p.within(time.Duration(c.rng.Float64() * float64(c.comparison.length))) {
			r.counts["runs ended before"]++
			break
		}
		_ = p.cmd.Process.Kill() // it may have ended by now
		p.ended()
		r.tries++
	}
	c.agreed(r, "journal after kill -9", path)
	return nil
}

// flipCompare flips a bit of a finished journal, or cuts it off.
func (c *campaign) flipCompare(r *result) error {
	if err := c.compared(); err != nil {
		return err
	}
	path := c.folder()
	defer os.Remove(path)
	bad := bytes.Clone(c.comparison.saved)
	bit := c.rng.IntN(8 * len(bad))
	what := fmt.Sprintf("journal with bit %d flipped", bit)
	if c.rng.IntN(4) == 0 {
		bad = bad[:bit/8]
		what = fmt.Sprintf("journal of %d bytes", len(bad))
	} else {
		bad[bit/8] ^= 1 << (bit % 8)
	}
	if err := os.WriteFile(path, bad, 0o644); err != nil {
		return err
	}
	r.tries++
	c.agreed(r, what, path)
	return nil
}

// togetherCompare has two to four comparisons share a journal.
func (c *campaign) togetherCompare(r *result) error {
	if err := c.compared(); err != nil {
		return err
	}
	path := c.folder()
	defer os.Remove(path)
	var all []*process
	for range 2 + c.rng.IntN(3) {
		p, err := c.start(c.bin, c.compareArgs(path)...)
		if err != nil {
			return err
		}
		all = append(all, p)
		time.Sleep(time.Duration(c.rng.Float64() * float64(c.comparison.length) / 2))
	}
	r.tries++
	for _, p := range all {
		if code := p.ended(); code != 0 || ranking(p.out.String()) != c.comparison.want {
			c.lose(r, "comparisons at once", fmt.Errorf("exit code %d: %q", code, tail(p.out.String())))
		}
	}
	c.agreed(r, "after comparisons at once", path)
	return nil
}

// fillCompare limits the size of the journal, then lifts the limit.
func (c *campaign) fillCompare(r *result) error {
	if err := c.compared(); err != nil {
		return err
	}
	path := c.folder()
	defer os.Remove(path)
	blocks := c.rng.IntN(len(c.comparison.saved)/512 + 1)
	p, err := c.start("sh", slices.Concat([]string{"-c", `ulimit -f "$0" && exec "$@"`, strconv.Itoa(blocks), c.bin}, c.compareArgs(path))...)
	if err != nil {
		return err
	}
	r.tries++
	if code := p.ended(); code != 1 || strings.TrimSpace(p.out.String()) == "" {
		c.lose(r, fmt.Sprintf("journal of at most %d bytes", 512*blocks), fmt.Errorf("exit code %d, want 1 and an error: %q", code, tail(p.out.String())))
	}
	c.agreed(r, "journal after a limit", path)
	return nil
}

// flipSaved flips a bit of a saved learner, which must be refused: whoever goes on with it would get other answers.
func (c *campaign) flipSaved(r *result) error {
	path := c.folder()
	defer os.Remove(path)
	learn := func(args ...string) (*process, error) {
		p, err := c.start("sh", slices.Concat([]string{"-c", `printf '%s\n' '{"x":[0,1,2],"y":[2,1,1],"label":-1}' '{"x":[0,1,0],"y":[2,1,1],"label":1}' | "$@"`, "sh", c.bin, "learn"}, args)...)
		if err == nil {
			p.ended()
		}
		return p, err
	}
	if p, err := learn("--learner", "pola", "--save", path); err != nil || p.cmd.ProcessState.ExitCode() != 0 {
		return fmt.Errorf("learn --save: %v: %q", err, p.out.String())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	bit := c.rng.IntN(8 * (len(raw) - 1)) // not the line's end, which says nothing
	raw[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		return err
	}
	r.tries++
	p, err := learn("--load", path)
	if err != nil {
		return err
	}
	if p.cmd.ProcessState.ExitCode() == 0 {
		c.lose(r, fmt.Sprintf("saved learner with bit %d flipped", bit), fmt.Errorf("it goes on: %q", tail(p.out.String())))
	}
	return nil
}
