package answer

import (
	"slices"
	"strings"

	"hark/builder"
	"hark/memory"
)

// toolSection is what the calls of tools and their outcomes are in a trace, as if they were a section of the prompt.
const toolSection = "tools"

// tellPrompt notes in the trace of an answer of the model's what it was sent, in numbers, and, where that is
// to be kept, as it was sent: not in direct messages, which are nobody's else to look at, nor where the
// session isn't from the log, in which nothing would tell that something of it is gone.
func (e *Engine) tellPrompt(t *memory.Trace, q Question, r *recalled) {
	report := r.Prompt.Report
	t.Tokens, t.MaxTokens, t.Reserved, t.Window, t.Layout = report.Tokens, report.MaxTokens, report.Answer,
		report.Window, string(r.Prompt.Layout())
	t.Sections = SectionUses(report)
	if len(r.told.messages) > 0 {
		t.Sections = append(t.Sections, memory.TraceUse{Section: toolSection, Tokens: r.told.tokens,
			Ceiling: e.toolRoom(r), Included: len(r.told.messages)})
	}
	if r.unlogged {
		return
	}
	t.Named = r.namedIn(q)
	if !e.options.KeepPrompts || q.Guild == memory.DirectGuild {
		return
	}
	p := withoutFiles(KeptPrompt(r.Prompt))
	for _, m := range r.told.messages {
		for _, c := range m.Calls {
			m.Content += "\n" + c.Name + c.Arguments
		}
		m.Content = strings.TrimSpace(m.Content)
		p.Boundaries = append(p.Boundaries, memory.Boundary{Section: toolSection, Message: len(p.Messages),
			End: len(m.Content)})
		p.Messages = append(p.Messages, memory.PromptMessage{Role: m.Role, Content: m.Content})
	}
	p.Built = r.started
	t.Prompt = &p
}

// KeptPrompt is p as traces keep it, but for when it was built.
func KeptPrompt(p builder.Prompt) (kept memory.Prompt) {
	for _, m := range p.Messages {
		kept.Messages = append(kept.Messages, memory.PromptMessage{Role: m.Role, Content: m.Content})
	}
	for _, b := range p.Boundaries {
		kept.Boundaries = append(kept.Boundaries, memory.Boundary{Section: string(b.Type), Message: b.Message,
			Start: b.Start, End: b.End})
	}
	return kept
}

// SectionUses is what a report says of sections as traces tell it, in the order of the prompt.
func SectionUses(r builder.Report) []memory.TraceUse {
	uses := make([]memory.TraceUse, len(r.Sections))
	for i, s := range r.Sections {
		uses[i] = memory.TraceUse{
			Section: string(s.Type), Tokens: s.Tokens, Floor: s.Floor, Ceiling: s.Ceiling,
			Included: s.Included, Cut: s.Cut, Dropped: s.Dropped, Why: string(s.Why),
		}
	}
	return uses
}

// namedIn are all whom the prompt names, or may: the asker, those whom the question is about, whoever told something of
// them, and the authors of all that it shows or was made from, with those whom they mention.
func (r *recalled) namedIn(q Question) []memory.UserID {
	named := slices.Concat([]memory.UserID{q.Asker}, q.Mentions, r.shown.named)
	for _, p := range slices.Concat(r.result.People, r.shown.people) {
		named = append(named, p.Person.ID)
		for _, f := range p.Person.Facts {
			named = append(named, f.By)
		}
	}
	for _, m := range r.shown.messages {
		named = append(append(named, m.Author), m.Mentions...)
	}
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(named), func(id memory.UserID) bool { return id == 0 })
}

// countPrompt counts a prompt that is sent to a model.
func (e *Engine) countPrompt(r builder.Report) {
	m := e.options.Metrics
	m.Prompts.Inc()
	m.PromptTokens.Observe(float64(r.Tokens))
	if r.Crowded() {
		m.PromptWarnings.Inc()
	}
	for _, s := range r.Sections {
		m.PromptSectionTokens.WithLabelValues(string(s.Type)).Add(float64(s.Tokens))
		if s.Dropped > 0 {
			m.PromptDropped.WithLabelValues(string(s.Type), string(s.Why)).Add(float64(s.Dropped))
		}
	}
}
