package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown writes the Markdown of one page, in one piece or in several.
type markdown struct {
	// link returns the address of what a document links to, and false where the reader does not have it: then the words stay.
	link func(destination string) (string, bool)
	// formulas says that $…$ is a formula.
	formulas bool

	ids      map[string]int
	headings []heading
}

type heading struct {
	level    int
	id, text string
}

var reader = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(ghtml.WithUnsafe()))

// pieces are what of a text is code, and formulas: the groups are a displayed and an inline one.
var pieces = regexp.MustCompile("(?s)(?:^|\n)```.*?\n```|``.+?``|`[^`]+`|\\\\\\$|\\$\\$(.+?)\\$\\$|\\$([^$]+?)\\$")

// firstFormula stands for the first formula of a text while its Markdown is read, the next character for the second.
const firstFormula, lastFormula = '\uE000', '\uF8FF'

// render returns the HTML of a text.
func (m *markdown) render(source string) (string, error) {
	var formulas []string
	var failed error
	if m.formulas {
		source = replaceAll(pieces, source, func(g []string) string {
			tex, display := g[2], false
			if g[1] != "" {
				tex, display = g[1], true
			}
			if tex == "" {
				return g[0]
			}
			s, err := mathML(tex, display)
			if err != nil && failed == nil {
				failed = err
			}
			formulas = append(formulas, s)
			return string(rune(int(firstFormula) + len(formulas) - 1))
		})
	}
	if failed != nil || len(formulas) > lastFormula-firstFormula {
		return "", fmt.Errorf("%d formulas: %w", len(formulas), failed)
	}
	raw := []byte(source)
	doc := reader.Parser().Parse(text.NewReader(raw))
	var dead []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := strings.TrimSpace(words(n, raw))
			id := m.id(title)
			n.SetAttributeString("id", []byte(id))
			m.headings = append(m.headings, heading{n.Level, id, title})
		case *ast.Link:
			if to, ok := m.link(string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				dead = append(dead, n)
			}
		case *ast.Image:
			to, ok := m.link(string(n.Destination))
			if !ok {
				return 0, fmt.Errorf("no image %s", n.Destination)
			}
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	for _, n := range dead {
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var b bytes.Buffer
	if err := reader.Renderer().Render(&b, raw, doc); err != nil {
		return "", err
	}
	out := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>").Replace(b.String())
	for i, s := range formulas {
		out = strings.Replace(out, string(rune(int(firstFormula)+i)), s, 1)
	}
	return out, nil
}

// id returns GitHub's name of a heading.
func (m *markdown) id(title string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
	if m.ids == nil {
		m.ids = map[string]int{}
	}
	n := m.ids[id]
	m.ids[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// words returns the text of a node.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// contents returns links to the headings of level 2, if there are enough that one wants them.
func (m *markdown) contents() string {
	var b strings.Builder
	n := 0
	for _, h := range m.headings {
		if h.level == 2 {
			n++
			fmt.Fprintf(&b, `<li><a href="#%s">%s</a></li>`, h.id, html.EscapeString(strings.Map(noFormula, h.text)))
		}
	}
	if n < 5 {
		return ""
	}
	return `<details class="contents"><summary>Contents</summary><ul>` + b.String() + "</ul></details>"
}

func noFormula(r rune) rune {
	if firstFormula <= r && r <= lastFormula {
		return '…'
	}
	return r
}

// replaceAll is that of a regexp, with a function of the groups.
func replaceAll(r *regexp.Regexp, s string, f func(groups []string) string) string {
	return r.ReplaceAllStringFunc(s, func(match string) string { return f(r.FindStringSubmatch(match)) })
}
