package answer

import (
	"context"
	"math"
	"slices"

	"hark/internal/digest"
	"hark/memory"
)

// answerAudience decides which of Hark's answers may be repeated in a channel. An answer carries the audience of
// all its sources, which may have shrunk since. Without known sources it isn't repeated.
type answerAudience struct {
	readableScope
	channel memory.ChannelID
	present memory.MessageID // from here on everybody present has seen what was said
	// answers that were judged, and usable messages: answers of one dialogue share sources
	judged, usableAt map[memory.MessageRef]bool
	traces           map[memory.MessageRef]memory.Trace // by each message of their answers; empty: none is kept
}

// audienceIn returns that of a channel where everybody present has seen what was said since present.
func (now readableScope) audienceIn(channel memory.ChannelID, present memory.MessageID) *answerAudience {
	return &answerAudience{
		readableScope: now,
		channel:       channel,
		present:       present,
		judged:        map[memory.MessageRef]bool{},
		usableAt:      map[memory.MessageRef]bool{},
		traces:        map[memory.MessageRef]memory.Trace{},
	}
}

func (d *answerAudience) ref(id memory.MessageID) memory.MessageRef {
	return memory.MessageRef{Channel: d.channel, Message: id}
}

// repeatable removes the answers that mustn't be repeated. messages are the channel's, in order, with consent.
func (d *answerAudience) repeatable(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	var answers []memory.MessageID
	for _, m := range messages {
		if m.Kind == memory.FromHark {
			answers = append(answers, m.ID)
		}
	}
	if err := d.readTraces(ctx, answers...); err != nil {
		return nil, err
	}
	return digest.Keep(messages, func(m memory.Message) (ok bool, err error) {
		ok = m.Kind != memory.FromHark
		if !ok {
			ok, err = d.mayRepeat(ctx, m.ID)
		}
		d.usableAt[d.ref(m.ID)] = ok
		return ok, err
	})
}

func (d *answerAudience) readTraces(ctx context.Context, answers ...memory.MessageID) error {
	answers = slices.DeleteFunc(answers, func(id memory.MessageID) bool {
		_, read := d.traces[d.ref(id)]
		return read
	})
	if len(answers) == 0 {
		return nil
	}
	traces, err := d.consents.log.Traces(ctx, memory.TraceQuery{Channel: d.channel, Answers: answers})
	for _, id := range answers {
		d.traces[d.ref(id)] = memory.Trace{} // unless there is one
	}
	for _, t := range traces {
		for _, id := range append(t.Parts, t.Answer) {
			d.traces[d.ref(id)] = t
		}
	}
	return err
}

// mayRepeat judges an answer, all of its messages together.
func (d *answerAudience) mayRepeat(ctx context.Context, answer memory.MessageID) (bool, error) {
	if ok, judged := d.judged[d.ref(answer)]; judged {
		return ok, nil
	}
	d.judged[d.ref(answer)] = false
	if err := d.readTraces(ctx, answer); err != nil {
		return false, err
	}
	trace := d.traces[d.ref(answer)]
	if trace.Answer == 0 {
		return false, nil
	}
	ok, err := d.sourcesReadable(ctx, trace)
	for _, id := range append(trace.Parts, answer) {
		d.judged[d.ref(id)] = ok
	}
	return ok, err
}

func (d *answerAudience) sourcesReadable(ctx context.Context, trace memory.Trace) (bool, error) {
	used := messageSet{}
	for _, s := range trace.Sources {
		at := memory.MessageRef{Channel: s.Channel, Message: memory.MessageID(s.ID)}
		switch s.Kind {
		case memory.SourceLore:
			if _, ok := d.lore[s.ID]; !ok {
				return false, nil
			}
		case memory.SourceFact:
			if d.hidden[s.ID] {
				return false, nil
			}
		case memory.SourceMessage:
			if at.Message == trace.Question && at.Channel == trace.Channel {
				continue
			}
			seen := at.Channel == d.channel && at.Message >= d.present
			if !seen && !slices.Contains(d.scope.Channels, at.Channel) {
				return false, nil
			}
			isLogged := s.Version >= 0 // else the store takes the answer with its source
			if isLogged && !d.usableAt[at] {
				used.add(at)
			}
		}
	}
	for channel, ids := range used {
		if ok, err := d.allUsable(ctx, channel, ids); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// in returns that of another channel, where nothing is being said now.
func (d *answerAudience) in(channel memory.ChannelID) *answerAudience {
	if channel == d.channel {
		return d
	}
	other := *d
	other.channel = channel
	other.present = math.MaxInt64
	return &other
}

// allUsable reports whether all ids exist, with consent, and may be repeated if Hark's.
func (d *answerAudience) allUsable(ctx context.Context, channel memory.ChannelID,
	ids []memory.MessageID) (bool, error) {
	sources, err := d.consents.messages(ctx, channel, ids)
	if err == nil {
		sources, err = d.in(channel).repeatable(ctx, sources)
	}
	return len(sources) == len(ids) && err == nil, err
}
