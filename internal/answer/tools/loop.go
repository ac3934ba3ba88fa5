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
	flat     bool       // outcomes are sent as text, because the model went on calling
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
		switch {
		case err != nil || len(l.reply.Calls) == 0 || l.flat:
			return l.text, l.reply, err
		case l.mayCall():
			err = l.answer(ctx)
		default: // it calls although it can't: once more, without the calls before that it may go on from
			l.flat = true
		}
		if err != nil {
			return l.text, l.reply, err
		}
	}
}

func (l *loop) mayCall() bool { return len(l.t.Talk.offered) > 0 && l.ended == "" }

// ask has the model go on.
func (l *loop) ask(ctx context.Context) error {
	request := chat.Request{
		Temperature: l.t.Temperature, Brief: l.t.Brief, Tenant: uint64(l.t.Question.Guild),
		Messages: l.messages(),
		Headings: l.t.Builder.Headings(*l.t.Prompt),
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

// messages returns the prompt, the calls and their outcomes as the model is sent them.
func (l *loop) messages() []chat.Message {
	all := l.t.Answer.Messages()
	if l.flat {
		return flattened(all, l.t.Talk.Messages)
	}
	if l.ended != "" && len(l.t.Talk.Messages) == 0 { // there is no outcome to say so
		last := &all[len(all)-1]
		last.Content += "\n\n" + l.ended + thenAnswer
	}
	return append(all, l.t.Talk.Messages...)
}

// flattened returns a prompt with the outcomes of calls as text at its end.
func flattened(prompt, talk []chat.Message) []chat.Message {
	last := &prompt[len(prompt)-1]
	for _, m := range talk {
		if m.Role == chat.FromTool {
			last.Content += "\n\n" + m.Content
		}
	}
	last.Content += "\n\n" + callsOff + thenAnswer
	return prompt
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
