package answer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hark/internal/chat"
)

// What a talk with tools has at least, in tokens, where the model's window is known.
const (
	leastRoom    = 500 // for calls and their outcomes: below it no tool is offered
	callOverhead = 12  // of a call and of a tool's description: what servers write round it
)

// offer are the tools that the model may call for an answer.
type offer struct {
	tools  []Tool
	specs  []chat.Tool // what the model is told of them
	tokens int         // of specs
}

func (o offer) names() (names []string) {
	for _, s := range o.specs {
		names = append(names, s.Name)
	}
	return names
}

// offered are the tools for an answer to q; none where tools are off, where the model refuses them, and where its window has
// no room for them beside half of the longest prompt.
func (e *Engine) offered(ctx context.Context, q Question, r *recalled) (offer, error) {
	var o offer
	if r.voice.model == nil || e.options.ToolRounds <= 0 || !r.voice.Tools || r.most > 0 || e.refused.remembers(r.voice.model.Name(), e.now()) {
		return o, nil
	}
	t := &Turn{Question: q, r: r, e: e}
	for _, tool := range e.tools {
		if choosy, is := tool.(interface {
			Offered(context.Context, *Turn) (bool, error)
		}); is {
			ok, err := choosy.Offered(ctx, t)
			if err != nil {
				return offer{}, err
			}
			if !ok {
				continue
			}
		}
		spec := tool.Spec()
		o.tools, o.specs = append(o.tools, tool), append(o.specs, spec)
		o.tokens += r.voice.builder.Tokens(spec.Name) + r.voice.builder.Tokens(spec.Description) + r.voice.builder.Tokens(string(spec.Parameters)) + callOverhead
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

// refusedFor is how long a model that refused tools isn't offered any: its server may be given another model of that name.
const refusedFor = time.Hour

// refusals are the models that refused tools, and when.
type refusals struct{ at sync.Map }

func (r *refusals) remember(model string, now time.Time) { r.at.Store(model, now) }

func (r *refusals) remembers(model string, now time.Time) bool {
	at, refused := r.at.Load(model)
	return refused && now.Sub(at.(time.Time)) < refusedFor
}

// withTools gives e its tools. It panics if the parameters of one are no JSON schema of an object.
func (e *Engine) withTools(more []Tool) {
	e.tools = []Tool{searchMemory{e}, getParticipant{e}, recallLore{e}, rememberLore{e}, currentTime{e}}
	if !e.options.NoRecords {
		e.tools = append(e.tools, conversationHistory{e})
	}
	e.tools, e.schemas = append(e.tools, more...), map[string]*schema{}
	for _, t := range e.tools {
		s, err := schemaOf(t.Spec().Parameters)
		if err != nil || s.Type != "object" {
			panic(fmt.Sprintf("tool %q: its parameters are no JSON schema of an object: %v", t.Spec().Name, err))
		}
		if h, is := t.(conversationHistory); is {
			h.keeps(s)
		}
		e.schemas[t.Spec().Name] = s
	}
}
