package memory

import "fmt"

// Complaint is an error in what a user entered, in words for that user. Format and Args are separate, so that
// it can be translated.
type Complaint struct {
	Format string // as fmt.Sprintf has it, in English: a sentence without its full stop
	Args   []any
}

func (c Complaint) Error() string { return fmt.Sprintf(c.Format, c.Args...) }

// Complain returns a Complaint.
func Complain(format string, args ...any) error { return Complaint{format, args} }
