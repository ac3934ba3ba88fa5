package answer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// tool is something that the model may call while it answers. What it tells must be within the reach of the answer that
// it is called for: that is what everybody who will read the answer may read.
type tool struct {
	chat.Tool         // what the model is told of it
	schema    *schema // of its parameters
	// offered says whether the model is told of it in an answer; nil: always.
	offered func(*Turn, context.Context) (bool, error)
	// call does what arguments say, a JSON object that fits the schema, in which what is null is left out. A
	// Mend is told to the model, which may call again. Of another error the model is told only that there was
	// one; it is for the log.
	call func(t *Turn, ctx context.Context, arguments json.RawMessage) (Outcome, error)
}

// newTool is a tool whose arguments are read into an A. It panics if parameters are no JSON schema of an object.
func newTool[A any](name, description, parameters string, call func(*Turn, context.Context, A) (Outcome, error)) tool {
	s, err := schemaOf(json.RawMessage(parameters))
	if err != nil || s.Type != "object" {
		panic(fmt.Sprintf("tool %q: its parameters are no JSON schema of an object: %v", name, err))
	}
	return tool{
		Tool:   chat.Tool{Name: name, Description: description, Parameters: json.RawMessage(parameters)},
		schema: s,
		call: func(t *Turn, ctx context.Context, arguments json.RawMessage) (Outcome, error) {
			var a A
			if err := json.Unmarshal(arguments, &a); err != nil {
				return Outcome{}, err
			}
			return call(t, ctx, a)
		},
	}
}

// Mend is what is wrong with a call, in words by which a model can mend it. It holds nothing that isn't in
// the call or may be known to whoever reads the answer.
type Mend string

func (m Mend) Error() string { return string(m) }

func mendf(format string, args ...any) error { return Mend(fmt.Sprintf(format, args...)) }

// Turn is the answer that a tool is called for.
type Turn struct {
	Question Question
	r        *recalled
	e        *Engine
	room     int // how many tokens the outcome's text may have; what is longer is cut
}

// Zone is in which times are told.
func (t *Turn) Zone() *time.Location { return cmp.Or(t.r.settings.Zone, time.UTC) }

// Outcome is what a tool's call came to.
type Outcome struct {
	// Text is what the model is told. What members wrote in it is escaped as in a prompt.
	Text string
	// Summary says in a few words for the record how it came out, such as "3 messages". It holds nothing of
	// what anybody wrote.
	Summary string
	// Shown are the messages that Text tells of or is made from, as they are in the log.
	Shown []memory.Message
	// Named are whom Text names besides Shown's authors and those whom they mention.
	Named []memory.UserID
	// Proposals are what is to be remembered if the asker agrees.
	Proposals []Proposal

	hits []hit
	who  []search.Participant
	lore []memory.Lore
	said map[memory.Spot]memory.Message // what facts of who, and lore, were said in
}

// hit is a message that a tool found.
type hit struct {
	search.Hit
	number int // 0: none
}

// outcomes are what tools told the model for an answer, beyond the prompt.
type outcomes struct {
	proposals []Proposal
	messages  []chat.Message // the calls and their outcomes
	tokens    int            // of them
}

// knows are the messages that the model has before it, and the question.
func (r *recalled) knows(q Question) []memory.MessageID {
	shown := digest.Each(r.Prompt.Shown, func(s builder.Shown) memory.MessageID { return s.Message })
	return slices.Concat([]memory.MessageID{q.ID}, shown, digest.IDs(r.shown.session), digest.IDs(r.shown.told))
}

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
	return digest.Each(o.tools, func(t tool) string { return t.Name })
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
