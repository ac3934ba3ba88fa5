package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/memory"
	"hark/search"
)

// consultTokens bounds a Told text.
const consultTokens = 8000

// Told is what is told outside an answer, to one reader.
type Told struct {
	Text    string   // with [n] for source n; what members wrote is escaped as in a prompt
	Sources []Source // by number
}

// CallError tells a caller what is wrong with a call.
type CallError = tools.CallError

// The tools for models that Consult also calls.
const (
	ToolSearch = tools.SearchMemory
	ToolPeople = tools.GetParticipant
	ToolLore   = tools.RecallLore
)

// Parameters returns the JSON schema of the arguments that Consult takes for a tool.
func (e *Engine) Parameters(tool string) json.RawMessage { return e.tools.Tool(tool).Parameters }

// Consult calls one of these tools for q's asker alone, or for the operator. A CallError says what is wrong with
// the call.
func (e *Engine) Consult(ctx context.Context, q Question, tool string, arguments json.RawMessage) (Told, error) {
	ctx, r, err := e.consult(ctx, &q)
	if err != nil {
		return Told{}, err
	}
	out, err := e.tools.Run(ctx, e.turn(q, r), tool, string(arguments), consultTokens)
	var refused CallError
	if errors.As(err, &refused) {
		return Told{}, CallError(r.resolved.builder.Safe(refused.Error(), 400))
	}
	if err != nil {
		return Told{}, fmt.Errorf("consult %s: %w", tool, err)
	}
	told := Told{Text: strings.Trim(out.Text, "\n")}
	for _, hit := range out.Hits {
		told.Sources = append(told.Sources, r.source(hit.Number, hit.Message))
	}
	return told, nil
}

// Context returns what is remembered about q's text, as a prompt has it: people, messages and lore.
func (e *Engine) Context(ctx context.Context, q Question) (Told, error) {
	ctx, r, err := e.consult(ctx, &q)
	if err != nil {
		return Told{}, err
	}
	r.searchText = q.Text
	if r.result, _, err = e.find(ctx, q, r, r.narrowed, nil); err == nil {
		err = e.verifySources(ctx, r)
	}
	if err != nil {
		return Told{}, fmt.Errorf("recall: %w", err)
	}
	in := (&turn{e, q, r}).Input(r.result)
	in.FirstNumber = 1
	part := r.resolved.builder.Part(in, consultTokens)
	told := Told{Text: strings.Trim(part.Text, "\n")}
	for _, n := range part.Numbers {
		at := slices.IndexFunc(r.result.Hits, func(h search.Hit) bool { return h.Message.ID == n.Message })
		told.Sources = append(told.Sources, r.source(n.N, r.result.Hits[at].Message))
	}
	return told, nil
}

// Missed returns what was said in the channel of a name or id since a time, or if that is zero since the asker last
// wrote there: CatchUpMax messages at most, of the last week. The only source is the first message.
func (e *Engine) Missed(ctx context.Context, q Question, channel string, since time.Time) (Told, error) {
	ctx, r, err := e.consult(ctx, &q)
	if err != nil {
		return Told{}, err
	}
	switch in := e.turn(q, r).ChannelsCalled(channel); len(in) {
	case 0:
		return Told{}, CallError(fmt.Sprintf("There is no channel %q that may be read, and of which something is "+
			"remembered.", r.resolved.builder.Safe(channel, 100)))
	case 1:
		q.Channel, q.Guild = in[0], r.names.channels[in[0]].Guild
	default:
		return Told{}, CallError(fmt.Sprintf("%d channels are called so: give the channel's id, such as %d.", len(in), in[0]))
	}
	m, err := e.missed(ctx, q, since)
	if err != nil {
		return Told{}, fmt.Errorf("catch up with channel %d: %w", q.Channel, err)
	}
	if len(m.said) == 0 {
		return Told{Text: "Nothing was said there since " + m.Since.In(m.now.settings.Zone).Format("2006-01-02 15:04") + "."}, nil
	}
	from, lines, _ := m.lines(0)
	told := Told{Text: lines, Sources: []Source{m.now.source(from+1, m.said[from])}}
	if m.Bounded || from > 0 {
		told.Text = "Older messages are left out.\n" + told.Text
	}
	return told, nil
}

// consult makes q a question of its asker alone, or of the operator, without a channel, and returns what it may use.
func (e *Engine) consult(ctx context.Context, q *Question) (context.Context, *recalled, error) {
	q.OnlyAsker, q.Everywhere, q.ID, q.Channel, q.Session = !q.Operator, q.Operator, 0, 0, []memory.Message{}
	ctx = withLookUps(ctx)
	r := &recalled{unlogged: true, shown: manifest.New(), mode: Mode{Is: builder.ModeGeneral}, log: &tools.CallLog{Question: q.forTools()}}
	var err error
	if r.readableScope, err = e.readScope(ctx, *q); err != nil {
		return ctx, r, fmt.Errorf("find what may be read: %w", err)
	}
	r.resolved = e.resolve(r.settings, "")
	return ctx, r, nil
}
