package answer

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/digest"
	"hark/memory"
)

// ledger is what an answer took, however often it was begun anew.
type ledger struct {
	usage   Usage
	calls   []memory.TraceCall
	records []memory.Record
	rounds  int
	failed  error // what a tool failed with, the first of them
	anew    bool  // whether records were left out since the answer isn't made from what their calls told
}

// newKey is a key for fingerprints that lasts as long as the process.
func newKey() []byte {
	key := make([]byte, memory.FingerprintKeyBytes)
	rand.Read(key) // never fails
	return key
}

// print is what a record tells of a text: how long it is, and a fingerprint by which the same text is known
// again, but for capitals and spaces, without telling what it was.
func (e *Engine) print(text string) map[string]any {
	return map[string]any{
		"chars": utf8.RuneCountInString(text), "words": len(strings.Fields(text)), "fingerprint": memory.FingerprintOf(e.options.RecordKey, text),
	}
}

// redacted are arguments as a record holds them: numbers, times and what can be one of a few words as they
// are, any other text as its print.
func (e *Engine) redacted(s *schema, v any) any {
	switch v := v.(type) {
	case string:
		if len(s.Enum) > 0 || s.Format == "date" {
			return v
		}
		if s.keep != nil {
			if kept, ok := s.keep(v); ok {
				return kept
			}
		}
		return e.print(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = item
			if s.Items != nil {
				list[i] = e.redacted(s.Items, item)
			}
		}
		return list
	case map[string]any:
		return e.redactedFields(s, v)
	}
	return v
}

func (e *Engine) redactedFields(s *schema, v map[string]any) map[string]any {
	fields := map[string]any{}
	for name, field := range v {
		fields[name] = e.redacted(s.Properties[name], field)
	}
	return fields
}

// record adds a record of a call at index of a round to the ledger, unless nothing of the question may be kept.
func (e *Engine) record(q Question, r *recalled, round, index int, rec memory.Record) {
	if r.unlogged || !r.here {
		return
	}
	// A question may be answered again, and a slash command's has no id.
	rec.CallID = fmt.Sprintf("%d-%s-%d-%d", q.ID, strconv.FormatInt(r.started.UnixNano(), 36), round, index)
	rec.Guild, rec.Channel, rec.Question, rec.Asker = q.Guild, q.Channel, q.ID, q.Asker
	rec.Args = []any{} // all calls are by name
	r.ledger.records = append(r.ledger.records, rec)
}

// begunAnew leaves of the records that of the question: what the calls so far told isn't among what the
// answer is made from, so that its trace couldn't say whom to tell of them.
func (l *ledger) begunAnew() {
	n := len(l.records)
	l.records = slices.DeleteFunc(l.records, func(r memory.Record) bool { return r.Speaker == memory.SpeakerTool })
	l.anew = l.anew || len(l.records) < n
}

// recordQuestion adds the record of the question. How much was found it doesn't say: what the prompt shows of
// that isn't known yet, and nothing tells whom the rest may be told to.
func (e *Engine) recordQuestion(q Question, r *recalled) {
	e.record(q, r, 0, 0, memory.Record{
		Timestamp: q.Now, Speaker: memory.SpeakerUser, Method: MethodAsk,
		Kwargs: map[string]any{"text": e.print(q.Text), "mode": string(r.mode.Is), "mode_by": string(r.mode.By)},
	})
}

// recordAnswer adds the record of the answer.
func (e *Engine) recordAnswer(q Question, r *recalled, a Answer, err error) {
	l := r.ledger
	rec := memory.Record{
		Timestamp: e.now(), Speaker: memory.SpeakerAgent, Method: methodAnswer, More: took(r.elapsed()),
		Kwargs:  map[string]any{"text": e.print(a.Text)},
		Outcome: "answered, " + plural(len(a.Sources), "source"),
	}
	if !l.anew {
		maps.Copy(rec.Kwargs, map[string]any{
			"rounds": l.rounds, "tool_calls": len(l.calls), "model_calls": l.usage.Calls,
			"prompt_tokens": l.usage.Prompt, "completion_tokens": l.usage.Completion,
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
		rec.Outcome = "quoted, " + plural(len(a.Sources), "source")
	}
	e.record(q, r, l.rounds+1, 0, rec)
}

// took is how long something took, as records have it beside the arguments.
func took(d time.Duration) map[string]json.RawMessage {
	return map[string]json.RawMessage{"duration_ms": json.RawMessage(strconv.FormatInt(d.Milliseconds(), 10))}
}

// plural is "1 message", or "3 messages".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

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
const MethodAsk = "ask"

// methodAnswer is the method of the call that an answer is.
const methodAnswer = "answer"

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
		keep(memory.Record{Speaker: memory.SpeakerUser, Method: MethodAsk, Args: []any{t.Question},
			Outcome: notAnswered})
	}
	return events
}
