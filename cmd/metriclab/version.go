package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say what this program was built from and how it multiplies matrices",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := a.world.Build
			if asJSON {
				return a.printJSON(b)
			}
			dirty := ""
			if b.Dirty {
				dirty = " with changes"
			}
			level := ""
			if b.GOAMD64 != "" {
				level = " " + b.GOAMD64
			}
			_, err := fmt.Fprintf(a.out, "metriclab %s\nrevision %s%s\n%s %s/%s%s\nproducts of matrices: %s\n", b.Version, b.Revision, dirty, b.Go, b.GOOS, b.GOARCH, level, b.Product)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
