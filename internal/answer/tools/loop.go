package tools

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"hark/internal/chat"
)

// errStale ends an answer that is withdrawn.
var errStale = errors.New("what the answer is made from changed before a tool was called")

func (l *loop) mayCall() bool { return len(l.t.Talk.offered) > 0 && l.ended == "" }

// ask has the model go on.
func (l *loop) ask(ctx context.Context) error {
	request := chat.Request{
		Temperature: l.t.Temperature,
		Brief:       l.t.Brief,
		Tenant:      uint64(l.t.Question.Guild),
		Messages:    l.messages(),
		Headings:    l.t.Builder.Headings(*l.t.Prompt),
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
	l.text = joinText(before, reply.Text)
	l.reply = reply
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

// Why tools can't be called any more, as the model is told.
const (
	noMoreRounds = "That was the last time that tools could be called for this answer."
	noMoreRoom   = "There is no room left for more outcomes of tools."
	noMoreTime   = "There is no time left for tools."
	callsOff     = "No tools can be called."
	thenAnswer   = " Answer the query now, with what you have."
)
