// Package pattern holds regular expressions that are compiled when they are first used: one command uses few
// of Hark's, and compiling all of them takes longer than it does.
package pattern

import (
	"regexp"
	"sync"
)

// Of gives the regular expression that expr describes. It panics if there is none.
func Of(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
