package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/persist"
)

const aboutLearn = `Learn online from JSON lines on standard input: each line is a round of feedback
or a question, and is answered by a line on standard output. A program that waits
for each answer gets it at once; a file is worked through at full speed.

What a line holds depends on the learner:

  labelled pairs  in   {"x":[0,1],"y":[2,1],"label":1}    1 similar, -1 dissimilar
                  out  {"round":1,"sqdist":4,"similar":false,"loss":4,"mistake":true,"step":0.2}
                  in   {"x":[0,1],"y":[2,1]}              no label: only predicts
                  out  {"round":2,"sqdist":4,"similar":false}
    of --vectors  in   {"a":"cat.jpg","b":17,"label":1}   two rows of a .npy file, from 0,
                                                          or with --ids two ids
  comparisons     in   {"a":0,"near":1,"far":2}           a is closer to near than to far
                  out  {"round":1,"sqnear":1,"sqfar":4,"loss":0,"mistake":false,"step":0}
                  in   {"a":0,"b":1,"c":2}                only predicts which is nearer
                  out  {"round":2,"sqb":1,"sqc":4,"nearer":1}
    of vectors    in   {"a":[0,1],"near":[1,1],"far":[1,0]}   or ids, or rows, of --vectors
                  out  {"round":1,"simnear":1,"simfar":0,"loss":0,"mistake":false,"step":0}
                  in   {"a":[0,1],"b":[1,1],"c":[1,0]}        only predicts which is more like a
                  out  {"round":2,"simb":1,"simc":0,"nearer":"b"}
  costs           in   {"cost":[[0,1],[0.5,0.2]]}         a row per object, from 0 to 1
                  out  {"round":1,"map":[0,1],"loss":0.2,"expected":0.85}

Every answer is that of the hypothesis held before the update: squared distance,
prediction, loss, whether the prediction was a mistake, signed step size, and, if a
map was drawn from a law that is known exactly, its expected loss. round counts the
accepted lines of this run. --state-every n adds "state" after the update:
{"m":[[...]],"threshold":b}, for learners with a kernel {"support":n,"threshold":b},
for comparisons {"kernel":[[...]]}, of vectors {"w":[[...]]}, for costs {"logweights":[[...]]}.

A bad line changes nothing. It is no JSON object, or has a field unknown, missing
or there twice, null, NaN, a number that overflows, another length, a label other
than 1 and -1, or more bytes than --max-line. Its number and what is wrong with it
go to standard error, and the command stops, or goes on with --skip-bad. Both end
with exit code 1. Empty lines are passed over. A label or an object may be written
1.0.

--save writes the learner when the command ends: at the end of input, at a bad line,
at Ctrl-C, or because nobody reads the answers any more. After the last of these it
also holds lines whose answers were not read. The file is replaced as a whole or
stays as it was. --save-every n saves after every n-th accepted line, too: what kills
the command at once loses less than n accepted lines. Each save writes the whole
learner to the disk, so that a small n is slow. --load goes on with a saved learner,
bit for bit; both may name the same file.

Exit codes: 0 all is well; 1 a line was bad, an answer could not be written, or
a file could not be read or written; 2 the command line is wrong; 130 interrupted.`

const learnExamples = `Example 1: learn from a file and keep the learner.

  $ cat pairs.jsonl
  {"x":[0,0],"y":[1,0],"label":-1}
  {"x":[0,0],"y":[0,1],"label":1}
  {"x":[1,1],"y":[2,1],"label":-1}
  $ metriclab learn --learner pola --state-every 2 --save pola.json <pairs.jsonl
  {"round":1,"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-1}
  {"round":2,"sqdist":0,"similar":true,"loss":0,"mistake":false,"step":0,"state":{"m":[[1,0],[0,0]],"threshold":1}}
  {"round":3,"sqdist":1,"similar":true,"loss":1,"mistake":true,"step":-0.5}

Example 2: ask it, and teach it more.

  $ echo '{"x":[0,0],"y":[1,1]}' | metriclab learn --load pola.json
  {"round":1,"sqdist":1.5,"similar":false}
  $ echo '{"x":[0,0],"y":[1,0],"label":1}' | metriclab learn --load pola.json --save pola.json
  {"round":1,"sqdist":1.5,"similar":false,"loss":1.5,"mistake":true,"step":0.75}`

// learnFlags are the flags of learn.
type learnFlags struct {
	learner, load, save string
	params              []string
	dim, objects        int
	stateEvery, maxLine int
	saveEvery           int
	skipBad             bool
	vectors             vectorFlags
}

func (a *app) learnCommand() *cobra.Command {
	var f learnFlags
	c := &cobra.Command{
		Use:   "learn {--learner NAME | --load FILE} [--save FILE] <FEEDBACK.jsonl",
		Short: "Learn online from JSON lines, and answer each with a prediction",
		Long:  aboutLearn + "\n\n" + learnExamples + "\n\nLearners (metriclab learners NAME tells all about one):\n\n" + namesByFeedback(online(catalog.All())),
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.learn(c, &f) },
	}
	c.Flags().StringVar(&f.learner, "learner", "", strings.Join(onlineNames(catalog.All()), ", "))
	c.Flags().StringArrayVar(&f.params, "param", nil, "parameter of the learner as name=value; may be repeated")
	c.Flags().IntVar(&f.dim, "dim", 0, "length of the vectors of pairs, up to what --max-memory allows (default: that of the first line)")
	c.Flags().IntVar(&f.objects, "objects", 0, "number of objects, for a learner of comparisons, up to what --max-memory allows")
	c.Flags().IntVar(&f.stateEvery, "state-every", 0, "add the state to every n-th answer (default: never)")
	c.Flags().IntVar(&f.maxLine, "max-line", lines.DefaultMaxLine, "longest line in bytes, at most --max-memory")
	c.Flags().BoolVar(&f.skipBad, "skip-bad", false, "pass over bad lines, and count them at the end")
	c.Flags().StringVar(&f.load, "load", "", "file of a saved learner to go on with, instead of --learner")
	c.Flags().StringVar(&f.save, "save", "", "file for the learner when the command ends")
	f.vectors.add(c)
	c.Flags().IntVar(&f.saveEvery, "save-every", 0, "save after every n-th accepted line too, with --save (default: only when the command ends)")
	c.ValidArgsFunction = cobra.NoFileCompletions
	completeFlag(c, "learner", completeLearners(func(e catalog.Entry) bool { return e.Feedback.Online() }))
	completeFlag(c, "param", completeParams)
	return c
}

// online lists the entries that learn can use.
func online(entries []catalog.Entry) []catalog.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e catalog.Entry) bool { return !e.Feedback.Online() })
}

// onlineNames lists the names of the online learners.
func onlineNames(entries []catalog.Entry) []string {
	var out []string
	for _, e := range online(entries) {
		out = append(out, e.Name)
	}
	return out
}

// learn runs a session from standard input to standard output.
func (a *app) learn(c *cobra.Command, f *learnFlags) error {
	if err := atLeastOne(c, "dim", f.dim, "objects", f.objects, "state-every", f.stateEvery, "max-line", f.maxLine, "save-every", f.saveEvery); err != nil {
		return err
	}
	o := lines.Options{Dim: f.dim, Objects: f.objects, StateEvery: f.stateEvery}
	if c.Flags().Changed("max-line") {
		o.MaxLine = f.maxLine
	}
	if f.skipBad {
		o.Bad = func(e *lines.LineError) { a.say(e) }
	}
	given, err := f.vectors.given(c)
	if err != nil {
		return err
	}
	if given {
		if o.Vectors, err = f.vectors.open(c.Context(), a); err != nil {
			return err
		}
		defer o.Vectors.File.Close()
	}
	if f.saveEvery > 0 && !c.Flags().Changed("save") {
		return usageError{errors.New("flag --save-every: only together with --save, which names the file")}
	}
	var s *lines.Session
	if f.saveEvery > 0 {
		o.Accepted = func(n int) error {
			if n%f.saveEvery != 0 {
				return nil
			}
			return persist.WriteFile(f.save, s)
		}
	}
	s, err = f.session(c, o)
	if err != nil {
		return err
	}
	if c.Flags().Changed("save") {
		if f.save, err = outPath("save", f.save); err != nil {
			return err
		}
	}
	// Without this a closed standard output kills the program before it saves.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)

	sum, err := s.Run(c.Context(), a.in, a.data)
	code := exitOK
	quiet := false
	var bad *lines.LineError
	switch {
	case err == nil && sum.Bad > 0:
		a.say(plural.Of(sum.Bad, "bad line"), "of", sum.Lines, "passed over")
		code = exitFailed
	case err == nil:
		quiet = true
	case c.Context().Err() != nil && errors.Is(err, c.Context().Err()):
		a.say("interrupted after", plural.Of(sum.Accepted, "accepted line"))
		code = exitInterrupted
	case errors.As(err, &bad):
		a.say(bad)
		code = exitFailed
	default:
		// Whoever read the answers has seen enough: nothing to tell.
		if quiet = nobodyReads(err); !quiet {
			a.say(err)
		}
		code = exitFailed
	}
	if f.save != "" {
		if err := persist.WriteFile(f.save, s); err != nil {
			a.say(err)
			if code != exitInterrupted || !errors.Is(err, lines.ErrNothing) {
				code = exitFailed
			}
		} else if !quiet {
			a.say("the learner, after", plural.Of(sum.Accepted, "accepted line"), "of this run, is in", f.save)
		}
	}
	if code != exitOK {
		return exitError(code)
	}
	return nil
}

// say prints a line of the command itself.
func (a *app) say(words ...any) { fmt.Fprintln(a.err, append([]any{"metriclab:"}, words...)...) }

// session makes a learner by name or from a file.
func (f *learnFlags) session(c *cobra.Command, o lines.Options) (*lines.Session, error) {
	usage := func(err error) error {
		var option *lines.OptionError
		if errors.As(err, &option) {
			err = fmt.Errorf("flag --%w", err)
		}
		return usageError{err}
	}
	if c.Flags().Changed("load") {
		if len(f.params) > 0 {
			return nil, usage(errors.New("flag --param: not together with --load: a saved learner has its parameters"))
		}
		return f.loaded(o, usage)
	}
	if f.learner == "" {
		return nil, usage(fmt.Errorf("flag --learner: none given, want one of %s; or --load FILE", strings.Join(onlineNames(catalog.All()), ", ")))
	}
	e, err := catalog.Find(f.learner)
	if err != nil || !e.Feedback.Online() {
		if err == nil {
			err = fmt.Errorf("%s learns in one batch from a %s", e.Name, e.Feedback)
		} else {
			err = fmt.Errorf("unknown learner %q", f.learner)
		}
		known := onlineNames(catalog.All())
		return nil, usage(fmt.Errorf("flag --learner: %w, want one of %s%s", err, strings.Join(known, ", "), closest.Hint(f.learner, known)))
	}
	params, err := parseParams(f.params)
	if err != nil {
		return nil, usage(err)
	}
	v, err := e.Parse(params)
	if err != nil {
		return nil, usage(err)
	}
	s, err := lines.New(e, v, o)
	if err != nil {
		return nil, usage(err)
	}
	return s, nil
}

// loaded reads the learner of --load.
func (f *learnFlags) loaded(o lines.Options, usage func(error) error) (*lines.Session, error) {
	file, err := os.Open(f.load)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := lines.Load(catalog.All(), file, o)
	var option *lines.OptionError
	switch {
	case errors.As(err, &option):
		return nil, usage(err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.load, err)
	case f.learner != "" && f.learner != s.Entry().Name:
		return nil, usage(fmt.Errorf("flag --learner: %s is not allowed: %s holds a learner %s", f.learner, f.load, s.Entry().Name))
	}
	return s, nil
}
