package memory

import "fmt"

// ValidationError is an error in a user's input, in words for that user. Format and Args are separate, so
// that it can be translated.
type ValidationError struct {
	Format string // for fmt.Sprintf, in English, without a full stop
	Args   []any
}

func (c ValidationError) Error() string { return fmt.Sprintf(c.Format, c.Args...) }

// Complain returns a ValidationError.
func Complain(format string, args ...any) error { return ValidationError{format, args} }
