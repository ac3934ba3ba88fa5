package answer

import (
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/digest"
	"hark/memory"
)

func (r *recalled) keepsRecords() bool { return !r.unlogged && r.here }

// record adds the record of a question or an answer, unless none may be kept.
func (r *recalled) record(round int, rec memory.Record) {
	if r.keepsRecords() {
		r.log.Record(round, 0, rec)
	}
}

// recordQuestion records the question. It doesn't count what was found: nothing says who may know of that.
func (e *Engine) recordQuestion(q Question, r *recalled) {
	r.record(0, memory.Record{
		Timestamp: q.Now,
		Speaker:   memory.SpeakerUser,
		Method:    tools.MethodAsk,
		Kwargs:    map[string]any{"text": e.tools.Print(q.Text), "mode": string(r.mode.Is), "mode_by": string(r.mode.By)},
	})
}

func (e *Engine) recordAnswer(r *recalled, a Answer, err error) {
	l := r.log
	rec := memory.Record{
		Timestamp: e.now(),
		Speaker:   memory.SpeakerAgent,
		Method:    tools.MethodAnswer,
		More:      tools.Took(r.elapsed()),
		Kwargs:    map[string]any{"text": e.tools.Print(a.Text)},
		Outcome:   "answered, " + tools.Plural(len(a.Sources), "source"),
	}
	if !l.Restarted {
		maps.Copy(rec.Kwargs, map[string]any{
			"rounds": l.Rounds, "tool_calls": len(l.Calls), "model_calls": l.Usage.Calls,
			"prompt_tokens": l.Usage.Prompt, "completion_tokens": l.Usage.Completion,
		})
	}
	if a.Model != "" {
		rec.Kwargs["model"] = a.Model
	}
	switch {
	case err != nil:
		rec.Outcome = "failed"
	case a.Trace.Origin.Writer == memory.TakenBack:
		rec.Outcome = "taken back"
	case a.Model == "" && !a.Trace.Origin.Quotes():
		rec.Outcome = "quoted nothing"
	case a.Model == "":
		rec.Outcome = "quoted, " + tools.Plural(len(a.Sources), "source")
	}
	r.record(l.Rounds+1, rec)
}

const toolSection = "tools"

// tracePrompt adds to a trace what the model was sent, in numbers and, with KeepPrompts, word for word. Prompts of
// direct messages aren't kept, since nobody else may look at them, nor those of unlogged sessions, whose parts
// can't be tracked when they go.
func (e *Engine) tracePrompt(t *memory.Trace, q Question, r *recalled) {
	report := r.Prompt.Report
	t.Tokens = report.Tokens
	t.MaxTokens = report.MaxTokens
	t.Reserved = report.Answer
	t.Window = report.Window
	t.Layout = string(r.Prompt.Layout())
	t.Sections = SectionUses(report)
	if len(r.talk.Messages) > 0 {
		t.Sections = append(t.Sections, memory.TraceUse{
			Section:  toolSection,
			Tokens:   r.talk.Tokens,
			Ceiling:  e.tools.Ceiling(&r.talk, r.resolved.builder, r.Prompt.Report.Tokens),
			Included: len(r.talk.Messages),
		})
	}
	if r.unlogged {
		return
	}
	t.Named = r.namedIn(q)
	if !e.options.KeepPrompts || q.Guild == memory.DirectGuild {
		return
	}
	p := withoutFiles(KeptPrompt(r.Prompt))
	for _, m := range r.talk.Kept() {
		for _, c := range m.Calls {
			m.Content += "\n" + c.Name + c.Arguments
		}
		m.Content = strings.TrimSpace(m.Content)
		p.Boundaries = append(p.Boundaries, memory.Boundary{
			Section: toolSection,
			Message: len(p.Messages),
			End:     len(m.Content),
		})
		p.Messages = append(p.Messages, memory.PromptMessage{Role: m.Role, Content: m.Content})
	}
	p.Built = r.started
	t.Prompt = &p
}

// KeptPrompt returns p as traces keep it, without the time it was built.
func KeptPrompt(p builder.Prompt) (kept memory.Prompt) {
	for _, m := range p.Messages {
		kept.Messages = append(kept.Messages, memory.PromptMessage{Role: m.Role, Content: m.Content})
	}
	for _, b := range p.Boundaries {
		kept.Boundaries = append(kept.Boundaries, memory.Boundary{
			Section: string(b.Type),
			Message: b.Message,
			Start:   b.Start,
			End:     b.End,
		})
	}
	return kept
}

// SectionUses returns a report's sections for a trace, in order.
func SectionUses(r builder.Report) []memory.TraceUse {
	return digest.Each(r.Sections, func(s builder.SectionReport) memory.TraceUse {
		return memory.TraceUse{
			Section:  string(s.Type),
			Tokens:   s.Tokens,
			Floor:    s.Floor,
			Ceiling:  s.Ceiling,
			Included: s.Included,
			Cut:      s.Cut,
			Dropped:  s.Dropped,
			Why:      string(s.Why),
		}
	})
}

// namedIn returns all whom the prompt may name: the asker, the people it is about and their sources, and the
// authors and mentions of all messages.
func (r *recalled) namedIn(q Question) []memory.UserID {
	named := slices.Concat([]memory.UserID{q.Asker}, q.Mentions, r.shown.Named,
		r.titles.owners(r.names))
	for _, p := range slices.Concat(r.result.People, r.shown.People) {
		named = append(named, p.Person.ID)
		for _, f := range p.Person.Facts {
			named = append(named, f.By)
		}
	}
	for _, m := range r.shown.Messages {
		named = append(append(named, m.Author), m.Mentions...)
		named = append(named, r.repliedBy[memory.MessageRef{Channel: m.Channel, Message: m.ReplyTo}])
	}
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(named), func(id memory.UserID) bool { return id == 0 })
}

func (e *Engine) countPrompt(r builder.Report) {
	m := e.options.Metrics
	m.Prompts.Inc()
	m.PromptTokens.Observe(float64(r.Tokens))
	if r.Window > 0 && r.Use() >= memory.NearlyFull {
		m.PromptWarnings.Inc()
	}
	for _, s := range r.Sections {
		m.PromptSectionTokens.WithLabelValues(string(s.Type)).Add(float64(s.Tokens))
		if s.Dropped > 0 {
			m.PromptDropped.WithLabelValues(string(s.Type), string(s.Why)).Add(float64(s.Dropped))
		}
	}
}

// The methods of the records of a question and of its answer.
const (
	MethodAsk    = tools.MethodAsk
	MethodAnswer = tools.MethodAnswer
)

const notAnswered = "not answered"

// Recorded returns the events that keep records with an answer, once t has its id. Records without a time get at;
// what can't be kept is left out. If t has no answer, only the question's own record is kept, with its id alone:
// nothing says what the calls were made from.
func Recorded(records []memory.Record, t memory.Trace, at time.Time) []memory.Event {
	var events []memory.Event
	asked := false
	known := map[string]bool{}
	keep := func(r memory.Record) {
		r.Guild = t.Guild
		r.Channel = t.Channel
		r.Question = t.Question
		r.Asker = t.Asker
		r.Answer = t.Answer
		if r.Timestamp.IsZero() {
			r.Timestamp = at
		}
		if r.CallID == "" || known[r.CallID] {
			r.CallID = rand.Text()
		}
		if r, err := r.Checked(); err == nil {
			known[r.CallID], asked = true, asked || r.Speaker == memory.SpeakerUser
			events = append(events, memory.Recorded{Record: r})
		}
	}
	for _, r := range records {
		switch {
		case t.Answer != 0:
			keep(r)
		case r.Speaker == memory.SpeakerUser && !asked:
			r.Args = []any{t.Question}
			r.Kwargs = nil
			r.Outcome = notAnswered
			keep(r)
		}
	}
	if t.Answer == 0 && !asked {
		keep(memory.Record{
			Speaker: memory.SpeakerUser,
			Method:  tools.MethodAsk,
			Args:    []any{t.Question},
			Outcome: notAnswered,
		})
	}
	return events
}

const filesMark = "[The files' contents aren't kept.]"

// withoutFiles removes the contents of files, which only the model may know.
func withoutFiles(p memory.Prompt) memory.Prompt {
	for i, b := range p.Boundaries {
		if b.Section != string(builder.SectionFiles) {
			continue
		}
		content := p.Messages[b.Message].Content
		p.Messages[b.Message].Content = content[:b.Start] + filesMark + content[b.End:]
		shift := len(filesMark) - (b.End - b.Start)
		p.Boundaries[i].End += shift
		for j := i + 1; j < len(p.Boundaries) && p.Boundaries[j].Message == b.Message; j++ {
			p.Boundaries[j].Start += shift
			p.Boundaries[j].End += shift
		}
	}
	return p
}
