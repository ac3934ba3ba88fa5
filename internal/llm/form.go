package llm

import (
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/internal/llm/failure"
	"hark/internal/pattern"
)

// form is how requests are written for a server that doesn't take all that OpenAI's does. The zero form is OpenAI's.
type form struct {
	without     []string // fields that are left out
	otherTokens bool     // the longest answer has its other name: max_completion_tokens, or max_tokens
	joined      bool     // neighbours of one role are one message
	oneSystem   bool     // the system's text stands in the first user's message
	asText      bool     // calls and their outcomes are a text, and then no tools are offered
	noTools     bool     // no tools are offered
	blind       bool     // images are left out
	unstreamed  bool     // the answer comes whole
}

func (f form) equals(other form) bool {
	same := slices.Equal(f.without, other.without)
	f.without = nil
	other.without = nil
	return same && f.flags() == other.flags()
}

func (f form) flags() [7]bool {
	return [7]bool{f.otherTokens, f.joined, f.oneSystem, f.asText, f.noTools, f.blind, f.unstreamed}
}

// with returns what a server takes that needs both.
func (f form) with(other form) form {
	for _, name := range other.without {
		f = f.omit(name)
	}
	f.otherTokens = f.otherTokens || other.otherTokens
	f.joined = f.joined || other.joined
	f.oneSystem = f.oneSystem || other.oneSystem
	f.asText = f.asText || other.asText
	f.noTools = f.noTools || other.noTools
	f.blind = f.blind || other.blind
	f.unstreamed = f.unstreamed || other.unstreamed
	return f
}

func (f form) omit(field string) form {
	if slices.Contains(f.without, field) {
		return f
	}
	f.without = append(slices.Clone(f.without), field)
	return f
}

// says tells the operator what Hark does for the server.
func (f form) says() (all []string) {
	for _, name := range f.without {
		if !plainCode().MatchString(name) { // a server names fields beside messages as it likes
			name = "a field that it put beside a message"
		}
		all = append(all, "leaves out "+name)
	}
	for _, does := range []struct {
		is   bool
		what string
	}{
		{f.otherTokens, "uses the other name for the longest answer (max_tokens, max_completion_tokens)"},
		{f.joined, "joins messages of one role that follow one another"},
		{f.oneSystem, "puts the system's text into the first user's message"},
		{f.asText, "shows the outcomes of tools as text"},
		{f.noTools, "offers no tools"},
		{f.blind, "leaves out images"},
		{f.unstreamed, "doesn't ask for a stream"},
	} {
		if does.is {
			all = append(all, does.what)
		}
	}
	return all
}

// plainCode matches codes that can't hold anybody's words.
var plainCode = pattern.Of(`^[a-zA-Z][a-zA-Z0-9_./-]{0,39}$`)

// sent is what a request has that a server may refuse.
type sent struct {
	fields     []string // at the top, and those that a server put beside messages
	length     int      // bytes of all texts
	neighbours bool     // messages of one role follow one another
	system     bool
	calls      bool // outcomes of tools
	tools      bool
	images     bool
	streamed   bool
}

// step is one thing that a request is asked again without.
type step struct {
	name    string
	matters func(sent) bool
	apply   func(*form)
}

// steps in the order in which they are tried, after the field that the server names.
var steps = []step{
	{"stream_options", has("stream_options"), func(f *form) { *f = f.omit("stream_options") }},
	{"the name of max_tokens", hasTokens, func(f *form) { f.otherTokens = true }},
	{"temperature", has("temperature"), func(f *form) { *f = f.omit("temperature") }},
	{"thinking", hasThinking, func(f *form) {
		for _, name := range thinkingFields {
			*f = f.omit(name)
		}
	}},
	{"neighbours", func(s sent) bool { return s.neighbours }, func(f *form) { f.joined = true }},
	{"system", func(s sent) bool { return s.system }, func(f *form) {
		f.joined = true
		f.oneSystem = true
	}},
	{"tools", hasTools, nil}, // see withoutTools
	{"stream", func(s sent) bool { return s.streamed }, func(f *form) { f.unstreamed = true }},
	{"system and tools", func(s sent) bool { return s.system && hasTools(s) }, nil},
}

func has(field string) func(sent) bool {
	return func(s sent) bool { return slices.Contains(s.fields, field) }
}

func hasTools(s sent) bool { return s.calls || s.tools }

func hasThinking(s sent) bool {
	return slices.ContainsFunc(thinkingFields, func(name string) bool { return has(name)(s) })
}

func hasTokens(s sent) bool { return has(maxTokensField)(s) || has(maxCompletionField)(s) }

// withoutTools gives up outcomes as messages where there are some, else tools: what is learnt from outcomes must not
// keep tools from later questions.
func withoutTools(f form, s sent) form {
	if s.calls {
		f.asText = true
	} else {
		f.noTools = true
	}
	return f
}

func (st step) on(f form, s sent) form {
	if st.apply == nil {
		return withoutTools(f, s)
	}
	f.without = slices.Clone(f.without)
	st.apply(&f)
	return f
}

// ladder finds the form that a server takes, by what it says of those that it was sent. A step that changed nothing is
// taken back, so that no more is given up than must be; if none helped alone, all are tried together.
type ladder struct {
	form  form // the last that was sent
	base  form // what is known to be needed
	sent  sent // what the first had
	said  failure.Failure
	begun bool
	named []string        // fields that were left out because the server named them
	tried map[string]bool // steps, by name
	all   bool            // all steps together were tried
}

func newLadder(known form) *ladder {
	return &ladder{
		form:  known,
		base:  known,
		tried: map[string]bool{},
	}
}

// next makes a new form after a refusal of the last, for a request that had s; false if none is left.
func (l *ladder) next(f failure.Failure, s sent) bool {
	switch {
	case !l.begun:
		l.sent = s
	case f.Likeness() != l.said.Likeness():
		l.base = l.form // the server took what it refused before
	}
	l.begun = true
	l.said = f
	switch {
	case s.images && f.TakesNoImages() && l.try("images"):
		l.base.blind = true
	case (s.tools || s.calls) && f.TakesNoTools() && l.try("no tools"):
		l.base = withoutTools(l.base, s)
	case l.omit(f.Named(s.fields)):
	default:
		return l.climb(l.sent)
	}
	l.form = l.base
	return true
}

// try reports whether a step wasn't tried before.
func (l *ladder) try(name string) bool {
	before := l.tried[name]
	l.tried[name] = true
	return !before
}

// omit leaves out a field that the server names, if it was sent.
func (l *ladder) omit(field string) bool {
	if field == "" || slices.Contains(l.named, field) {
		return false
	}
	l.named = append(l.named, field)
	switch field {
	case "stream":
		l.base.unstreamed = true
	case "tools", "tool_choice":
		l.base.noTools = true
	case maxTokensField:
		l.renameTokens(field, maxCompletionField)
	case maxCompletionField:
		l.renameTokens(field, maxTokensField)
	default:
		l.base = l.base.omit(field)
	}
	return true
}

// renameTokens uses the other name for the longest answer if the server names that too, or if the one it refuses was tried
// in place of that; else it leaves the field out.
func (l *ladder) renameTokens(field, other string) {
	switch {
	case l.form.otherTokens != l.base.otherTokens: // the last step brought it
	case strings.Contains(l.said.Message, other) && !slices.Contains(l.named, other):
		l.base.otherTokens = !l.base.otherTokens
	default:
		l.base = l.base.omit(field)
	}
}

// climb takes the next step.
func (l *ladder) climb(s sent) bool {
	for _, st := range steps {
		if !st.matters(s) || !l.try(st.name) {
			continue
		}
		shape := l.base
		if st.name == "system and tools" {
			shape.joined = true
			shape.oneSystem = true
		}
		l.form = st.on(shape, s)
		return true
	}
	if l.all {
		return false
	}
	l.all = true
	before := l.base
	l.form = l.base
	for _, st := range steps {
		if st.matters(s) {
			l.form = st.on(l.form, s)
		}
	}
	return !l.form.equals(before)
}

// shaped returns messages as a server of this form takes them.
func (f form) shaped(messages []chat.Message) []chat.Message {
	if f.asText {
		messages = withoutCalls(messages)
	}
	if f.oneSystem {
		messages = withoutSystem(messages)
	}
	if f.joined || f.asText {
		messages = joined(messages)
	}
	return messages
}

// withoutCalls writes calls and their outcomes as text.
func withoutCalls(messages []chat.Message) (all []chat.Message) {
	calls := map[string]chat.Call{}
	for _, m := range messages {
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		called := len(m.Calls) > 0
		m.Calls = nil
		if called {
			m.Extra = nil
		}
		if m.Role == chat.FromTool {
			c := calls[m.CallID]
			m = chat.Message{Role: chat.User, Content: "(What the tool " + c.Name + " gave for " + object(c.Arguments) +
				":)\n" + m.Content}
		}
		if !called || m.Content != "" {
			all = append(all, m)
		}
	}
	return all
}

// withoutSystem puts what the system says before what the first user does.
func withoutSystem(messages []chat.Message) []chat.Message {
	var system []string
	var all []chat.Message
	for _, m := range messages {
		if m.Role == chat.System {
			system = append(system, m.Content)
			continue
		}
		all = append(all, m)
	}
	if system == nil {
		return messages
	}
	said := strings.Join(system, "\n\n")
	if len(all) == 0 || all[0].Role != chat.User {
		return append([]chat.Message{{Role: chat.User, Content: said}}, all...)
	}
	all[0].Content = said + "\n\n" + all[0].Content
	return all
}

// joined joins neighbours of one role, but not those with calls or outcomes.
func joined(messages []chat.Message) (all []chat.Message) {
	for _, m := range messages {
		last := len(all) - 1
		if last < 0 || !canJoin(all[last], m) {
			all = append(all, m)
			continue
		}
		all[last].Content = strings.TrimSpace(all[last].Content + "\n\n" + m.Content)
		all[last].Images = slices.Concat(all[last].Images, m.Images)
	}
	return all
}

func canJoin(a, b chat.Message) bool {
	return a.Role == b.Role && a.Role != chat.FromTool && len(a.Calls) == 0 && len(b.Calls) == 0
}
