package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"html"
	"os"
	"regexp"
	"strings"
)

type notebook struct {
	Cells []struct {
		Type    string `json:"cell_type"`
		Source  prose
		Outputs []struct {
			Text prose            // of a stream
			Data map[string]prose // by media type
			// Metadata has the width of an image, if it is not that of its pixels.
			Metadata struct {
				PNG struct{ Width int } `json:"image/png"`
			}
		}
	}
	headed []string // per cell, the name of the heading above it; set by render
}

// prose is a string that the format may also write as a list of lines.
type prose string

func (p *prose) UnmarshalJSON(b []byte) error {
	var lines []string
	if json.Unmarshal(b, &lines) == nil {
		*p = prose(strings.Join(lines, ""))
		return nil
	}
	_ = json.Unmarshal(b, (*string)(p)) // other types of data are none of ours
	return nil
}

func readNotebook(path string) (*notebook, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb := &notebook{}
	if err := json.Unmarshal(raw, nb); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// title is the first line of the notebook.
func (nb *notebook) title() string {
	if len(nb.Cells) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(string(nb.Cells[0].Source), "\n")
	return strings.TrimPrefix(first, "# ")
}

// figure is the first figure of the notebook as PNG; nil if it has none.
func (nb *notebook) figure() []byte {
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(o.Data["image/png"]), "\n", "")); err == nil && len(raw) > 0 {
				return raw
			}
		}
	}
	return nil
}

var imageWithoutAlt = regexp.MustCompile(`<img( [^>]*)>`)

// render returns the cells and their outputs as HTML. Each image says what it shows: it is the plain text beside it.
func (nb *notebook) render(m *markdown) (string, error) {
	var b strings.Builder
	nb.headed = make([]string, len(nb.Cells))
	for i, c := range nb.Cells {
		if c.Type == "markdown" {
			s, err := m.render(string(c.Source))
			if err != nil {
				return "", fmt.Errorf("cell %d: %w", i+1, err)
			}
			b.WriteString(s)
		}
		if n := len(m.headings); n > 0 {
			nb.headed[i] = m.headings[n-1].id
		}
		if c.Type == "markdown" {
			continue
		}
		fmt.Fprintf(&b, "<pre class=\"code\"><code>%s</code></pre>\n", highlight(string(c.Source)))
		for _, o := range c.Outputs {
			plain := html.EscapeString(strings.TrimSpace(string(o.Data["text/plain"])))
			switch {
			case o.Text != "":
				fmt.Fprintf(&b, "<pre class=\"out\">%s</pre>\n", html.EscapeString(string(o.Text)))
			case o.Data["text/html"] != "":
				s := replaceAll(imageWithoutAlt, string(o.Data["text/html"]), func(g []string) string {
					if strings.Contains(g[1], " alt=") {
						return g[0]
					}
					return `<img alt="` + plain + `"` + g[1] + ">"
				})
				fmt.Fprintf(&b, "<div class=\"out\">%s</div>\n", s)
			case o.Data["image/png"] != "":
				alt := strings.TrimPrefix(plain, "Figure: ")
				if alt == "" {
					return "", fmt.Errorf("cell %d: an image has no text/plain, which says what it shows", i+1)
				}
				width := ""
				if w := o.Metadata.PNG.Width; w > 0 {
					width = fmt.Sprintf(` width="%d"`, w)
				}
				fmt.Fprintf(&b, "<p class=\"out\"><img alt=\"%s\"%s src=\"data:image/png;base64,%s\"></p>\n", alt, width, strings.ReplaceAll(string(o.Data["image/png"]), "\n", ""))
			case o.Data["text/markdown"] != "":
				s, err := m.render(string(o.Data["text/markdown"]))
				if err != nil {
					return "", fmt.Errorf("output of cell %d: %w", i+1, err)
				}
				fmt.Fprintf(&b, "<div class=\"out\">%s</div>\n", s)
			default:
				fmt.Fprintf(&b, "<pre class=\"out\">%s</pre>\n", plain)
			}
		}
	}
	return b.String(), nil
}

// highlight marks the keywords, texts and comments of Go. A cell that begins with a line for the shell stays as it is.
func highlight(source string) string {
	if strings.HasPrefix(source, "!") {
		return html.EscapeString(source)
	}
	var b strings.Builder
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	at := 0
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			b.WriteString(html.EscapeString(source[at:]))
			return b.String()
		}
		class := ""
		switch {
		case kind == token.COMMENT:
			class = "c"
		case kind == token.STRING || kind == token.CHAR:
			class = "s"
		case kind.IsKeyword():
			class = "k"
		}
		if start := file.Offset(pos); class != "" && start >= at && strings.HasPrefix(source[start:], text) {
			fmt.Fprintf(&b, `%s<span class="%s">%s</span>`, html.EscapeString(source[at:start]), class, html.EscapeString(text))
			at = start + len(text)
		}
	}
}
