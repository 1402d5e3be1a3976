package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/closest"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/learners/catalog"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that completes metriclab's command lines in a shell",
		Long: `Print a script with which a shell completes commands, flags, experiments, cells,
data sets and learners at the Tab key. For the running shell:

  bash         source <(metriclab completion bash)
  zsh          source <(metriclab completion zsh)
  fish         metriclab completion fish | source
  powershell   metriclab completion powershell | Out-String | Invoke-Expression

Put that line into the shell's start-up file to have it always. metriclab must
be on the PATH; bash needs the package bash-completion, zsh a call of compinit
before.`,
		ValidArgsFunction: completeWords(shells...),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError{fmt.Errorf("%s: %q is not allowed, want one of %s%s", c.CommandPath(), args, strings.Join(shells, ", "), closest.Hint(strings.Join(args, " "), shells))}
			}
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.data, true)
			case "zsh":
				return root.GenZshCompletion(a.data)
			case "fish":
				return root.GenFishCompletion(a.data, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.data)
			}
		},
	}
}

// completeFlag sets how the value of a flag is completed.
func completeFlag(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag, or twice
	}
}

// completeFolder completes the value of a flag by folders.
func completeFolder(c *cobra.Command, flag string) { completeFlag(c, flag, completeFolders) }

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeWords completes by the words, without those that are arguments
// already.
func completeWords(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, w := range words {
			// A word may be followed by a tab and its description.
			word, _, _ := strings.Cut(w, "\t")
			if strings.HasPrefix(word, start) && !slices.Contains(args, word) {
				out = append(out, w)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

var completeScales = completeWords("smoke\tbuilt-in data, seconds", "full\tthe papers' protocols")

// completeExperiments completes by papers and experiments.
func (a *app) completeExperiments(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []string
	for _, p := range a.papers {
		words = append(words, p.Key+"\t"+p.Citation)
		for _, s := range p.Experiments {
			words = append(words, s.ID+"\t"+s.Title)
		}
	}
	return completeWords(words...)(c, args, start)
}

// completeCells completes by the cells of the experiments on the command line,
// or of all, at the scale that stands there.
func (a *app) completeCells(f *flags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		scale, err := experiment.ParseScale(f.scale)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if names, err := c.Flags().GetStringArray("experiment"); err == nil { // merge, whose arguments are folders
			args = names
		}
		sel, err := harness.Select(a.papers, args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, s := range sel {
			for _, cell := range s.Spec.Cells(scale) {
				if !slices.Contains(words, cell.Name) {
					words = append(words, cell.Name)
				}
			}
		}
		return completeWords(words...)(c, nil, start)
	}
}

// completeLearners completes by the learners of the catalog that keep takes.
func completeLearners(keep func(catalog.Entry) bool) cobra.CompletionFunc {
	var words []string
	for _, e := range catalog.All() {
		if keep(e) {
			words = append(words, e.Name+"\t"+e.Doc)
		}
	}
	return completeWords(words...)
}

// completeData completes the arguments of the commands on data sets, and offers
// no files to commands without arguments.
func completeData(root *cobra.Command) {
	var words []string
	for _, e := range datasets.Registry() {
		words = append(words, e.Name+"\t"+e.Shape)
	}
	for _, command := range []struct {
		path string
		f    cobra.CompletionFunc
	}{
		{"data get", completeWords(words...)}, {"data verify", completeWords(words...)},
		{"data list", cobra.NoFileCompletions}, {"version", cobra.NoFileCompletions},
	} {
		c, _, err := root.Find(strings.Fields(command.path))
		if err != nil {
			panic(err)
		}
		c.ValidArgsFunction = command.f
	}
}

// completeParams completes parameters of the learner of --learner: their names, then their words.
func completeParams(c *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	learner := c.Flags().Lookup("learner").Value.String()
	e, err := catalog.FindIn(allEntries(), learner)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	given := func(flag string) bool { return c.Flags().Changed(flag) }
	var kinds []catalog.Feedback
	switch {
	case given("vectors") && given("triplets"):
		kinds = []catalog.Feedback{catalog.RowTriplets}
	case given("vectors"):
		kinds = []catalog.Feedback{catalog.Pairs, catalog.Links}
	case given("gram") && given("labels"):
		e = e.WithoutKernel()
	case given("gram"):
		kinds = []catalog.Feedback{catalog.Constraints}
	}
	if of, ok := e.For(kinds...); ok {
		e = of
	}
	return completeParam(e, "", start)
}

// completeCompared completes parameters of compare: learner:name=value.
func completeCompared(_ *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	learner, rest, ok := strings.Cut(start, ":")
	if !ok {
		var words []cobra.Completion
		for _, name := range learnerNames() {
			word, _, _ := strings.Cut(name, "\t")
			if e, err := catalog.FindIn(allEntries(), word); err == nil && len(e.Params) > 0 && strings.HasPrefix(word, start) {
				words = append(words, word+":\t"+e.Doc)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	e, err := catalog.FindIn(allEntries(), learner)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeParam(e, learner+":", rest)
}

// completeParam completes one parameter of a learner; the completions begin with prefix.
func completeParam(e catalog.Entry, prefix, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	name, value, ok := strings.Cut(start, "=")
	if !ok {
		for _, p := range e.Params {
			if strings.HasPrefix(p.Name, start) {
				out = append(out, fmt.Sprintf("%s%s=\t%s (%s; default %s)", prefix, p.Name, p.Doc, p.Allowed, p.Default))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	for _, p := range e.Params {
		if p.Name != name {
			continue
		}
		for _, word := range p.Words() {
			if strings.HasPrefix(word, value) {
				out = append(out, prefix+name+"="+word)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
