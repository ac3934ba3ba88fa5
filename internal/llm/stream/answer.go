// Package stream reads what model servers send as answers, in all the ways in which they write OpenAI's protocol:
// events, texts, thoughts, calls of tools, and errors. What members don't see isn't shown. A field of a wrong type
// costs only itself. Begin with NewLines and Answer.
//
// From the bottom: json.go and marks.go know notations, repeats.go knows loops; lines.go makes events of a body;
// event.go reads one; calls.go and written.go assemble calls; text.go says what is shown; answer.go has the whole.
package stream

import (
	"errors"
	"strings"

	"hark/internal/chat"
	"hark/internal/llm/failure"
)

const maxAnswer = 1 << 20 // bytes of text and thoughts; what writes more has run wild

// ErrNoName means that a model called a tool without saying which.
var ErrNoName = errors.New("a tool's call without a name")

// Answer is what has come of an answer so far.
type Answer struct {
	show   func(string)
	text   text
	loop   repeats // of the text, thoughts and all
	calls  calls
	extra  gathered
	left   left // by the last event
	reply  chat.Reply
	passed bool
	size   int // bytes of text and thoughts
	beside int // bytes of what the server put beside them
}

// NewAnswer returns an empty answer. It calls show, which may be nil, with what members may see, as it comes. tools are
// the names of those that the model knows: a text that is a call of one is taken as a call. headings are lines of the
// prompt that aren't shown if the model repeats them.
func NewAnswer(show func(string), tools, headings []string) *Answer {
	a := &Answer{show: show}
	a.text.tools = tools
	a.text.headings = headings
	a.calls.known = tools
	return a
}

// Add takes an event. The error is a failure.Failure if the server tells of one, or wraps ErrBadEvent if the event
// makes no sense. It is another one if the answer ends here although the model goes on, as IsWhole tells.
func (a *Answer) Add(event []byte) error {
	e, err := parseEvent(event, a.left)
	if err != nil {
		return err
	}
	a.left = e.left
	if e.prompt > 0 || e.completion > 0 {
		a.reply.PromptTokens = e.prompt
		a.reply.CompletionTokens = e.completion
	}
	a.size += len(e.text) + e.thought
	a.beside += bytesOf(e.extra)
	for _, p := range e.calls {
		a.beside += bytesOf(p.extra)
	}
	if a.size > maxAnswer || a.beside > maxBeside {
		return ErrTooMuch
	}
	for _, p := range e.calls {
		err := a.calls.add(p)
		if err != nil {
			return err
		}
	}
	a.extra.add(e.extra)
	taken, endless := a.loop.write(e.text)
	a.pass(a.text.write(e.text[:taken]))
	if endless {
		a.text.cutShort()
		a.reply.FinishReason = finishedLong
		return errRepeats
	}
	switch {
	case e.finish != "":
		a.reply.FinishReason = e.finish
	case strings.TrimSpace(e.text) != "" || e.thought > 0 || len(e.calls) > 0:
		a.reply.FinishReason = "" // it wasn't the end, since something follows
	}
	return nil
}

func (a *Answer) pass(said string) {
	if said == "" {
		return
	}
	a.passed = true
	if a.show != nil {
		a.show(said)
	}
}

// HasPassed reports whether something was shown.
func (a *Answer) HasPassed() bool { return a.passed }

// IsEmpty reports whether neither text nor thoughts came, nor a call.
func (a *Answer) IsEmpty() bool { return a.size == 0 && len(a.calls.all) == 0 }

// HasBegun reports whether something was shown, or a call came.
func (a *Answer) HasBegun() bool { return a.passed || len(a.calls.all) > 0 }

// MayBeWhole reports whether the server said why it ended, and there is something to end.
func (a *Answer) MayBeWhole() bool {
	return a.reply.FinishReason != "" && (a.HasBegun() || a.text.isCall || a.text.held != "")
}

// IsWhole reports whether the answer is, although err ended its stream. ended: the server said so. What fails after the
// last word doesn't matter.
func (a *Answer) IsWhole(err error, ended bool) bool {
	var f failure.Failure
	return (a.reply.FinishReason != "" || ended) && !errors.As(err, &f) && !errors.Is(err, ErrBadEvent)
}

// End returns a whole answer, with what was held back in case it became a mark. The error is ErrNoName.
func (a *Answer) End() (chat.Reply, error) {
	said, called := a.text.end()
	a.pass(said)
	if a.reply.FinishReason == "" {
		a.reply.FinishReason = finishedWell
	}
	reply := a.Part()
	calls, ok := a.calls.end(reply.FinishReason)
	if !ok {
		return reply, ErrNoName
	}
	reply.Calls = append(calls, called...)
	if len(reply.Calls) > 0 && reply.FinishReason == finishedWell { // so say Ollama, and OpenAI at times
		reply.FinishReason = finishedCalls
	}
	return reply, nil
}

// Part returns what there is of the answer, without calls: half a call is none.
func (a *Answer) Part() chat.Reply {
	a.reply.Text = a.text.shown.String()
	a.reply.Extra = a.extra.all()
	return a.reply
}
