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

// keepsRecords reports whether records of the question may be kept.
func (r *recalled) keepsRecords() bool { return !r.unlogged && r.here }

// record adds the record of a question or an answer, unless none may be kept.
func (r *recalled) record(round int, rec memory.Record) {
	if r.keepsRecords() {
		r.log.Record(round, 0, rec)
	}
}

// recordQuestion adds the record of the question. How much was found it doesn't say: what the prompt shows of
// that isn't known yet, and nothing tells whom the rest may be told to.
func (e *Engine) recordQuestion(q Question, r *recalled) {
	r.record(0, memory.Record{
		Timestamp: q.Now, Speaker: memory.SpeakerUser, Method: tools.MethodAsk,
		Kwargs: map[string]any{"text": e.tools.Print(q.Text), "mode": string(r.mode.Is), "mode_by": string(r.mode.By)},
	})
}

// recordAnswer adds the record of the answer.
func (e *Engine) recordAnswer(r *recalled, a Answer, err error) {
	l := r.log
	rec := memory.Record{
		Timestamp: e.now(), Speaker: memory.SpeakerAgent, Method: tools.MethodAnswer, More: tools.Took(r.elapsed()),
		Kwargs:  map[string]any{"text": e.tools.Print(a.Text)},
		Outcome: "answered, " + tools.Plural(len(a.Sources), "source"),
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
	case a.Text == withdrawn:
		rec.Outcome = "taken back"
	case a.Model == "":
		rec.Outcome = "quoted, " + tools.Plural(len(a.Sources), "source")
	}
	r.record(l.Rounds+1, rec)
}

// toolSection is what the calls of tools and their outcomes are in a trace, as if they were a section of the prompt.
const toolSection = "tools"

// tracePrompt notes in the trace of an answer of the model's what it was sent, in numbers, and, where that is
// to be kept, as it was sent: not in direct messages, which are nobody's else to look at, nor where the
// session isn't from the log, in which nothing would tell that something of it is gone.
func (e *Engine) tracePrompt(t *memory.Trace, q Question, r *recalled) {
	report := r.Prompt.Report
	t.Tokens, t.MaxTokens, t.Reserved, t.Window, t.Layout = report.Tokens, report.MaxTokens, report.Answer,
		report.Window, string(r.Prompt.Layout())
	t.Sections = SectionUses(report)
	if len(r.talk.Messages) > 0 {
		t.Sections = append(t.Sections, memory.TraceUse{Section: toolSection, Tokens: r.talk.Tokens,
			Ceiling: e.tools.Ceiling(&r.talk, r.resolved.builder, r.Prompt.Report.Tokens), Included: len(r.talk.Messages)})
	}
	if r.unlogged {
		return
	}
	t.Named = r.namedIn(q)
	if !e.options.KeepPrompts || q.Guild == memory.DirectGuild {
		return
	}
	p := withoutFiles(KeptPrompt(r.Prompt))
	for _, m := range r.talk.Messages {
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
	return digest.Each(r.Sections, func(s builder.SectionReport) memory.TraceUse {
		return memory.TraceUse{
			Section: string(s.Type), Tokens: s.Tokens, Floor: s.Floor, Ceiling: s.Ceiling,
			Included: s.Included, Cut: s.Cut, Dropped: s.Dropped, Why: string(s.Why),
		}
	})
}

// namedIn are all whom the prompt names, or may: the asker, those whom the question is about, whoever told something of
// them, and the authors of all that it shows or was made from, with those whom they mention.
func (r *recalled) namedIn(q Question) []memory.UserID {
	named := slices.Concat([]memory.UserID{q.Asker}, q.Mentions, r.shown.Named)
	for _, p := range slices.Concat(r.result.People, r.shown.People) {
		named = append(named, p.Person.ID)
		for _, f := range p.Person.Facts {
			named = append(named, f.By)
		}
	}
	for _, m := range r.shown.Messages {
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

// MethodAsk is the method of the call that a question is.
const MethodAsk = tools.MethodAsk

// notAnswered is how a question came out that came to no answer.
const notAnswered = "not answered"

// Called are the events by which the records of an answer are kept with it: those of t's answer, which has
// its id by now, made at a time unless they say when. What can't be kept is left out, so that the answer is.
//
// Of a question that wasn't answered, so that nothing tells what the calls for it were made from, t tells the
// question alone and no answer; then only the question's own record is kept, with nothing but its id.
func Called(records []memory.Record, t memory.Trace, at time.Time) []memory.Event {
	var events []memory.Event
	asked, known := false, map[string]bool{}
	keep := func(r memory.Record) {
		r.Guild, r.Channel, r.Question, r.Asker, r.Answer = t.Guild, t.Channel, t.Question, t.Asker, t.Answer
		if r.Timestamp.IsZero() {
			r.Timestamp = at
		}
		if r.CallID == "" || known[r.CallID] {
			r.CallID = rand.Text()
		}
		if r, err := r.Checked(); err == nil {
			known[r.CallID], asked = true, asked || r.Speaker == memory.SpeakerUser
			events = append(events, memory.Called{Record: r})
		}
	}
	for _, r := range records {
		switch {
		case t.Answer != 0:
			keep(r)
		case r.Speaker == memory.SpeakerUser && !asked:
			r.Args, r.Kwargs, r.Outcome = []any{t.Question}, nil, notAnswered
			keep(r)
		}
	}
	if t.Answer == 0 && !asked {
		keep(memory.Record{Speaker: memory.SpeakerUser, Method: tools.MethodAsk, Args: []any{t.Question},
			Outcome: notAnswered})
	}
	return events
}

// filesMark stands in a kept prompt where the contents of files were.
const filesMark = "[The files' contents aren't kept.]"

// withoutFiles is a prompt to be kept without the contents of files, of which nothing but the model knows.
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

func (r *recalled) elapsed() time.Duration { return time.Since(r.started) }
