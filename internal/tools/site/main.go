// Command site makes the static site of `make site`, and exports notebooks.
//
//	go run ./internal/tools/site                            writes out/site
//	go run ./internal/tools/site notebooks FOLDER FILES     writes each notebook as one page
//
// It reads what is committed: Markdown, notebooks with their outputs, results and examples; and out/play. It runs none of it.
// Pages need no network, no server and no script, but for sliders. Formulas are MathML, translated here (math.go): so an
// export needs Go alone, shows the same everywhere, and ends with an error where a browser would show a raw command.
// A site with a link that leads nowhere, or an image without words for who does not see it, is an error as well.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html"
	"os"
	"path"
	"path/filepath"
	"strings"

	"metriclab/internal/atomicfile"
)

//go:embed page.css
var ownStyle string

// most is the size in bytes that a site may have.
const most = 60_000_000

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	switch {
	case len(args) == 0:
		return build(".", filepath.Join("out", "site"), filepath.Join("out", "play", "index.html"))
	case len(args) > 2 && args[0] == "notebooks":
		return export(".", args[1], args[2:])
	}
	return errors.New("usage: site, or site notebooks FOLDER FILES")
}

// style returns the style of all pages: the colours and types of the page of `make play`, and what a site has more.
func style(root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, "internal", "tools", "play", "page", "page.css"))
	if err != nil {
		return "", err
	}
	shared, _, ok := strings.Cut(string(raw), "\nheader {")
	if !ok {
		return "", errors.New("page.css of play has no rule of header, before which its colours and types stand")
	}
	return shared + "\n" + ownStyle, nil
}

const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cellipse cx='8' cy='8' rx='7' ry='3.4' transform='rotate(-35 8 8)' fill='%230072b2'/%3E%3C/svg%3E`

// document puts a page together: head is the element of its style.
func document(title, head, header, body string) []byte {
	return []byte(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>` + html.EscapeString(title) + `</title>
<link rel="icon" href="` + icon + `">
` + head + `
</head>
<body>
` + header + "<main>\n" + body + "</main>\n</body>\n</html>\n")
}

// export writes notebooks as pages that need nothing else. Links lead from one to the other, and to the web.
func export(root, folder string, files []string) error {
	css, err := style(root)
	if err != nil {
		return err
	}
	exported := map[string]bool{}
	for _, f := range files {
		exported[filepath.Base(f)] = true
	}
	link := func(to string) (string, bool) {
		file, part, _ := strings.Cut(to, "#")
		switch {
		case external(to), file == "":
			return to, true
		case exported[file]:
			return pageOf(file) + fragment(part), true
		}
		return "", false
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		nb, err := readNotebook(f)
		if err != nil {
			return err
		}
		m := &markdown{link: link, formulas: true}
		body, err := nb.render(m)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		out := filepath.Join(folder, pageOf(filepath.Base(f)))
		page := document(nb.title(), "<style>"+css+"</style>", "", below(m.contents(), body))
		if err := atomicfile.Write(out, page); err != nil {
			return err
		}
		fmt.Printf("%s: %.2f MB\n", out, float64(len(page))/1e6)
	}
	return nil
}

// below puts something below the title.
func below(what, body string) string { return strings.Replace(body, "</h1>", "</h1>\n"+what, 1) }

func external(link string) bool {
	return strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:")
}

// pageOf is the page of a file of Markdown or of a notebook.
func pageOf(file string) string { return strings.TrimSuffix(file, path.Ext(file)) + ".html" }

func fragment(part string) string {
	if part == "" {
		return ""
	}
	return "#" + part
}
