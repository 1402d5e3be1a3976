package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"metriclab/pkg/datasets"
)

// advise says what to do about cells that are no numbers.
func advise(err error, first *datasets.CellError, impute bool) string {
	problems := []datasets.ColumnProblem{{Column: first.Column, Kind: first.Kind, Cell: first.Cell, Absent: []string{first.Cell}}}
	if all, ok := errors.AsType[*datasets.CellsError](err); ok {
		problems = all.Rest
	}
	var words, absent []string
	var says []string
	say := func(text string) {
		if !slices.Contains(says, text) {
			says = append(says, text)
		}
	}
	for _, p := range problems {
		switch column := strings.Trim(p.Column, `"`); p.Kind {
		case datasets.CellWord:
			words = append(words, shellWord(column))
		case datasets.CellAbsent:
			absent = append(absent, p.Absent...)
		case datasets.CellPercent:
			say("delete the signs of per cent: they are no part of a number")
		case datasets.CellDate:
			say(fmt.Sprintf("a date is no feature: --drop %s leaves it out", shellWord(column)))
		case datasets.CellMarks:
			say("--decimal-comma reads 1.250,5 as 1250.5, --decimal-comma=false reads 1,250.5 so")
		default:
			if strings.Contains(p.Cell, ",") {
				say("if the comma is decimal: --decimal-comma")
			}
		}
	}
	if len(words) > 0 {
		list := strings.Join(words, ",")
		say(fmt.Sprintf("for columns of words: --one-hot %s makes a feature of each value, --drop %s leaves them out; for a missing cell: --missing %s", list, list, shellWord(problems[0].Cell)))
	}
	if len(absent) > 0 {
		slices.Sort(absent)
		list := strings.Join(slices.Concat(datasets.MissingCells[1:], slices.Compact(absent)), ",")
		also := ""
		if !impute {
			also = " --impute mean"
		}
		say(fmt.Sprintf("for missing cells: --missing %s%s", shellWord(list), also))
	}
	if len(says) == 0 {
		return ""
	}
	return "; " + strings.Join(says, "; ")
}

// shellWord quotes a word for a command line if it needs it, and shortens a long one.
func shellWord(s string) string {
	if s = oneLine(s); strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_.=+%/@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
