package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/chat"
	"hark/memory"
)

// AddUsage adds a model's reply to a prompt of sent tokens, as b counts.
func (l *CallLog) AddUsage(b *builder.Builder, reply chat.Reply, sent int) {
	l.Usage.Calls++
	written := b.Tokens(reply.Text)
	for _, c := range reply.Calls {
		written += b.Tokens(c.Name) + b.Tokens(c.Arguments)
	}
	switch {
	case reply.PromptTokens > 0:
		sent = reply.PromptTokens
	case written == 0: // the model may not have been reached
		sent = 0
	}
	if reply.CompletionTokens > 0 {
		written = reply.CompletionTokens
	}
	l.Usage.Prompt = l.Usage.Prompt + sent
	l.Usage.Completion = l.Usage.Completion + written
}

// Record adds the record of the call at index of a round.
func (l *CallLog) Record(round, index int, rec memory.Record) {
	q := l.Question
	// A question may be answered again, and a slash command's has no id.
	rec.CallID = fmt.Sprintf("%d-%s-%d-%d", q.ID, strconv.FormatInt(l.Started.UnixNano(), 36), round, index)
	rec.Guild = q.Guild
	rec.Channel = q.Channel
	rec.Question = q.ID
	rec.Asker = q.Asker
	rec.Args = []any{}
	l.Records = append(l.Records, rec)
}

// ran notes that a remote tool runs.
func (l *CallLog) ran(r *RemoteTool) {
	if name := r.name(); !slices.Contains(l.Ran, name) {
		l.Ran = append(l.Ran, name)
	}
}

// Restart drops the records of tools: the answer isn't made from what they showed, so its trace can't say who may
// know of them.
func (l *CallLog) Restart() {
	n := len(l.Records)
	l.Records = slices.DeleteFunc(l.Records, func(r memory.Record) bool { return r.Speaker == memory.SpeakerTool })
	l.Restarted = l.Restarted || len(l.Records) < n
}

// Print returns what a record holds of a text: its length, and a keyed fingerprint that ignores case and spaces.
func (s *Set) Print(text string) map[string]any {
	return map[string]any{
		"chars": utf8.RuneCountInString(text), "words": len(strings.Fields(text)),
		"fingerprint": memory.FingerprintOf(s.RecordKey, text),
	}
}

// redacted returns an argument for a record: numbers, times and enumerated words as they are, other text as its
// print.
func (s *Set) redacted(as *schema, v any) any {
	switch v := v.(type) {
	case string:
		if len(as.Enum) > 0 || as.Format == "date" {
			return v
		}
		if as.keep != nil {
			if kept, ok := as.keep(v); ok {
				return kept
			}
		}
		return s.Print(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = item
			if as.Items != nil {
				list[i] = s.redacted(as.Items, item)
			}
		}
		return list
	case map[string]any:
		return s.redactedFields(as, v)
	}
	return v
}

func (s *Set) redactedFields(as *schema, v map[string]any) map[string]any {
	fields := map[string]any{}
	for name, field := range v {
		fields[name] = s.redacted(as.Properties[name], field)
	}
	return fields
}

// Took returns a duration as records hold it.
func Took(d time.Duration) map[string]json.RawMessage {
	return map[string]json.RawMessage{"duration_ms": json.RawMessage(strconv.FormatInt(d.Milliseconds(), 10))}
}

// Plural returns "1 message", or "3 messages".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
