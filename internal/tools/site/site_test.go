package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metriclab/pkg/learners/catalog"
)

var root = filepath.Join("..", "..", "..")

// The site of what is committed: all links lead somewhere, all images have words, and it is small enough (build sees to it); each
// learner with a lesson leads there, and the lesson back.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("writes the site: not run under -short")
	}
	out, play := t.TempDir(), filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(play, []byte("play"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := build(root, out, play); err != nil {
		t.Fatal(err)
	}
	page := func(file string) string {
		raw, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	learners, taught := page("docs/learners.html"), 0
	for _, e := range catalog.All() {
		_, after, ok := strings.Cut(learners, `<h2 id="`+e.Name+`">`)
		if !ok {
			t.Errorf("docs/learners.html has no %s", e.Name)
		}
		section, _, _ := strings.Cut(after, "<h2")
		m := regexp.MustCompile(`Lesson: <a href="\.\./(notebooks/[^"#]*)#`).FindStringSubmatch(section)
		if m == nil {
			continue
		}
		taught++
		if !strings.Contains(page(m[1]), `<a href="../docs/learners.html#`+e.Name+`">`) {
			t.Errorf("%s does not lead back to %s", m[1], e.Name)
		}
	}
	if taught < 20 {
		t.Errorf("%d learners have a lesson, want at least 20", taught)
	}
}

// An exported notebook needs no other file but those exported with it: whatever it shows is inside, and no formula is left in TeX.
func TestExport(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%d notebooks, error %v", len(files), err)
	}
	out := t.TempDir()
	if err := export(root, out, files); err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?s)<(pre|code|script|style)[^>]*>.*?</(pre|code|script|style)>`)
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(out, pageOf(filepath.Base(f))))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range references.FindAllStringSubmatch(string(raw), -1) {
			own := strings.HasPrefix(m[2], "data:") || m[1] == "href" && (external(m[2]) || strings.HasPrefix(m[2], "#"))
			if _, err := os.Stat(filepath.Join(out, m[2])); !own && err != nil {
				t.Errorf("%s: %s=%.80q is not in the page", f, m[1], m[2])
			}
		}
		for _, m := range noWords.FindAllString(string(raw), -1) {
			if !regexp.MustCompile(` alt="[^"]+"`).MatchString(m) {
				t.Errorf("%s: an image has no words: %.80s", f, m)
			}
		}
		if tex := regexp.MustCompile(`\$|\\[A-Za-z]+`).FindString(code.ReplaceAllString(string(raw), "")); tex != "" {
			t.Errorf("%s: %s outside of code", f, tex)
		}
	}
}

// What is wrong with a site is found.
func TestCheck(t *testing.T) {
	for name, page := range map[string]string{
		"":                                `<h2 id="a"></h2><a href="#a"></a><a href="https://example.org"></a><img alt="" src="data:,">`,
		"links to b.html":                 `<a href="b.html"></a>`,
		"links to #b":                     `<h2 id="a"></h2><a href="#b"></a>`,
		"needs the network":               `<img alt="" src="https://example.org/a.png">`,
		"has an image without words":      `<img src="data:,">`,
		"links to play/index.html#lesson": `<a href="play/index.html#lesson"></a>`,
	} {
		s := &site{out: t.TempDir()}
		if err := s.write("index.html", []byte(page)); err != nil {
			t.Fatal(err)
		}
		if err := s.write("play/index.html", []byte(`<a href="nowhere.html">`)); err != nil {
			t.Fatal(err)
		}
		if err := s.check(); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", page, err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	m := &markdown{formulas: true, link: func(to string) (string, bool) { return to + "?", to != "dead" }}
	for source, want := range map[string]string{
		"# A *b* `c_d`, e.g. $x$ – ω\n":         `<h1 id="a-b-c_d-eg---ω">A <em>b</em> <code>c_d</code>, e.g. <math><mi>x</mi></math> – ω</h1>`,
		"`$x$` costs 5 \\$, [a](b) [*c*](dead)": `<p><code>$x$</code> costs 5 $, <a href="b?">a</a> <em>c</em></p>`,
		"```\n$x$\n```\n":                       "<pre><code>$x$\n</code></pre>",
		"|a|b|\n|-|-|\n|$|x|$|c|\n":             "<td>" + `<math><mrow><mo stretchy="false" lspace="0" rspace="0">|</mo><mi>x</mi><mo stretchy="false" lspace="0" rspace="0">|</mo></mrow></math>` + "</td>\n<td>c</td>",
	} {
		got, err := m.render(source)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%q gives\n%s, %v, want\n%s", source, got, err, want)
		}
	}
	if _, err := m.render(`$\nosuch$`); err == nil || !strings.Contains(err.Error(), `\nosuch`) {
		t.Errorf("an unknown command: %v", err)
	}
	if a, b := m.id("Twice"), m.id("Twice"); a != "twice" || b != "twice-1" {
		t.Errorf("ids %s, %s", a, b)
	}
}

func TestMathML(t *testing.T) {
	for tex, want := range map[string]string{
		`x`:                  `<mi>x</mi>`,
		`12.5`:               `<mn>12.5</mn>`,
		`\frac12`:            `<mfrac><mn>1</mn><mn>2</mn></mfrac>`,
		`x'_\tau`:            `<msub><mrow><mi>x</mi><mo lspace="0" rspace="0">′</mo></mrow><mi>τ</mi></msub>`,
		`A^{-1}`:             `<msup><mi>A</mi><mrow><mo form="prefix">−</mo><mn>1</mn></mrow></msup>`,
		`a-b`:                `<mrow><mi>a</mi><mo form="infix">−</mo><mi>b</mi></mrow>`,
		`a=-b`:               `<mrow><mi>a</mi><mo>=</mo><mo form="prefix">−</mo><mi>b</mi></mrow>`,
		`\sum_i`:             `<munder><mo>∑</mo><mi>i</mi></munder>`,
		`a<b`:                `<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>`,
		`\mathcal{SR}`:       `<mi>𝒮ℛ</mi>`,
		`\mathbb R`:          `<mi mathvariant="normal">ℝ</mi>`,
		`n\ln N`:             `<mrow><mi>n</mi><mrow><mspace width=".1667em"></mspace><mi>ln</mi><mspace width=".1667em"></mspace></mrow><mi>N</mi></mrow>`,
		`{n \brace k}`:       `<mrow><mo>{</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>}</mo></mrow>`,
		`\left(x\right]`:     `<mrow><mo form="prefix" stretchy="true">(</mo><mi>x</mi><mo form="postfix" stretchy="true">]</mo></mrow>`,
		`\text{if } x`:       "<mrow><mtext>if\u00a0</mtext><mi>x</mi></mrow>",
		`\operatorname{tr}A`: `<mrow><mrow><mi>tr</mi><mspace width=".1667em"></mspace></mrow><mi>A</mi></mrow>`,
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`: `<mrow><mo form="prefix" stretchy="true">(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo form="postfix" stretchy="true">)</mo></mrow>`,
	} {
		if got, err := mathML(tex, true); err != nil || got != `<math display="block">`+want+`</math>` {
			t.Errorf("%s gives\n%s, %v, want\n%s", tex, got, err, want)
		}
	}
	for _, wrong := range []string{`{`, `}`, `x^`, `\frac1`, `\left(x`, `\left x\right)`, `\begin{pmatrix}a`, `\begin{nosuch}`, `\nosuch`, `\mathcal{é}`, `a&b`} {
		if got, err := mathML(wrong, false); err == nil {
			t.Errorf("%s gives %s", wrong, got)
		}
	}
	// A long formula may break after a relation.
	long := `a_1 + a_2 + a_3 + a_4 + a_5 + a_6 = {b = c}`
	if got, err := mathML(long, false); err != nil || strings.Count(got, "<wbr>") != 1 || strings.Contains(got, breakHere) {
		t.Errorf("%s gives %s, %v", long, got, err)
	}
}
