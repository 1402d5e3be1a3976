package main

import (
	"github.com/spf13/cobra"
)

// topics are what several commands have in common: metriclab help NAME.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "tables", Short: "How a table is read: separators, headers, missing cells, classes, sparse rows", Long: aboutTables},
		{Use: "pairs", Short: "Pairs and chunklets that you know", Long: aboutPairs},
		{Use: "vectors", Short: "Vectors such as embeddings, with pairs or comparisons of them", Long: aboutVectors + "\n\n" + aboutVectorSplits},
		{Use: "gram", Short: "Similarities without vectors: a kernel matrix, with constraints or classes", Long: aboutGram},
		{Use: "comparisons", Short: `Comparisons "a is more like near than like far", of objects without vectors`, Long: aboutTriplets + "\n\n" + aboutFitTriplets},
		{Use: "models", Short: "What predict, neighbours, transform and plot take, read and write", Long: aboutModels},
	}
}

// usageTemplate has all flags in one list.
const usageTemplate = `Usage:{{if .Runnable}} {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if gt (len .Aliases) 0}}

Aliases: {{.NameAndAliases}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if (or .HasAvailableLocalFlags .HasAvailableInheritedFlags)}}

Flags:
{{allFlags . | trimTrailingWhitespaces}}{{end}}{{if .HasHelpSubCommands}}

More to read:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{$.CommandPath}} help {{rpad .Name 12}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableSubCommands}}

{{.CommandPath}} [command] --help tells more about a command.{{end}}
`

func init() {
	cobra.AddTemplateFunc("allFlags", func(c *cobra.Command) string { return c.Flags().FlagUsages() })
}
