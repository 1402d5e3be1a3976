package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
)

func (a *app) dataCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "List, fetch and check data sets",
		Args:  noArgs, SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.dataListCommand(), a.dataGetCommand(), a.dataVerifyCommand())
	return c
}

// needed lists the registered data sets that the experiments use at full scale.
func (a *app) needed() []string {
	var out []string
	for _, p := range a.papers {
		for _, s := range p.Experiments {
			for _, c := range s.Cells(experiment.Full) {
				if _, err := datasets.Lookup(c.Dataset); err == nil && !c.Supplied && !slices.Contains(out, c.Dataset) {
					out = append(out, c.Dataset)
				}
			}
		}
	}
	return out
}

// listedData is one data set in the JSON of data list and data verify.
type listedData struct {
	Name     string       `json:"name"`
	Shape    string       `json:"shape"`
	Licence  string       `json:"licence"`
	Citation string       `json:"citation"`
	Bytes    int64        `json:"bytes"`  // of the files of known size
	Needed   bool         `json:"needed"` // by an experiment
	Usable   bool         `json:"usable"` // all files are there, and right as far as was looked
	Files    []listedFile `json:"files"`
}

type listedFile struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`  // 0 if it is not known
	SHA256 string `json:"sha256"` // "" if none is known
	State  string `json:"state"`
	Why    string `json:"why,omitempty"` // in the state "wrong content": the check that failed
}

// verdict is the state, or the check that failed and why.
func (f listedFile) verdict() string { return cmp.Or(f.Why, f.State) }

func listData(name string, needed []string, files []datasets.FileStatus) (listedData, error) {
	e, err := datasets.Lookup(name)
	if err != nil {
		return listedData{}, err
	}
	l := listedData{
		Name: e.Name, Shape: e.Shape, Licence: e.Licence, Citation: e.Citation, Bytes: e.Bytes(),
		Needed: slices.Contains(needed, e.Name), Usable: true,
	}
	for _, f := range files {
		l.Files = append(l.Files, listedFile{f.Path, f.Bytes, f.SHA256, f.State.String(), f.Why})
		l.Usable = l.Usable && f.State.Usable()
	}
	return l, nil
}

// state sums up the states of the files.
func (l listedData) state() string {
	var states []string
	for _, f := range l.Files {
		if !slices.Contains(states, f.State) {
			states = append(states, f.State)
		}
	}
	if len(states) == 1 {
		return states[0]
	}
	if l.Usable {
		return "present"
	}
	return "incomplete"
}

func (a *app) dataListCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the data sets, what they are and whether they are here",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			store, needed := datasets.Open(dir), a.needed()
			var all []listedData
			for _, e := range datasets.Registry() {
				files, err := store.Status(e.Name)
				if err != nil {
					return err
				}
				l, err := listData(e.Name, needed, files)
				if err != nil {
					return err
				}
				all = append(all, l)
			}
			if asJSON {
				return a.printJSON(all)
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\tstate\tneeded\tMB\tshape\tlicence")
			for _, l := range all {
				need := ""
				if l.Needed {
					need = "yes"
				}
				size := "?"
				if l.Bytes > 0 {
					size = fmt.Sprintf("%.1f", float64(l.Bytes)/1e6)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, l.state(), need, size, l.Shape, l.Licence)
			}
			return w.Flush()
		},
	}
	addData(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) dataGetCommand() *cobra.Command {
	var dir string
	mirror := a.mirror
	c := &cobra.Command{
		Use:   "get [name ...]",
		Short: "Fetch data sets (default: those that the experiments need)",
		Long: `Fetch the files of data sets that are missing or wrong, from the mirror if there
is one, else from their official sources, and check them as data verify does. A file
that fails is refused, and the old one stays. An interrupted download goes on where it
was. METRICLAB_MIRROR in the environment sets the mirror, too. No copy is known of data
that are not public: get NAME says what to supply where.`,
		RunE: func(c *cobra.Command, names []string) error {
			if len(names) == 0 {
				names = a.needed()
			}
			store := datasets.Open(dir)
			for _, name := range names {
				if _, err := datasets.Lookup(name); err != nil {
					return err
				}
			}
			var failed []error
			for _, name := range names {
				fmt.Fprintf(a.err, "getting %s\n", name)
				e, err := datasets.Lookup(name)
				if err != nil {
					return err
				}
				for _, f := range e.Files { // what a killed process left
					atomicfile.Sweep(time.Now(), filepath.Dir(store.Path(f.Path)))
				}
				opts := datasets.Options{
					Mirror: mirror,
					Warn:   func(file, message string) { fmt.Fprintf(a.err, "warning: %s: %s\n", file, message) },
				}
				bars := a.downloadBars(&opts)
				err = store.Get(c.Context(), name, opts)
				bars()
				if err != nil {
					failed = append(failed, err)
					if c.Context().Err() != nil {
						break
					}
					continue
				}
				verified := ""
				if slices.ContainsFunc(e.Files, func(f datasets.File) bool { return f.SHA256 == "" }) {
					verified = ", not verified: no checksum is known"
				}
				fmt.Fprintf(a.out, "%s is complete in %s%s\n", name, dir, verified)
			}
			return errors.Join(failed...)
		},
	}
	addData(c, &dir)
	c.Flags().StringVar(&mirror, "mirror", a.mirror, "folder or http(s) address with the files under their paths below the data folder")
	return c
}

func (a *app) dataVerifyCommand() *cobra.Command {
	var dir, as string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify [name ...]",
		Short: "Compare the files of data sets with their checksums (default: those that the experiments need)",
		Long: `Read the files of data sets to their end and say how each is verified:

  ok: SHA-256      the bytes are those of the known copy
  ok: content      the bytes differ, for the file was saved or packed again, but the
                   values are those of the known copy: a SHA-256 over all of them
  not verified     no checksum is known, for a user supplied the file; it is of the
                   kind that the registry names
  wrong ...        the size, the SHA-256, the kind, the data, the counts or the values
                   are wrong, with the reason
  missing

The exit code is 1 if a file is missing or wrong. With --as, the one argument is a file
that lies anywhere, and is compared with the registry's file of that path.`,
		RunE: func(c *cobra.Command, names []string) error {
			needed := a.needed()
			if c.Flags().Changed("as") {
				return a.verifyAs(c, as, names)
			}
			if len(names) == 0 {
				names = needed
			}
			store := datasets.Open(dir)
			var all []listedData
			var bad []string
			for _, name := range names {
				files, err := store.Verify(c.Context(), name)
				if err != nil {
					return err
				}
				l, err := listData(name, needed, files)
				if err != nil {
					return err
				}
				if !l.Usable {
					bad = append(bad, name)
				}
				all = append(all, l)
			}
			if asJSON {
				if err := a.printJSON(all); err != nil {
					return err
				}
			} else {
				for _, l := range all {
					for _, f := range l.Files {
						fmt.Fprintf(a.out, "%s: %s\n", f.Path, f.verdict())
					}
				}
			}
			if len(bad) > 0 {
				return fmt.Errorf("data are missing or wrong; get them with: metriclab data get %s", strings.Join(bad, " "))
			}
			return nil
		},
	}
	addData(c, &dir)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&as, "as", "", "compare the file that is the argument with the registry's file of this path, such as nist16/nist16.mat")
	c.MarkFlagsMutuallyExclusive("as", "json")
	c.MarkFlagsMutuallyExclusive("as", "data")
	return c
}

// verifyAs compares one file with the registry.
func (a *app) verifyAs(c *cobra.Command, as string, files []string) error {
	if len(files) != 1 {
		return usageError{fmt.Errorf("--as: %d files, want one", len(files))}
	}
	st, err := datasets.VerifyFile(c.Context(), as, files[0])
	if err != nil {
		return err
	}
	f := listedFile{State: st.State.String(), Why: st.Why}
	fmt.Fprintf(a.out, "%s: %s\n", st.Path, f.verdict())
	if !st.State.Usable() {
		return fmt.Errorf("%s is not %s: %s", files[0], st.Path, f.verdict())
	}
	return nil
}
