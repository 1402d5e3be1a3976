// Command check judges notebooks that were executed without a browser. It runs
// in the folder notebooks, reads .executed/NAME and compares it with NAME, the
// committed notebook. It prints what is wrong, one line each, and exits with 1
// if anything is.
//
// With -grade TESTS it prints instead a notebook of a student's homework and the cell of tests in the file TESTS; with -verdicts
// what such a notebook, executed, says.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	compare := flag.Bool("compare", true, "compare the outputs with those of the committed notebooks")
	tests := flag.String("grade", "", "a file with a cell of tests, for the homework in the notebook NAME")
	said := flag.Bool("verdicts", false, "print what the tests said, in the executed notebook NAME")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: check [-compare=false] NAME.ipynb ...\n       check -grade TESTS NAME.ipynb\n       check -verdicts NAME.ipynb")
		os.Exit(2)
	}
	if *tests != "" || *said {
		if err := grade(flag.Arg(0), *tests, *said); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	bad := 0
	for _, name := range flag.Args() {
		problems, summary := judge(name, filepath.Join(".executed", name), *compare)
		for _, p := range problems {
			fmt.Printf("%s: %s\n", name, p)
		}
		if len(problems) == 0 {
			fmt.Printf("%s: ok, %s\n", name, summary)
		}
		bad += len(problems)
	}
	if bad > 0 {
		fmt.Printf("%d problem(s) in notebooks\n", bad)
		os.Exit(1)
	}
}

// judge checks one executed notebook, and with compare the committed one.
func judge(name, executed string, compare bool) (problems []string, summary string) {
	got, err := read(executed)
	if err != nil {
		return []string{err.Error()}, ""
	}
	problems = got.problems()
	if compare {
		want, err := read(name)
		if err != nil {
			return append(problems, err.Error()), ""
		}
		problems = append(problems, got.differences(want)...)
	}
	return problems, fmt.Sprintf("%d code cells, %d figures", got.codeCells(), got.figures())
}

func grade(name, tests string, said bool) error {
	nb, err := read(name)
	if err != nil {
		return err
	}
	if said {
		fmt.Print(verdicts(nb))
		return nil
	}
	text, err := os.ReadFile(tests)
	if err != nil {
		return err
	}
	raw, err := graded(nb, string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = os.Stdout.Write(raw)
	return err
}
