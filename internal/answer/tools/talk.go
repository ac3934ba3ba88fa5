package tools

import (
	"math"
	"slices"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/internal/tokens"
	"hark/memory"
)

const (
	minRoom      = 500 // tokens for calls and outcomes, below which no tool is offered
	callOverhead = 12  // tokens that servers add to a call and a tool's description
)

// takesTools reports whether a model is offered tools, which its server may have refused.
func takesTools(model chat.Model) bool {
	m, says := model.(interface{ TakesTools() bool })
	return !says || m.TakesTools()
}

// with returns t with a further tool.
func (t Talk) with(b *builder.Builder, tool Tool) Talk {
	t.offered = append(t.offered, tool)
	for _, part := range []string{tool.Name, tool.Description, string(tool.Parameters)} {
		t.offeredTokens += b.Tokens(part)
	}
	t.offeredTokens += callOverhead
	return t
}

// fits reports whether half of the longest prompt has room beside what is offered.
func (t *Talk) fits(b *builder.Builder) bool {
	prompt, _, _ := b.Room()
	return t.room(b, prompt) >= prompt/2
}

// Room returns the longest prompt beside which tools are offered, and whether b's fit: if not, the model is never
// offered any. What a question alone may not be offered counts, too.
func (s *Set) Room(b *builder.Builder) (longest int, fits bool) {
	talk := s.all(b)
	return 2 * max(0, talk.room(b, math.MaxInt/2)), talk.fits(b)
}

// PromptTokens returns how many tokens prompts have beside all tools; if these have no room, without them.
func (s *Set) PromptTokens(b *builder.Builder) int {
	talk := s.all(b)
	prompt, _, _ := b.Room()
	if s.Rounds <= 0 || !talk.fits(b) {
		return prompt
	}
	return talk.room(b, prompt)
}

// all returns a talk in which all tools are offered.
func (s *Set) all(b *builder.Builder) (talk Talk) {
	for _, tool := range s.Tools {
		talk = talk.with(b, tool)
	}
	return talk
}

// room returns how many tokens of wanted a prompt may have beside what is offered.
func (t *Talk) room(b *builder.Builder, wanted int) int {
	_, window, answer := b.Room()
	return tokens.ForPrompt(window, answer, t.offeredTokens+minRoom, wanted)
}

// index returns which of the tools offered has a name; -1 if none.
func (t *Talk) index(name string) int {
	return slices.IndexFunc(t.offered, func(o Tool) bool { return o.Name == name })
}

func (t *Talk) Names() []string {
	return digest.Each(t.offered, func(t Tool) string { return t.Name })
}

// PromptTokens returns how many tokens the prompt may have beside what is offered; 0: as b has it.
func (t *Talk) PromptTokens(b *builder.Builder) int {
	prompt, _, _ := b.Room()
	room := t.room(b, prompt)
	if len(t.offered) == 0 || room >= prompt {
		return 0
	}
	return room
}

// SentTokens returns the tokens that the model is sent besides the prompt.
func (t *Talk) SentTokens() int { return t.offeredTokens + t.Tokens }

// Ceiling returns how many tokens calls and outcomes may have beside a prompt of promptTokens.
func (s *Set) Ceiling(t *Talk, b *builder.Builder, promptTokens int) int {
	prompt, window, answer := b.Room()
	room := s.Tokens
	if room <= 0 {
		room = prompt
	}
	if window > 0 {
		room = min(room, window-answer-t.offeredTokens-promptTokens)
	}
	return room
}

// known returns the messages that the model was shown, and the question.
func (t *Turn) known() []memory.MessageID {
	shown := digest.Each(t.Prompt.Shown, func(s builder.Shown) memory.MessageID { return s.Message })
	return slices.Concat([]memory.MessageID{t.Question.ID}, shown, digest.IDs(t.Shown.Session),
		digest.IDs(t.Shown.Emitted))
}
