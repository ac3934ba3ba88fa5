// Package licences holds the texts of Hark's licence and of those of all modules that are linked into it.
package licences

import _ "embed"

// Text is Hark's licence and those of what is linked into it on any system that releases are made for, each with the
// modules that it is for.
//
//go:generate go test . -run TestText -update
//go:embed licences.txt
var Text string
