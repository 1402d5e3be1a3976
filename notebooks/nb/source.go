package nb

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// sourceWidth is the largest number of characters of a line of Source: more scrolls sideways.
const sourceWidth = 100

// Source displays the source of functions, methods and types as it stands in the project: "plain.POLA.Step" of package plain,
// "lesson.Panel" of package lesson. Packages are those of pkg/learners, of notebooks and of pkg. It panics on a name that is
// not there.
func Source(names ...string) {
	root := Must(projectRoot())
	for _, name := range names {
		text, path, err := source(root, name)
		Check(err)
		displayMarkdown("```go\n" + text + "\n```\n\n[" + path + "](../" + path + ")")
	}
}

// source returns a declaration with its comment, and the file that has it, from the project's folder.
func source(root, name string) (text, path string, err error) {
	pkg, decl, _ := strings.Cut(name, ".")
	for _, parent := range []string{"pkg/learners", "notebooks", "pkg"} {
		files, err := filepath.Glob(filepath.Join(root, parent, pkg, "*.go"))
		if err != nil {
			return "", "", err
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return "", "", err
			}
			text, err := declaration(file, raw, decl)
			if err != nil {
				return "", "", err
			}
			if text != "" {
				return text, parent + "/" + pkg + "/" + filepath.Base(file), nil
			}
		}
	}
	return "", "", fmt.Errorf("nb: no declaration %q in a package of pkg/learners, notebooks or pkg; want a name such as plain.POLA.Step or lesson.Panel", name)
}

// declaration returns a declaration of a file by name, Type.Method for methods; "" if the file has none.
func declaration(file string, raw []byte, name string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, raw, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		doc, names := (*ast.CommentGroup)(nil), []string{}
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc, names = d.Doc, []string{receiver(d) + d.Name.Name}
		case *ast.GenDecl:
			doc = d.Doc
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
		if slices.Contains(names, name) {
			from := d.Pos()
			if doc != nil {
				from = doc.Pos()
			}
			return narrow(string(raw[fset.Position(from).Offset:fset.Position(d.End()).Offset])), nil
		}
	}
	return "", nil
}

// receiver is "T." of a method of T or *T, "" of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

// narrow indents by blanks, puts a comment above a line that is too long with it, and moves the last words of a long line of
// comment to the next.
func narrow(text string) string {
	var out []string
	rest := "" // words that the line before had no room for
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		code, comment, ok := strings.Cut(line, "// ")
		if !ok || rest == "" && utf8.RuneCountInString(line) <= sourceWidth {
			out = append(out, line)
			continue
		}
		indent := code[:len(code)-len(strings.TrimLeft(code, " "))]
		say, words := indent+"//", strings.Fields(rest+" "+comment)
		rest = ""
		goesOn := indent == code && i+1 < len(lines) && strings.HasPrefix(lines[i+1], indent+"// ") && !strings.HasPrefix(lines[i+1], indent+"//  ")
		for n, word := range words {
			if utf8.RuneCountInString(say+" "+word) > sourceWidth {
				out = append(out, say)
				say = indent + "//"
				if goesOn {
					say, rest = "", strings.Join(words[n:], " ")
					break
				}
			}
			say += " " + word
		}
		if say != "" {
			out = append(out, say)
		}
		if code = strings.TrimRight(code, " "); code != "" {
			out = append(out, code)
		}
	}
	return strings.Join(out, "\n")
}
