package memory

import "fmt"

// Complaint is what is wrong with something that somebody gave, in words for them. Its parts are apart, so
// that it can be told in other languages.
type Complaint struct {
	Format string // as fmt.Sprintf has it, in English: a sentence without its full stop
	Args   []any
}

func (c Complaint) Error() string { return fmt.Sprintf(c.Format, c.Args...) }

// Complain is a Complaint.
func Complain(format string, args ...any) error { return Complaint{format, args} }
