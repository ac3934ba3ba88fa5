package answer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// Mode is the mode that a question is answered in, and why in that one.
type Mode struct {
	Is builder.Mode
	By ModeBy
	// Why are the words that it was inferred by; empty if it wasn't, or if none spoke for another than the general one.
	Why string
}

// ModeBy says what decided on a mode.
type ModeBy string

// What may decide.
const (
	ModeAsked    ModeBy = "asked"    // Question.Mode
	ModeChannel  ModeBy = "channel"  // it was set for the channel, or for its guild
	ModeQuestion ModeBy = "question" // inferred from the question
	ModeEarlier  ModeBy = "earlier"  // inferred from the question before it, which it goes on from
)

// modeOf is the mode that q is answered in. A question that goes on from what its asker asked Hark before, and tells
// nothing of a mode itself, is answered in the mode of that.
func (e *Engine) modeOf(ctx context.Context, q Question, r *recalled) (Mode, error) {
	switch {
	case q.Mode != "":
		return Mode{Is: q.Mode, By: ModeAsked}, nil
	case r.voice.Mode != "":
		return Mode{Is: r.voice.Mode, By: ModeChannel}, nil
	}
	tools, err := e.usedBefore(ctx, q, r)
	if err != nil {
		return Mode{}, err
	}
	own, why := builder.InferMode(q.Text, tools)
	mode := Mode{own, ModeQuestion, why}
	if own != builder.ModeGeneral || !goesOn(q.Text) || q.Asker == 0 {
		return mode, nil
	}
	for _, m := range slices.Backward(r.session) {
		if m.Author != q.Asker || m.Kind == memory.FromHark {
			continue
		}
		put, err := e.saidToHark(ctx, r, m)
		if err != nil {
			return Mode{}, err
		}
		if !put {
			continue
		}
		if earlier, why := builder.InferMode(m.Content, nil); earlier != builder.ModeGeneral {
			return Mode{earlier, ModeEarlier, why}, nil
		}
		if !goesOn(m.Content) {
			break
		}
	}
	return mode, nil
}

// usedBefore are the tools that Hark's last answer in the session took, as far as it is on record.
func (e *Engine) usedBefore(ctx context.Context, q Question, r *recalled) (tools []string, err error) {
	if r.unlogged || r.voice.model == nil || e.options.ToolRounds <= 0 {
		return nil, nil
	}
	for _, m := range slices.Backward(r.session) {
		if m.Kind != memory.FromHark {
			continue
		}
		trace, err := memory.TraceOf(ctx, e.log, q.Channel, m.ID)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		for _, c := range trace.Calls {
			if c.Outcome == callOK {
				tools = append(tools, c.Tool)
			}
		}
		return tools, err
	}
	return nil, nil
}

// continuing are words that a question begins with that goes on from another.
var continuing = strings.Fields("and or but und oder aber et ou mais y e o pero")

// continuingWords is how many words a question has at most that goes on from another by the first of them.
const continuingWords = 8

// goesOn reports whether a question is to be understood from the one before it: "and in june?", "what about the second
// one?".
func goesOn(question string) bool {
	if !text.Asks(question) {
		return false
	}
	words := text.Words(text.WithoutHark(question))
	return search.RefersBack(question) || len(words) > 0 && len(words) <= continuingWords &&
		slices.Contains(continuing, words[0])
}
