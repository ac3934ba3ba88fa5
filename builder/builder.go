package builder

// Layout is the form of a prompt.
type Layout string

const (
	// LayoutSections has a system message, and one message of the user's with all sections.
	LayoutSections Layout = "sections"
	// LayoutPlain is short and without marks, for small models.
	LayoutPlain Layout = "plain"
	// LayoutChat is as LayoutSections, with the session's turns as messages of their own.
	LayoutChat Layout = "chat"
)

// DefaultMaxTokens is the budget of a prompt unless Options say otherwise.
const DefaultMaxTokens = 4000

// Options are how a Builder builds.
type Options struct {
	Layout    Layout // empty: LayoutSections
	MaxTokens int    // of all messages with their overhead; 0: DefaultMaxTokens
	MaxChars  int    // of what stands under the previous context's heading, in characters; 0: no such limit
	Citations bool   // whether history items are numbered, and the model told to cite them
	Labels    Labels // the zero value: DefaultLabels
}

// Counter counts the tokens of a text. It may be called from several goroutines. A text has no more tokens
// than bytes.
type Counter interface {
	Count(text string) int
}

// Labels are the words and marks of participants and history.
type Labels struct{}

// Builder builds prompts. It may be used by several goroutines.
type Builder struct{}

// New returns an error if o can't be followed.
func New(o Options, count Counter) (*Builder, error) { return &Builder{}, nil }

// Build lays in out.
func (b *Builder) Build(in Input) Prompt { return Prompt{} }

// History is in's history section alone, at most maxChars characters long, and the lines that it holds, in
// the order they stand there.
func (b *Builder) History(in Input, maxChars int) (string, []Shown) { return "", nil }
