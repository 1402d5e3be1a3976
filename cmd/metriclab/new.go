package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/examples"
	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
)

func (a *app) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new",
		Short: "Write a program to begin with: an experiment of one's own",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newExperimentCommand())
	return c
}

func (a *app) newExperimentCommand() *cobra.Command {
	var module string
	c := &cobra.Command{
		Use:   "experiment NAME",
		Short: "Write a program with an experiment of one's own into the new folder NAME",
		Long: `Write a program of one page into the new folder NAME. It declares an experiment: its
cells, the columns of its table, the trial that fills them, a view and a claim. There

  go run .

runs it, draws the view, grades the claim, and prints where the report is. Change it
part by part. Of a part that is missing the program says what to write.

The go.mod beside it says by a line "replace" where the source of metriclab is: --module,
else the source in or above the working folder, else that from which this command was built.

Exit codes: 0 all is well; 1 the folder cannot be written; 2 the name is not allowed, it is
taken, or the source is not found.`,
		Example:           "  metriclab new experiment rings\n  cd rings && go run .",
		ValidArgsFunction: cobra.NoFileCompletions,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("new experiment takes a name, got %q", args)}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if err := checkNewName(name); err != nil {
				return usageError{err}
			}
			root, err := sourceRoot(module)
			if err != nil {
				return usageError{err}
			}
			files, err := newExperiment(name, root)
			if err != nil {
				return err
			}
			if err := writeFolder(name, files); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s/main.go: the experiment mine/%s; it uses metriclab in %s\nrun it: cd %s && go run .\n", name, name, root, name)
			return err
		},
	}
	c.Flags().StringVar(&module, "module", "", "`folder` of the source of metriclab")
	completeFolder(c, "module")
	return c
}

// newName is what the name of an experiment, of its folder and of its module can be.
var newName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// device matches the names that files on Windows cannot have.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

func checkNewName(name string) error {
	const longest = 50
	switch {
	case !newName.MatchString(name) || len(name) > longest:
		return fmt.Errorf(`name %q is not allowed, want at most %d lower-case letters, digits and single hyphens, a letter first, such as "two-rings"; the folder is made in the working folder`, name, longest)
	case device.MatchString(name):
		return fmt.Errorf("name %q is not allowed: Windows has a device of that name", name)
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is there already, and is left as it is; choose another name", name)
	}
	return nil
}

// modulePath is the path of the module that this command is of.
func modulePath() string {
	return strings.TrimSuffix(reflect.TypeFor[experiment.Spec]().PkgPath(), "/pkg/experiment")
}

// sourceRoot returns the folder of the source: the one that is given, else one in or above the working folder, else
// that of this file when it was built.
func sourceRoot(given string) (string, error) {
	is := func(dir string) bool {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		line, _, _ := strings.Cut(string(mod), "\n")
		return err == nil && strings.TrimSpace(line) == "module "+modulePath()
	}
	if given != "" {
		if !is(given) {
			return "", fmt.Errorf("flag --module: %s has no go.mod that begins with %q", given, "module "+modulePath())
		}
		return filepath.Abs(given)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if is(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) && is(filepath.Join(filepath.Dir(file), "..", "..")) {
		return filepath.Join(filepath.Dir(file), "..", ".."), nil
	}
	return "", errors.New("the source of metriclab is not found in or above the working folder, nor where this command was built: write --module and its folder, that with go.mod")
}

// requirements matches what a go.mod requires.
var requirements = regexp.MustCompile(`(?ms)^require (?:\(.*?^\)|[^(\n]*)\n`)

// newExperiment returns the files of a program by name: examples/spec under another name, in a module that requires all
// that metriclab requires, so that it runs without a network.
func newExperiment(name, root string) (map[string]string, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	version := regexp.MustCompile(`(?m)^go \S+$`).Find(mod)
	text := fmt.Sprintf("module mine/%s\n\n%s\n\nrequire %s v0.0.0\n\n// Until %[3]s has a public path: where its source is.\nreplace %[3]s => %[4]s\n\n// What it requires.\n",
		name, version, modulePath(), strconv.Quote(filepath.ToSlash(root)))
	for _, block := range requirements.FindAllString(string(mod), -1) {
		text += block
	}
	source := strings.NewReplacer("go run ./examples/spec", "go run .", "mine/clouds", "mine/"+name, "out/clouds", "out").Replace(examples.Spec)
	return map[string]string{"main.go": source, "go.mod": text, "go.sum": string(sums), ".gitignore": "/out/\n"}, nil
}

// writeFolder makes a folder with files, or nothing.
func writeFolder(name string, files map[string]string) (err error) {
	dir := fmt.Sprintf(".metriclab-new-%d", rand.Uint32())
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	for file, text := range files {
		if err := atomicfile.Write(filepath.Join(dir, file), []byte(text)); err != nil {
			return err
		}
	}
	return atomicfile.Rename(dir, name)
}
