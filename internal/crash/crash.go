// Package crash turns panics into errors. Begin with Recover.
package crash

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Recover turns a panic into an error. Defer it.
func Recover(doing string, err *error) {
	if p := recover(); p != nil {
		*err = errors.New(Report(doing, p))
	}
}

// Report describes a panic and where it happened. A panic's value may quote what somebody wrote, so only a
// runtime error's is included.
func Report(doing string, value any) string {
	if err, ok := value.(runtime.Error); ok {
		return fmt.Sprintf("%s: panic: %v\n%s", doing, err, debug.Stack())
	}
	return fmt.Sprintf("%s: panic with a %T\n%s", doing, value, debug.Stack())
}
