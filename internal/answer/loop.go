package answer

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"hark/internal/chat"
)

// noTools and noImages are errors by which a model refuses what it can't take.
type (
	noTools  interface{ NoTools() bool }
	noImages interface{ NoImages() bool }
)

// loop is the talk with a model about one prompt until it answers. What it writes before it calls tools is
// the beginning of its answer: it was shown already, and what was shown stays.
type loop struct {
	e      *Engine
	q      Question
	r      *recalled
	stream func(text string)
	text   string // of the answer so far
	last   string // why no tools are to be had any more; empty: they are
	rounds int
	begun  time.Time       // when the first call came
	asked  map[string]int  // the calls that were answered, and which they were
	made   int             // calls
	ids    map[string]bool // of calls
}

// ask has the model go on after the prompt, and answers its calls.
func (e *Engine) ask(ctx context.Context, q Question, r *recalled, stream func(text string)) (string, error) {
	e.countPrompt(r.Prompt.Report)
	r.result = r.result.Only() // a model may write for minutes
	l := &loop{e: e, q: q, r: r, stream: stream, asked: map[string]int{}, ids: map[string]bool{}}
	for {
		reply, err := l.say(ctx)
		if err != nil || len(reply.Calls) == 0 || !l.mayCall() {
			return l.text, err
		}
		if err := l.answer(ctx, reply); err != nil {
			return l.text, err
		}
	}
}

// mayCall reports whether the model may call tools.
func (l *loop) mayCall() bool { return len(l.r.offer.tools) > 0 && l.last == "" }

// say has the model say something. What it can't take is left out, and it is asked again.
func (l *loop) say(ctx context.Context) (chat.Reply, error) {
	before := l.text
	for {
		reply, err := l.sayOnce(ctx)
		var tools noTools
		var images noImages
		switch {
		case err == nil || ctx.Err() != nil || l.text != before:
			return reply, err
		case errors.As(err, &tools) && tools.NoTools() && len(l.r.offer.tools) > 0:
			// Neither has it been told anything by tools then, nor is there anything to go on from.
			if reply.Instead == nil { // not one that only stands in
				l.e.refused.remember(l.r.voice.model.Name(), l.e.now())
			}
			l.r.offer = offer{}
			l.r.told.messages, l.r.told.tokens = nil, 0
			l.e.lay(l.q, l.r)
		case errors.As(err, &images) && images.NoImages() && l.r.hasImages():
			l.q.fetched.blind = true
			l.e.lay(l.q, l.r)
		default:
			return reply, err
		}
	}
}

func (l *loop) sayOnce(ctx context.Context) (chat.Reply, error) {
	request := chat.Request{Temperature: l.r.voice.Temperature, Messages: append(l.r.messages(), l.r.told.messages...)}
	if l.mayCall() {
		for _, t := range l.r.offer.tools {
			request.Tools = append(request.Tools, t.Tool)
		}
	}
	before := l.text
	var fresh strings.Builder
	reply, err := l.r.voice.model.Chat(ctx, request, func(delta string) {
		fresh.WriteString(delta)
		if text := goneOn(before, fresh.String()); text != before {
			l.stream(text)
		}
	})
	l.text, l.r.reply = goneOn(before, reply.Text), reply
	l.r.count(reply, l.r.sentTokens())
	return reply, err
}

// goneOn is what was written before, and, in a paragraph of its own, what was written then.
func goneOn(before, then string) string {
	then = strings.TrimLeftFunc(then, unicode.IsSpace)
	switch {
	case before == "" || then == "" || strings.HasSuffix(before, "\n\n"):
		return before + then
	case strings.HasSuffix(before, "\n"):
		return before + "\n" + then
	}
	return before + "\n\n" + then
}

// count adds a call of a model to what an answer took. sent is how many tokens it was sent, as we count.
func (r *recalled) count(reply chat.Reply, sent int) {
	u := &r.ledger.usage
	u.Calls++
	written := r.voice.builder.Tokens(reply.Text)
	for _, c := range reply.Calls {
		written += r.voice.builder.Tokens(c.Name) + r.voice.builder.Tokens(c.Arguments)
	}
	switch {
	case reply.PromptTokens > 0:
		sent = reply.PromptTokens
	case written == 0: // it may never have come to it
		sent = 0
	}
	if reply.CompletionTokens > 0 {
		written = reply.CompletionTokens
	}
	u.Prompt, u.Completion = u.Prompt+sent, u.Completion+written
}

// tooLong is an error by which a model refuses a prompt. See Model.
type tooLong interface {
	error
	TooLong() (room, asked int, is bool)
}

// smaller is how many tokens a prompt may have after err refused one of sent tokens; 0 if it wasn't refused for its
// length. The model's tokens aren't ours, so what it counted tells how many of ours it takes; a tenth less than
// that leaves room for what it adds to each message. If it doesn't tell what it counted, a quarter less than it takes
// leaves room for tokens that are smaller than ours too. Where it tells nothing, half must do.
func smaller(sent int, err error) int {
	var refused tooLong
	if !errors.As(err, &refused) {
		return 0
	}
	room, asked, is := refused.TooLong()
	switch {
	case !is:
		return 0
	case 0 < room && room < asked:
		return max(1, int(0.9*float64(sent)*float64(room)/float64(asked)))
	case asked == 0 && 0 < room && room < sent:
		return max(1, int(0.75*float64(room)))
	}
	return max(1, sent/2)
}

// sentTokens are those of all that the model was sent at last.
func (r *recalled) sentTokens() int { return r.Prompt.Report.Tokens + r.offer.tokens + r.told.tokens }
