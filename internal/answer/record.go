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
