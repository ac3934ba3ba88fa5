package reply

import (
	"errors"
	"strings"

	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/crash"
	"hark/memory"
)

// words are an answer's text, and what stands below it. Whoever is told of something now isn't told again: it
// is called once. It never panics, whatever the answer's text does to it.
func (r *Replier) compose(l locale.Locale, a *ingest.Question, got Outcome) (text, tail string, err error) {
	defer crash.Recover("word an answer", &err)
	// What was streamed and not given as an answer, whole or half, wasn't looked at again: it doesn't stay.
	text = markdown.EscapeSmallPrint(got.Answer.Text)
	if got.err != nil {
		text = markdown.Unbroken(text)
	}
	tail = markdown.Lines(markdown.Footer(l, got.Answer.Sources, r.Now()), r.questions.quotaNote(l, a, got))
	switch {
	case errors.Is(got.err, errHalted):
		tail = l.Text(stoppedLine)
	case got.err != nil:
		why := r.Failure(l, a, got.err)
		tail = l.Text(interrupted, why)
		if strings.TrimSpace(text) == "" {
			text, tail = why, ""
		}
	}
	return memory.Clean(text), tail, nil
}
