// Package pattern holds regular expressions that are compiled at first use. Compiling all of Hark's would take longer
// than most commands do.
package pattern

import (
	"regexp"
	"sync"
)

// Of gives the regular expression that expr describes. It panics if there is none.
func Of(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
