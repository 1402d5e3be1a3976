// Package examples has the source of a program that others begin with. Its tests build the programs below it and compare
// what they print with their output.txt; -update rewrites it.
package examples

import _ "embed"

// Spec is the program spec: an experiment of one's own.
//
//go:embed spec/main.go
var Spec string
