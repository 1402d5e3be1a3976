package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"go/ast"
	comments "go/doc/comment"
	"go/parser"
	"go/token"
	"html"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/draw"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/papers"
)

// site is a site while it is made. Paths have slashes, and are those of the project and of the site alike.
type site struct {
	root, out string
	play      string          // the page of make play
	pages     map[string]bool // of Markdown and notebooks, by source
	files     map[string]bool // to be copied
	seconds   map[string]int  // run times of notebooks
	books     []*book
}

// book is a notebook on its way into the site.
type book struct {
	file, body string
	*notebook
	*markdown
}

func build(root, out, play string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	s := &site{root: root, out: out, play: play, pages: map[string]bool{}, files: map[string]bool{}, seconds: map[string]int{}}
	for _, step := range []func() error{s.find, s.style, s.notebooks, s.documents, s.results, s.examples, s.start, s.copy, s.check} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) read(file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
}

func (s *site) write(file string, data []byte) error {
	to := filepath.Join(s.out, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// find lists the sources.
func (s *site) find() error {
	for _, file := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "python/README.md"} {
		s.pages[file] = true
	}
	for _, folder := range []string{"docs", "results", "notebooks"} {
		err := fs.WalkDir(os.DirFS(s.root), folder, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case path.Ext(p) == ".md", path.Ext(p) == ".ipynb":
				s.pages[p] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	raw, err := s.read("notebooks/times.csv")
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	for _, row := range rows {
		s.seconds[row[0]], _ = strconv.Atoi(row[1]) // 0 is shown as no time
	}
	return err
}

func (s *site) style() error {
	css, err := style(s.root)
	if err != nil {
		return err
	}
	return s.write("style.css", []byte(css))
}

// page writes a page with the menu of the site. Addresses in body are relative to it.
func (s *site) page(file, title, body string) error {
	up := strings.Repeat("../", strings.Count(file, "/"))
	menu := `<header class="top"><a class="home" href="` + up + `index.html">metriclab</a><nav>`
	for _, item := range [][2]string{{"Play", "play/index.html"}, {"Notebooks", "notebooks/index.html"}, {"Results", "results/index.html"}, {"Learners", "docs/learners.html"}, {"Examples", "examples/index.html"}, {"Docs", "docs/README.html"}} {
		current := ""
		if item[1] == file {
			current = ` aria-current="page"`
		}
		menu += fmt.Sprintf(`<a href="%s%s"%s>%s</a>`, up, item[1], current, item[0])
	}
	return s.write(file, document(title, `<link rel="stylesheet" href="`+up+`style.css">`, menu+"</nav></header>\n", body))
}

// links returns the function that finds what a document links to. Numbers of results stay in the project, for their size.
func (s *site) links(file string) func(string) (string, bool) {
	return func(to string) (string, bool) {
		name, part, _ := strings.Cut(to, "#")
		if external(to) || name == "" {
			return to, true
		}
		name, err := url.PathUnescape(name)
		if err != nil {
			return "", false
		}
		target := path.Join(path.Dir(file), name)
		example, _, _ := strings.Cut(strings.TrimPrefix(target, "examples/"), "/")
		if s.pages[target+"/README.md"] {
			target += "/README.md"
		}
		switch ext := path.Ext(target); {
		case s.pages[target]:
			target = pageOf(target)
		case target == "examples":
			target = "examples/index.html"
		case strings.HasPrefix(target, "examples/"):
			target = "examples/" + example + ".html"
		case slices.Contains([]string{".png", ".svg", ".gif"}, ext), slices.Contains([]string{".py", ".json", ".csv"}, ext) && !strings.HasPrefix(target, "results/"):
			s.files[target] = true
		default:
			return "", false
		}
		return relative(file, target) + fragment(part), true
	}
}

func relative(from, to string) string {
	r, _ := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to)) // both are below the root
	return filepath.ToSlash(r)
}

func (s *site) notebooks() error {
	for _, file := range slices.Sorted(maps.Keys(s.pages)) {
		if path.Ext(file) != ".ipynb" {
			continue
		}
		nb, err := readNotebook(filepath.Join(s.root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		b := &book{file: file, notebook: nb, markdown: &markdown{link: s.links(file), formulas: true}}
		if b.body, err = nb.render(b.markdown); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		s.books = append(s.books, b)
	}
	for _, b := range s.books {
		shown := ""
		for _, e := range catalog.All() {
			n, _ := b.uses(e.Constructor)
			if lesson, _ := s.lesson(e); n > 0 || lesson == b {
				shown += fmt.Sprintf(` <a href="../docs/learners.html#%s">%[1]s</a>`, e.Name)
			}
		}
		if shown != "" {
			shown = `<p class="quiet">Learners here:` + shown + "</p>\n"
		}
		if err := s.page(pageOf(b.file), b.title(), below(shown+b.contents(), b.body)); err != nil {
			return err
		}
	}
	cards, err := s.cards("notebooks/index.html")
	if err != nil {
		return err
	}
	return s.page("notebooks/index.html", "Notebooks", `<h1>Notebooks</h1><p>Written in Go, with their outputs. Sliders move here; to run the cells, see <a href="README.html">how</a>.
For a teacher: <a href="lecture.html">a plan for ninety minutes</a>. Times are of computing, for all cells of one.</p>`+cards)
}

// cards are links to all notebooks, for the page from.
func (s *site) cards(from string) (string, error) {
	cards := ""
	for _, b := range s.books {
		said := ""
		if t := s.seconds[path.Base(b.file)]; t > 0 {
			said = fmt.Sprintf("runs in %d s", t)
		}
		card, err := s.card(from, pageOf(b.file), "thumbs/"+strings.TrimSuffix(b.file, ".ipynb")+".png", b.figure(), b.title(), said)
		if err != nil {
			return "", err
		}
		cards += card
	}
	return grid(cards), nil
}

// uses counts the cells that call a function, and returns the heading above the first.
func (b *book) uses(function string) (n int, at string) {
	for i, c := range b.Cells {
		if function != "" && c.Type == "code" && strings.Contains(string(c.Source), function) {
			if n++; n == 1 {
				at = "#" + b.headed[i]
			}
		}
	}
	return n, at
}

// lesson is where a learner is taught: in the notebook that calls it in most cells; else in one that speaks of one of its experiments.
func (s *site) lesson(e catalog.Entry) (lesson *book, at string) {
	most := 0
	for _, b := range s.books {
		if n, first := b.uses(e.Constructor); n > most {
			most, lesson, at = n, b, first
		}
	}
	if lesson != nil {
		return lesson, at
	}
	for _, x := range papers.UsedBy(e.Name) {
		for _, b := range s.books {
			for i, c := range b.Cells {
				if strings.Contains(string(c.Source), x) {
					return b, "#" + b.headed[i]
				}
			}
		}
	}
	return nil, ""
}

// documents writes all Markdown. Each learner leads to its lesson.
func (s *site) documents() error {
	for _, file := range slices.Sorted(maps.Keys(s.pages)) {
		if path.Ext(file) != ".md" {
			continue
		}
		raw, err := s.read(file)
		if err != nil {
			return err
		}
		m := &markdown{link: s.links(file)}
		body, err := m.render(string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if file == "docs/learners.md" {
			for _, e := range catalog.All() {
				if b, at := s.lesson(e); b != nil {
					end := fmt.Sprintf(`<h2 id="%s">%[1]s</h2>`, e.Name)
					body = strings.Replace(body, end, end+fmt.Sprintf(`<p class="quiet">Lesson: <a href="%s%s">%s</a></p>`, relative(file, pageOf(b.file)), at, html.EscapeString(b.title())), 1)
				}
			}
		}
		title := file
		if len(m.headings) > 0 {
			title = m.headings[0].text
		}
		if err := s.page(pageOf(file), title, below(m.contents(), body)); err != nil {
			return err
		}
	}
	return nil
}

var (
	firstFigure = regexp.MustCompile(`\[!\[[^\]]*\]\(([^)]+\.png)\)`)
	took        = regexp.MustCompile(`, ([0-9hms.]+) of computing time`)
	claims      = regexp.MustCompile(`\[claims\]\(claims\.md\): (.*)\.`)
)

// results writes the gallery: all experiments of all papers, with a figure, what came out and how long it took.
func (s *site) results() error {
	body := `<h1>Results</h1><p>Every experiment at full scale, with its figures and its claims, graded by rules that were fixed before. Below each stand what came out and
the time of computing. All claims: the <a href="README.html">scorecard</a>. The numbers behind are in the project's folder <code>results</code>.</p>`
	for _, p := range papers.All {
		cards := ""
		for _, x := range p.Experiments {
			file := "results/" + x.ID + "/README.md"
			raw, err := s.read(file)
			if err != nil {
				continue // nothing is published
			}
			var picture []byte
			name := firstFigure.FindSubmatch(raw)
			if name != nil {
				if picture, err = s.read(path.Join(path.Dir(file), string(name[1]))); err != nil {
					return err
				}
			}
			said := ""
			for _, r := range []*regexp.Regexp{claims, took} {
				if m := r.FindSubmatch(raw); m != nil {
					said += "; " + string(m[1])
				}
			}
			card, err := s.card("results/index.html", pageOf(file), "thumbs/results/"+x.ID+".png", picture, path.Base(x.ID)+": "+x.Title, strings.TrimPrefix(said, "; "))
			if err != nil {
				return err
			}
			cards += card
		}
		body += fmt.Sprintf(`<h2 id="%s"><a href="%[1]s/README.html">%[1]s</a></h2><p>%s</p>`, p.Key, html.EscapeString(p.Citation)) + grid(cards)
	}
	return s.page("results/index.html", "Results", body)
}

func grid(cards string) string { return `<div class="grid">` + cards + "</div>\n" }

// card is a link with a small picture. A picture is written to thumb.
func (s *site) card(from, to, thumb string, picture []byte, title, said string) (string, error) {
	drawn := ""
	if picture != nil {
		if err := s.thumbnail(thumb, picture); err != nil {
			return "", fmt.Errorf("%s: %w", thumb, err)
		}
		drawn = fmt.Sprintf(`<img loading="lazy" alt="A figure of %s" src="%s">`, html.EscapeString(title), relative(from, thumb))
	}
	return fmt.Sprintf(`<a class="card" href="%s">%s<b>%s</b><span>%s</span></a>`, relative(from, to), drawn, html.EscapeString(title), html.EscapeString(said)), nil
}

// thumbnail writes a picture small enough for a card, twice as wide as it is shown.
func (s *site) thumbnail(file string, picture []byte) error {
	const width = 480
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return err
	}
	size := full.Bounds().Size()
	small := image.NewRGBA(image.Rect(0, 0, width, max(1, size.Y*width/size.X)))
	draw.CatmullRom.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	if err := png.Encode(&b, small); err != nil {
		return err
	}
	return s.write(file, b.Bytes())
}

// examples writes a page per program: what it says of itself, what it prints, and its source.
func (s *site) examples() error {
	found, err := filepath.Glob(filepath.Join(s.root, "examples", "*", "main.go"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("%d examples, error %v", len(found), err)
	}
	list := ""
	for _, file := range found {
		name := filepath.Base(filepath.Dir(file))
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		doc, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		body := "<h1>" + name + "</h1>\n" + comment(doc)
		if printed, err := s.read("examples/" + name + "/output.txt"); err == nil {
			body += "<h2>It prints</h2>\n<pre class=\"out\">" + html.EscapeString(string(printed)) + "</pre>\n"
		}
		body += "<h2>Source</h2>\n<pre class=\"code\"><code>" + highlight(string(source)) + "</code></pre>\n"
		if err := s.page("examples/"+name+".html", name, body); err != nil {
			return err
		}
		first, _, _ := strings.Cut(doc.Doc.Text(), "\n\n")
		list += fmt.Sprintf("<dt><a href=\"%s.html\">%[1]s</a></dt><dd>%s</dd>\n", name, html.EscapeString(first))
	}
	return s.page("examples/index.html", "Examples", "<h1>Examples</h1><p>Programs of a page or two. Copy one and change it.</p><dl>"+list+"</dl>\n")
}

// comment returns the documentation of a program as HTML.
func comment(f *ast.File) string {
	var p comments.Parser
	printer := comments.Printer{HeadingLevel: 2, DocLinkURL: func(*comments.DocLink) string { return "" }}
	return string(printer.HTML(p.Parse(f.Doc.Text())))
}

// start writes the first page.
func (s *site) start() error {
	scores, err := s.read("results/README.md")
	if err != nil {
		return err
	}
	where, err := s.read("docs/README.md")
	if err != nil {
		return err
	}
	m := &markdown{link: func(to string) (string, bool) {
		to, ok := s.links("docs/README.md")(to)
		if external(to) {
			return to, ok
		}
		return path.Join("docs", to), ok
	}}
	questions, err := m.render(strings.TrimPrefix(string(where), "# Where to read\n"))
	if err != nil {
		return err
	}
	books, err := s.cards("index.html")
	if err != nil {
		return err
	}
	graded := ""
	for _, p := range papers.All {
		row := regexp.MustCompile(`\| \[` + p.Key + `\]\(#` + p.Key + `\) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|`).FindStringSubmatch(string(scores))
		if row == nil {
			return fmt.Errorf("results/README.md has no row of %s", p.Key)
		}
		bar, said := "", []string{}
		for i, verdict := range []string{"reproduced", "partly", "not reproduced", "undecided", "untestable"} {
			if row[i+1] != "0" {
				bar += fmt.Sprintf(`<i class="v%d" style="flex-grow:%s"></i>`, i, row[i+1])
				said = append(said, row[i+1]+" "+verdict)
			}
		}
		graded += fmt.Sprintf(`<a class="graded" href="results/index.html#%s"><b>%[1]s</b><span class="verdicts" aria-hidden="true">%s</span><span>%s</span></a>`, p.Key, bar, strings.Join(said, ", "))
	}
	s.files["docs/play.png"] = true
	return s.page("index.html", "metriclab", `<a class="hero" href="play/index.html"><span><h1>Learn what <em>alike</em> means</h1>
<p class="lead">Distances learned from pairs, comparisons, classes and costs, in Go. Five papers, each with a lesson, its figures made anew, and its sentences graded by machine.</p>
<b>Play: teach a machine by hand</b></span><img alt="The page to play with: two clouds of dots, and the curve inside which the machine calls dots alike" src="docs/play.png"></a>
<h2 id="lessons">Lessons</h2>`+books+`<h2 id="graded">What the papers say, and what came out</h2><p>Sentences of the papers, each tested by a rule that was fixed before the run. All of them, with their numbers: the <a href="results/README.html">scorecard</a>; all figures: the <a href="results/index.html">gallery</a>.</p>`+graded+`
<h2 id="questions">Where to read</h2>`+questions+`<p>To get it, and what it can do: <a href="README.html">README</a>.</p>
`)
}

// copy takes over the page of make play and the files that pages link to.
func (s *site) copy() error {
	for _, file := range slices.Sorted(maps.Keys(s.files)) {
		raw, err := s.read(file)
		if err != nil {
			return err
		}
		if err := s.write(file, raw); err != nil {
			return err
		}
	}
	page, err := os.ReadFile(s.play)
	if err != nil {
		return fmt.Errorf("%w; make it with: make play", err)
	}
	return s.write("play/index.html", page)
}

var (
	ids        = regexp.MustCompile(`<[^>]* id="([^"]*)"`)
	references = regexp.MustCompile(`<[^>]* (href|src)="([^"]*)"`)
	noWords    = regexp.MustCompile(`<img [^>]*>`)
)

// check follows all links, and adds up the sizes. The page of make play is checked by its own test.
func (s *site) check() error {
	pages, total, files := map[string]string{}, int64(0), 0
	err := fs.WalkDir(os.DirFS(s.out), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total, files, pages[p] = total+info.Size(), files+1, ""
		if path.Ext(p) == ".html" && !strings.HasPrefix(p, "play/") {
			raw, err := os.ReadFile(filepath.Join(s.out, p))
			pages[p] = string(raw)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	names := map[string]map[string]bool{}
	for p, text := range pages {
		names[p] = map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			names[p][html.UnescapeString(m[1])] = true
		}
	}
	var wrong []string
	links := 0
	for _, p := range slices.Sorted(maps.Keys(pages)) {
		for _, m := range references.FindAllStringSubmatch(pages[p], -1) {
			to := html.UnescapeString(m[2])
			switch {
			case m[1] == "src" && external(to):
				wrong = append(wrong, p+" shows "+to+", which needs the network")
				continue
			case strings.HasPrefix(to, "data:"), external(to):
				continue
			}
			links++
			file, part, _ := strings.Cut(to, "#")
			target := p
			if file != "" {
				unescaped, err := url.PathUnescape(file)
				if err != nil {
					return err
				}
				target = path.Join(path.Dir(p), unescaped)
			}
			part, err := url.PathUnescape(part)
			if err != nil {
				return err
			}
			if there, ok := names[target]; !ok || part != "" && !there[part] {
				wrong = append(wrong, p+" links to "+to+", which is not there")
			}
		}
		for _, m := range noWords.FindAllString(pages[p], -1) {
			if !strings.Contains(m, ` alt="`) {
				wrong = append(wrong, p+" has an image without words: "+m[:min(80, len(m))])
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	if total > most {
		return fmt.Errorf("%s has %d bytes, at most %d are allowed", s.out, total, most)
	}
	fmt.Printf("%s: %d files, %.1f MB, %d links lead somewhere\n", s.out, files, float64(total)/1e6, links)
	return nil
}
