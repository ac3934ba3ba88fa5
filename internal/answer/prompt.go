package answer

import (
	"maps"
	"slices"

	"hark/memory"
)

// tellPrompt notes in the trace of an answer of the model's what it was sent, in numbers, and, where that is to be kept, as it
// was sent: not in direct messages, which are nobody's else to look at, nor where the session isn't from the log, in which
// nothing would tell that something of it is gone.
func (e *Engine) tellPrompt(t *memory.Trace, q Question, r *recalled) {
	report := r.Prompt.Report
	t.Tokens, t.MaxTokens, t.Reserved, t.Window, t.Layout = report.Tokens, report.MaxTokens, report.Answer, report.Window, string(r.Prompt.Layout())
	for _, s := range report.Sections {
		t.Sections = append(t.Sections, memory.TraceUse{
			Section: string(s.Type), Tokens: s.Tokens, Floor: s.Floor, Ceiling: s.Ceiling,
			Included: s.Included, Cut: s.Cut, Dropped: s.Dropped, Why: string(s.Why),
		})
	}
	if !e.options.KeepPrompts || r.unlogged || q.Guild == memory.DirectGuild {
		return
	}
	p := memory.Prompt{Built: r.started, People: r.sentNames(q)}
	for _, m := range r.Prompt.Messages {
		p.Messages = append(p.Messages, memory.PromptMessage{Role: m.Role, Content: m.Content})
	}
	for _, b := range r.Prompt.Boundaries {
		p.Boundaries = append(p.Boundaries, memory.Boundary{Section: string(b.Type), Message: b.Message, Start: b.Start, End: b.End})
	}
	t.Prompt = &p
}

// sentNames are all whom the prompt names, or may: the asker, those whom the question is about, whoever told something of
// them, and the authors of all that it shows or was made from, with those whom they mention.
func (r *recalled) sentNames(q Question) []memory.UserID {
	named := map[memory.UserID]bool{q.Asker: true}
	add := func(people []memory.UserID) {
		for _, id := range people {
			named[id] = true
		}
	}
	add(q.Mentions)
	for _, p := range r.result.People {
		named[p.Person.ID] = true
		for _, f := range p.Person.Facts {
			named[f.By] = true
		}
	}
	for _, messages := range r.sent() {
		for _, m := range messages {
			named[m.Author] = true
			add(m.Mentions)
		}
	}
	delete(named, 0)
	return slices.Sorted(maps.Keys(named))
}
