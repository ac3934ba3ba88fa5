package memory

import "fmt"

// ValidationError is an error in what a user entered, in words for that user. Format and Args are separate, so that
// it can be translated.
type ValidationError struct {
	Format string // as fmt.Sprintf has it, in English: a sentence without its full stop
	Args   []any
}

func (c ValidationError) Error() string { return fmt.Sprintf(c.Format, c.Args...) }

// Complain returns a ValidationError.
func Complain(format string, args ...any) error { return ValidationError{format, args} }
