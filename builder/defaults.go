package builder

const (
	// DefaultMaxTokens is the default budget of a prompt, PlainMaxTokens that of LayoutPlain.
	DefaultMaxTokens = 4000
	PlainMaxTokens   = 700
	// MinTokens is enough for every layout with the labels of every language: headings, one sentence of
	// instructions and some words of the query.
	MinTokens = 100
	// UsefulTokens is the least budget of a prompt that is worth an answer, but in LayoutPlain: it has the rules, a
	// question and some of what was said. Below it the question still stands, and little else.
	UsefulTokens = 700

	// Characters of a history line and of a person's data that are shown at first.
	DefaultLineChars = 150
	DefaultDataChars = 100
)
