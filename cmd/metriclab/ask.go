package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"metriclab/internal/askserver"
	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/pkg/ask"
)

// askFlags are those of ask.
type askFlags struct {
	question, choose  string
	random, repeat    float64
	out, listen, code string
	hosts             []string
	v                 vectorFlags
	simulateFlags
}

func (a *app) askCommand() *cobra.Command {
	f := &askFlags{}
	c := &cobra.Command{
		Use:   "ask {FOLDER | FILE} [--question compare|odd|alike]\n  metriclab ask --simulate {X.npy | ANSWERS.csv} --choose CHOICE",
		Short: "Ask people which pictures or texts are alike, on a page that this machine serves",
		Example: `  metriclab ask pictures/
  metriclab ask words.txt --question odd --out words
  metriclab ask pictures/ --listen :8765
  metriclab ask --simulate x.npy --choose ckl`,
		Long: `Serve a page that asks about the pictures of a FOLDER (.png, .jpg, .gif, .webp; none below it, no
links) or the lines of a FILE: is A more like the left or the right one (compare)? Which of three
is the odd one out (odd)? Are two alike (alike)? It has keys, and is for phones, too.

Each answer is on the disk, in answers.csv of --out, before it is acknowledged: the answer, who
(a name or a random one), when, what was shown where, how fast. The same command goes on after
Ctrl-C, a crash or kill -9. A second process on the same --out is refused.

Another page, for you alone, has a map of the items so far, the answers of each person, how well
held-out answers are predicted, and whether more of them pay. Ctrl-C ends, and writes the map:
coordinates.csv, map.svg, and its kernel, map.json; with --vectors, whose rows are the items in
the order of items.txt, metric.json for new items. The commands that do it again are printed.

The next question is random, or chosen by a kernel of the answers so far, at most seconds old:
--choose ckl or erkle asks what it is least certain of; ckl-gain or erkle-gain asks what tells
most. --random is the share of random ones beside these, by which predictions are scored.
--repeat is the share of questions that a person is asked again, by which people are seen to
agree with themselves.

Only this machine is served, unless --listen names another address, or --host a server before
this one. Then people need the --code, which is random unless given, and whoever reaches the port
sees that there is a page. It is plain HTTP, which hides nothing: not the code, not the answers.
Behind a server with HTTPS, give its name as --host.

--simulate answers by itself, to plan an experiment: by the distances of vectors, or with the
answers that people have given already (in a form of fit --triplets). It prints the errors of
maps after random and after chosen questions, and whether choosing pays.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("simulate") {
				return a.simulate(c, f, args)
			}
			return a.ask(c, f, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.question, "question", ask.KindCompare.String(), "compare, odd or alike")
	flags.StringVar(&f.choose, "choose", ask.ChoiceRandom.String(), "how the next question is chosen: "+strings.Join(ask.Choices(), ", "))
	flags.Float64Var(&f.random, "random", .2, "share of random questions beside chosen ones")
	flags.Float64Var(&f.repeat, "repeat", .05, "share of questions that a person is asked again")
	flags.StringVar(&f.out, "out", "answers", "folder for answers.csv, and at the end for the map")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8765", "address and port to serve; :8765 is for everybody who reaches this machine, port 0 a free one")
	flags.StringVar(&f.code, "code", "", "what people must know to join, with --listen or --host for others (default: a random one)")
	flags.StringSliceVar(&f.hosts, "host", nil, "name of this server in the addresses of browsers, beside numbers and localhost")
	f.v.add(c)
	f.simulateFlags.add(c)
	completeFlag(c, "question", completeWords("compare", "odd", "alike"))
	completeFlag(c, "choose", completeWords(ask.Choices()...))
	completeFolder(c, "out")
	return c
}

// params checks the flags that both forms of the command have.
func (f *askFlags) params() (p ask.Params, err error) {
	var wrong []error
	parsed := func(flag string, err error) {
		if err != nil {
			wrong = append(wrong, usageError{fmt.Errorf("flag --%s: %w", flag, err)})
		}
	}
	p.Random, p.Repeat = f.random, f.repeat
	p.Kind, err = ask.ParseKind(f.question)
	parsed("question", err)
	p.Choose, err = ask.ParseChoice(f.choose)
	parsed("choose", err)
	return p, together(wrong...)
}

// ours refuses a folder without answers that has files of the names that are written there: they are somebody else's.
func (f *askFlags) ours(answers string) error {
	if exists(answers) {
		return nil
	}
	for _, name := range []string{"items.txt", "comparisons.csv", "coordinates.csv", "map.json", "map.svg", "metric.json"} {
		if path := filepath.Join(f.out, name); exists(path) {
			return usageError{fmt.Errorf("flag --out: %s is there, and no answers.csv beside it: it would be written over; want another folder", path)}
		}
	}
	return nil
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// check refuses flags and arguments that do not go together.
func (f *askFlags) check(c *cobra.Command, args []string) error {
	var errs []error
	wrong := func(format string, values ...any) { errs = append(errs, usageError{fmt.Errorf(format, values...)}) }
	if len(args) != 1 {
		wrong("metriclab ask takes a folder of pictures or a file with a line for each item, got %q", args)
	}
	for _, name := range simulateOnly {
		if c.Flags().Changed(name) {
			wrong("flag --%s: only together with --simulate", name)
		}
	}
	if f.out == "" {
		wrong("flag --out: no folder given")
	}
	if f.v.vectors == stdin {
		wrong("flag --vectors: - is not allowed: they are read again at the end")
	}
	if _, err := net.ResolveTCPAddr("tcp", f.listen); err != nil {
		wrong("flag --listen: %w", err)
	}
	if f.code != "" && !f.others() {
		wrong("flag --code: only with --listen for others: %s is this machine", f.listen)
	}
	const least, most = 4, 20 // as the page has
	if n := utf8.RuneCountInString(f.code); n > 0 && (n < least || n > most) {
		wrong("flag --code: %d characters are not allowed, want %d to %d", n, least, most)
	}
	if f.code != strings.TrimSpace(f.code) || strings.ContainsFunc(f.code, unicode.IsControl) {
		wrong("flag --code: blanks around it, and control characters, are not allowed: nobody could type them")
	}
	for _, host := range f.hosts {
		if host == "" || strings.ContainsAny(host, ":/*@ ") {
			wrong("flag --host: %q is not allowed, want a name such as room.example, without a scheme and a port", host)
		}
	}
	_, err := f.v.given(c)
	return together(append(errs, err)...)
}

// others tells whether people who are not at this machine reach the server, maybe by another one before it.
func (f *askFlags) others() bool { return !f.local() || len(f.hosts) > 0 }

// local tells whether only this machine reaches the port.
func (f *askFlags) local() bool {
	host, _, _ := net.SplitHostPort(f.listen)
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (a *app) ask(c *cobra.Command, f *askFlags, args []string) error {
	ctx := c.Context()
	p, err := f.params()
	if err := together(f.check(c, args), err); err != nil {
		return err
	}
	items, err := askserver.Open(args[0])
	if err != nil {
		return err
	}
	defer items.Close()
	a.note(args[0], items.Notes)
	if f.v.vectors != "" {
		if err := f.checkVectors(ctx, a, items.Names); err != nil {
			return err
		}
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	session, err := ask.New(mathrand.NewPCG(binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])), len(items.Names), p)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", args[0], err)}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return err
	}
	answers := filepath.Join(f.out, "answers.csv")
	if err := f.ours(answers); err != nil {
		return err
	}
	journal, found, err := askserver.OpenJournal(answers, p.Kind, items.Names)
	if err != nil {
		return err
	}
	defer journal.Close()
	for _, answer := range found.Answers {
		if err := session.Learn(answer); err != nil {
			return err
		}
	}
	if found.Torn != "" {
		a.note(answers, []string{"the last line has no end, as after a process that was killed while it wrote: it does not count, and is now in " + found.Torn})
	}
	if found.Strangers > 0 && len(found.Answers) == 0 {
		return usageError{fmt.Errorf("flag --out: no answer in %s is about items of %s: want another folder", answers, args[0])}
	}
	if found.Strangers > 0 {
		a.note(answers, []string{fmt.Sprintf("kept, but not learned from: %s about items that %s does not have", plural.Of(found.Strangers, "answer"), args[0])})
	}
	if err := atomicfile.Replace(filepath.Join(f.out, "items.txt"), []byte(strings.Join(items.Names, "\n")+"\n")); err != nil {
		return err
	}
	if f.others() {
		f.code = strings.ToUpper(cmp.Or(f.code, askserver.NewCode()))
	}
	server := askserver.New(askserver.Config{
		Items: items, Session: session, Journal: journal, Code: f.code, Hosts: f.hosts, Key: askserver.NewKey(),
		Log: func(format string, values ...any) { fmt.Fprintf(a.err, format+"\n", values...) },
	})
	what := "line"
	if items.Pictures() {
		what = "picture"
	}
	fmt.Fprintf(a.out, "%s of %s, %s so far in %s\n", plural.Of(len(items.Names), what), args[0], plural.Of(len(found.Answers), "answer"), answers)
	f.tell(a, l, server)
	if err := server.Serve(ctx, l); err != nil {
		return err
	}
	if err := journal.Close(); err != nil {
		return err
	}
	return a.askEnd(f, p.Kind, session, items.Names, found.Strangers > 0)
}

// tell prints the addresses.
func (f *askFlags) tell(a *app, l net.Listener, s *askserver.Server) {
	here := askserver.Address(l)
	to := []string{here}
	if !f.local() {
		to = addresses(l)
	}
	for _, address := range to {
		fmt.Fprintf(a.out, "  people:  %s\n", address)
	}
	if f.others() {
		fmt.Fprintf(a.out, "  code:    %s\n", f.code)
	}
	fmt.Fprintf(a.out, "  you:     %s/live?key=%s\n", here, s.Key)
	if !f.local() {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		fmt.Fprintf(a.out, "Whoever reaches port %s of this machine finds the page, and with the code sees the items and answers. It is plain HTTP, which hides\nnothing: who shares the network can read the code and the answers. Stop it when you are done.\n", port)
	}
	fmt.Fprintln(a.out, "Ctrl-C ends, and writes the map.")
}

// addresses lists where other machines may reach a listener.
func addresses(l net.Listener) (out []string) {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return []string{"http://" + net.JoinHostPort(host, port)}
	}
	all, _ := net.InterfaceAddrs()
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			out = append(out, "http://"+net.JoinHostPort(n.IP.String(), port))
		}
	}
	return append(out, askserver.Address(l))
}

// checkVectors returns an error unless there is a vector for each item.
func (f *askFlags) checkVectors(ctx context.Context, a *app, names []string) error {
	in, err := f.v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	row := make([]float64, in.File.Dim())
	for i := range in.File.Rows() { // no number is NaN
		if err := errors.Join(ctx.Err(), in.File.ReadRows(row, i)); err != nil {
			return err
		}
	}
	if in.Objects.Names != nil {
		known := slices.Sorted(slices.Values(in.Objects.Names))
		for _, name := range names {
			if _, ok := slices.BinarySearch(known, name); !ok {
				return fmt.Errorf("%s: no vector has the id %q, which is an item", f.v.vectors, name)
			}
		}
		return nil
	}
	if in.File.Rows() != len(names) {
		return fmt.Errorf("%s: %s, want one for each of %s, in their order", f.v.vectors, plural.Of(in.File.Rows(), "vector"), plural.Of(len(names), "item"))
	}
	return nil
}

// askEnd writes what the answers say, by commands that it prints. Where the file has answers of strangers, about other items, those about names are written
// to a file of their own.
func (a *app) askEnd(f *askFlags, k ask.Kind, s *ask.Session, names []string, strangers bool) error {
	in := func(name string) string { return filepath.Join(f.out, name) }
	ts := s.Comparisons()
	fmt.Fprintf(a.out, "\n%s in %s\n", plural.Of(s.Count(), "answer"), in("answers.csv"))
	if len(ts) == 0 {
		fmt.Fprintln(a.out, "They compare nothing yet: there is no map.")
		return nil
	}
	compared := in("answers.csv")
	if k == ask.KindAlike || strangers {
		compared = in("comparisons.csv")
		var b strings.Builder
		e := records{}
		if err := e.head("a", "near", "far"); err != nil {
			return err
		}
		for _, t := range ts {
			if err := e.row(names[t.A], names[t.Near], names[t.Far]); err != nil {
				return err
			}
		}
		b.Write(e.take())
		if err := atomicfile.Replace(compared, []byte(b.String())); err != nil {
			return err
		}
	}
	commands := [][]string{
		{"fit", "--triplets", compared, "--learner", "tste", "--dim", "2", "--param", "tau=0.1", "--param", "starts=3", "--param", "iterations=300", "--coordinates", in("coordinates.csv"), "--out", in("map.json")},
		{"plot", "--model", in("map.json"), "--out", in("map.svg")},
	}
	if f.v.vectors != "" {
		told := []string{"--triplets", compared}
		if k == ask.KindAlike && !strangers {
			told = []string{"--pairs", in("answers.csv")}
		}
		metric := []string{"fit", "--vectors", f.v.vectors, told[0], told[1], "--learner", "itml", "--out", in("metric.json")}
		if f.v.ids != "" {
			metric = append(metric, "--ids", f.v.ids)
		} else if strings.HasSuffix(strings.ToLower(f.v.vectors), ".npy") {
			metric = append(metric, "--ids", in("items.txt"))
		}
		commands = append(commands, metric)
	}
	for _, args := range commands {
		fmt.Fprintf(a.out, "\n$ metriclab %s\n", shellword.Join(args))
		if code := execute(context.Background(), a, args); code != exitOK {
			return exitError(code)
		}
	}
	return nil
}
