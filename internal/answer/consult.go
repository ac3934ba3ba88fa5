package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/memory"
)

const (
	consultTokens = 8000 // of a Told text
	consultShown  = 2000 // characters of a message in Missed
	consultTries  = 3    // while what was found changes
)

// Told is what is told outside an answer, to one reader.
type Told struct {
	Text    string   // with [n] for source n; what members wrote is escaped as in a prompt
	Sources []Source // by number
}

// CallError tells a caller what is wrong with a call.
type CallError = tools.CallError

// errUnsteady is a CallError for what doesn't stay the same while it is told.
const errUnsteady = CallError("What was found was changed, deleted or closed meanwhile. Call again.")

// The tools for models that Consult also calls.
const (
	ToolSearch = tools.SearchMemory
	ToolPeople = tools.GetParticipant
	ToolLore   = tools.RecallLore
)

// Parameters returns the JSON schema of the arguments that Consult takes for a tool.
func (e *Engine) Parameters(tool string) json.RawMessage { return e.tools.Tool(tool).Parameters }

// Consult calls one of these tools for q's asker alone, or for the operator. A CallError says what is wrong with the
// call.
func (e *Engine) Consult(ctx context.Context, q Question, tool string, arguments json.RawMessage) (Told, error) {
	return e.consult(ctx, q, func(ctx context.Context, q Question, r *recalled) (Told, error) {
		out, err := e.tools.Run(ctx, e.turn(q, r), tool, string(arguments), consultTokens)
		var refused CallError
		if errors.As(err, &refused) {
			return Told{}, CallError(r.resolved.builder.Safe(refused.Error(), 400))
		}
		if err != nil {
			return Told{}, fmt.Errorf("consult %s: %w", tool, err)
		}
		r.shown.Emit(out.Emission)
		if tool == ToolSearch && len(out.Shown) == 0 {
			return Told{}, nil
		}
		told := Told{Text: strings.Trim(out.Text, "\n")}
		for _, hit := range out.Hits {
			told.Sources = append(told.Sources, r.source(hit.Number, hit.Message))
		}
		return told, nil
	})
}

// Context returns what is remembered about q's text, as a prompt has it: people, messages and lore.
func (e *Engine) Context(ctx context.Context, q Question) (Told, error) {
	return e.consult(ctx, q, func(ctx context.Context, q Question, r *recalled) (told Told, err error) {
		r.asked, r.searchText = r.askedAbout(q, q.Text)
		r.result, _, err = e.findAsked(ctx, q, r, nil)
		if err == nil {
			err = e.readReplied(ctx, q, r, excerptsOf(r.result.Hits))
		}
		if err == nil {
			err = e.verifySources(ctx, r)
		}
		if err != nil {
			return Told{}, fmt.Errorf("recall: %w", err)
		}
		r.result.People = r.met(r.result.People, q.Asker)
		in := (&turn{e, q, r}).Input(r.result)
		in.FirstNumber = 1
		part := r.resolved.builder.Part(in, consultTokens)
		r.shown.Emit(shownBy(part, r))
		told.Text = strings.Trim(part.Text, "\n")
		for _, n := range part.Numbers {
			for _, h := range r.result.Hits {
				if h.Message.ID == n.Message {
					told.Sources = append(told.Sources, r.source(n.N, h.Message))
				}
			}
		}
		return told, nil
	})
}

// shownBy returns what a part of r's result shows.
func shownBy(part builder.Part, r *recalled) manifest.Emission {
	shown := map[memory.MessageID]bool{}
	for _, line := range part.Shown {
		shown[line.Message] = true
	}
	e := manifest.Emission{
		People: r.result.People[:part.People],
		Lore:   loreOf(r.result.Lore[:part.Lore]),
		Said:   r.said,
	}
	for _, h := range r.result.Hits {
		for _, m := range h.Excerpt {
			if shown[m.ID] {
				e.Shown = append(e.Shown, m)
			}
		}
	}
	return e
}

// Missed returns what was said in the channel of a name or id since a day or a time: CatchUpMax messages at most, of
// the last week. Without a time it is since the asker last wrote there, or else in the last CatchUpFirst.
func (e *Engine) Missed(ctx context.Context, q Question, channel, since string) (Told, error) {
	return e.consult(ctx, q, func(ctx context.Context, q Question, r *recalled) (Told, error) {
		switch in := e.turn(q, r).ChannelsCalled(channel); len(in) {
		case 0:
			return Told{}, CallError(fmt.Sprintf("There is no channel %q that may be read, and of which something is "+
				"remembered.", r.resolved.builder.Safe(channel, 100)))
		case 1:
			q.Channel = in[0]
			q.Guild = r.names.channels[in[0]].Guild
		default:
			return Told{}, CallError(fmt.Sprintf("%d channels are called so: give the channel's id, such as %d.",
				len(in), in[0]))
		}
		from, err := timeIn(since, r.settings.Zone)
		if err != nil {
			return Told{}, err
		}
		m, err := e.missed(ctx, q, from)
		if err != nil {
			return Told{}, fmt.Errorf("catch up with channel %d: %w", q.Channel, err)
		}
		if len(m.said) == 0 {
			return Told{Text: "Nothing was said there since " + m.Since.In(m.now.settings.Zone).Format("2006-01-02 15:04") +
				"."}, nil
		}
		first, lines, _ := m.lines(consultTokens, consultShown)
		r.shown.Add(m.said[first:]...)
		r.names.told = m.now.names.told
		told := Told{Text: lines}
		for i, said := range m.said[first:] {
			told.Sources = append(told.Sources, m.now.source(first+i+1, said))
		}
		if m.Bounded || first > 0 {
			told.Text = "Older messages are left out.\n" + told.Text
		}
		return told, nil
	})
}

// timeIn returns the time of a text, a day being its start in a zone; zero for an empty text.
func timeIn(text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, text, zone)
	}
	if err != nil {
		return at, CallError(`"since" is a day or a time, such as 2024-06-01 or 2024-06-01T15:00:00Z.`)
	}
	return at, nil
}

// consult makes q a question of its asker alone, or of the operator, without a channel, and returns what find finds for
// it. find puts what it shows into the manifest. It is looked at again before it is told, like an answer.
func (e *Engine) consult(ctx context.Context, q Question,
	find func(context.Context, Question, *recalled) (Told, error)) (Told, error) {
	q.OnlyAsker = !q.Operator
	q.Everywhere = q.Operator
	q.ID = 0
	q.Channel = 0
	q.Session = []memory.Message{}
	ctx = withLookUps(ctx)
	for range consultTries {
		r := &recalled{
			unlogged: true,
			shown:    manifest.New(),
			mode:     Mode{Is: builder.ModeGeneral},
			log:      &tools.CallLog{Question: q.forTools()},
		}
		var err error
		r.readableScope, err = e.readScope(ctx, q)
		if err != nil {
			return Told{}, fmt.Errorf("find what may be read: %w", err)
		}
		r.resolved = e.resolve(ctx, r.settings, "")
		told, err := find(ctx, q, r)
		if err != nil {
			return Told{}, err
		}
		if ok, err := e.revalidateOnce(ctx, q, r); ok || err != nil {
			return told, err
		}
	}
	return Told{}, errUnsteady
}
