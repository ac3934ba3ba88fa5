// Package crash makes errors of panics. Begin with Recover.
package crash

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Recover makes an error of a panic.
func Recover(doing string, err *error) {
	if p := recover(); p != nil {
		*err = errors.New(Report(doing, p))
	}
}

// Report says where something panicked, and for what kind of reason. The value of a panic may quote what
// somebody wrote, so only that of the runtime's own is told.
func Report(doing string, value any) string {
	if err, ok := value.(runtime.Error); ok {
		return fmt.Sprintf("%s: panic: %v\n%s", doing, err, debug.Stack())
	}
	return fmt.Sprintf("%s: panic with a %T\n%s", doing, value, debug.Stack())
}
