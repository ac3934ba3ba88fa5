package answer

import (
	"context"
	"sync"
	"time"
)

// What a talk with tools has at least, in tokens, where the model's window is known.
const (
	leastRoom    = 500 // for calls and their outcomes: below it no tool is offered
	callOverhead = 12  // of a call and of a tool's description: what servers write round it
)

// offer are the tools that the model may call for an answer.
type offer struct {
	tools  []tool
	tokens int // of what the model is told of them
}

func (o offer) names() (names []string) {
	for _, t := range o.tools {
		names = append(names, t.Name)
	}
	return names
}

// offered are the tools for an answer to q; none where tools are off, where the model refuses them, and where
// its window has no room for them beside half of the longest prompt.
func (e *Engine) offered(ctx context.Context, q Question, r *recalled) (offer, error) {
	var o offer
	if r.voice.model == nil || e.options.ToolRounds <= 0 || !r.voice.Tools || r.most > 0 ||
		e.refused.remembers(r.voice.model.Name(), e.now()) {
		return o, nil
	}
	t := &Turn{Question: q, r: r, e: e}
	for _, tool := range e.tools {
		if tool.offered != nil {
			if ok, err := tool.offered(t, ctx); err != nil {
				return offer{}, err
			} else if !ok {
				continue
			}
		}
		o.tools = append(o.tools, tool)
		for _, told := range []string{tool.Name, tool.Description, string(tool.Parameters)} {
			o.tokens += r.voice.builder.Tokens(told)
		}
		o.tokens += callOverhead
	}
	prompt, window, answer := r.voice.builder.Room()
	if window > 0 && window-answer-o.tokens-leastRoom < prompt/2 {
		return offer{}, nil
	}
	return o, nil
}

// promptMost is how many tokens the prompt may have beside what is offered; 0: as the builder has it.
func (e *Engine) promptMost(r *recalled) int {
	prompt, window, answer := r.voice.builder.Room()
	if len(r.offer.tools) == 0 || window == 0 || window-answer-r.offer.tokens-leastRoom >= prompt {
		return r.most
	}
	return window - answer - r.offer.tokens - leastRoom
}

// toolRoom is how many tokens calls and outcomes may have beside the prompt.
func (e *Engine) toolRoom(r *recalled) int {
	prompt, window, answer := r.voice.builder.Room()
	room := e.options.ToolTokens
	if room <= 0 {
		room = prompt
	}
	if window > 0 {
		room = min(room, window-answer-r.offer.tokens-r.Prompt.Report.Tokens)
	}
	return room
}

// refusedFor is how long a model that refused tools isn't offered any: its server may be given another model
// of that name.
const refusedFor = time.Hour

// refusals are the models that refused tools, and when.
type refusals struct{ at sync.Map }

func (r *refusals) remember(model string, now time.Time) { r.at.Store(model, now) }

func (r *refusals) remembers(model string, now time.Time) bool {
	at, refused := r.at.Load(model)
	return refused && now.Sub(at.(time.Time)) < refusedFor
}
