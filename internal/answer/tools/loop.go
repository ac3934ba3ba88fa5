package tools

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"hark/internal/chat"
)

// loop asks a model about one prompt until it answers. What the model writes before it calls tools begins its
// answer: what was shown stays.
type loop struct {
	set      *Set
	t        *Turn
	stream   func(text string)
	text     string
	reply    chat.Reply // the last
	ended    string     // why tools can't be called any more; empty: they can
	rounds   int
	started  time.Time       // when the first call came
	answered map[string]int  // the calls that were answered, by number
	count    int             // calls
	ids      map[string]bool // of calls
	silence  Consent         // Unanswered or NotAsked once a request to run a tool came to nothing
	stale    bool            // what the model was shown isn't valid any more
}

// errStale ends an answer that is withdrawn.
var errStale = errors.New("what the answer is made from changed before a tool was called")

// Ask has the model answer the prompt, and answers its calls. It returns the text so far even with an error, and
// the last reply. stream is called with the whole text so far.
func (s *Set) Ask(ctx context.Context, t *Turn, stream func(text string)) (string, chat.Reply, error) {
	l := &loop{set: s, t: t, stream: stream, answered: map[string]int{}, ids: map[string]bool{}}
	for {
		err := l.ask(ctx)
		if err != nil || len(l.reply.Calls) == 0 || !l.mayCall() {
			return l.text, l.reply, err
		}
		if err := l.answer(ctx); err != nil {
			return l.text, l.reply, err
		}
	}
}

func (l *loop) mayCall() bool { return len(l.t.Talk.offered) > 0 && l.ended == "" }

// ask has the model go on.
func (l *loop) ask(ctx context.Context) error {
	request := chat.Request{
		Temperature: l.t.Temperature, Brief: l.t.Brief, Tenant: uint64(l.t.Question.Guild),
		Messages: append(l.t.Answer.Messages(), l.t.Talk.Messages...),
	}
	if l.mayCall() {
		for _, t := range l.t.Talk.offered {
			request.Tools = append(request.Tools, t.Tool)
		}
	}
	before := l.text
	var fresh strings.Builder
	reply, err := l.t.Model.Chat(ctx, request, func(delta string) {
		fresh.WriteString(delta)
		if text := joinText(before, fresh.String()); text != before {
			l.stream(text)
		}
	})
	l.text, l.reply = joinText(before, reply.Text), reply
	l.t.Log.AddUsage(l.t.Builder, reply, l.t.Prompt.Report.Tokens+l.t.Talk.SentTokens())
	return err
}

// joinText adds then as a paragraph of its own.
func joinText(before, then string) string {
	then = strings.TrimLeftFunc(then, unicode.IsSpace)
	switch {
	case before == "" || then == "" || strings.HasSuffix(before, "\n\n"):
		return before + then
	case strings.HasSuffix(before, "\n"):
		return before + "\n" + then
	}
	return before + "\n\n" + then
}
