package ingest

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
)

// FilterLog is the part of memory.Store that a Filter needs.
type FilterLog interface {
	memory.Writer
	memory.GuildReader
	memory.Members
	memory.MessageReader
	memory.WorkReader
}

// Filter decides what is logged. Other messages last as long as their session, unless their author opted out.
type Filter struct {
	log      FilterLog
	policy   memory.Policy
	sessions *Buffer
	// committed receives what was just committed.
	committed func([]Subject)
}

// NewFilter returns a filter that calls committed with what was just committed.
func NewFilter(log FilterLog, policy memory.Policy, r *Buffer, committed func([]Subject)) *Filter {
	return &Filter{
		log:       log,
		policy:    policy,
		sessions:  r,
		committed: committed,
	}
}

// commit logs what may be logged of events. An event that decides about a message is committed before it.
func (f *Filter) commit(ctx context.Context, events []memory.Event) error {
	for _, stage := range stages(events) {
		passed, err := f.pass(ctx, stage)
		if err == nil && len(passed) > 0 {
			err = f.log.Apply(ctx, passed...)
		}
		if err != nil {
			return err
		}
	}
	f.committed(subjectsOf(events))
	return nil
}

// stages cuts events so that each policy change is in an earlier stage than the messages and deletions it
// decides about.
func stages(events []memory.Event) [][]memory.Event {
	var cut [][]memory.Event
	begin := 0
	decided := false
	for i, s := range subjectsOf(events) {
		if (s.filtered || s.Deleted != nil) && decided {
			cut = append(cut, events[begin:i])
			begin = i
			decided = false
		}
		decided = decided || s.affectsPolicy
	}
	if begin < len(events) {
		cut = append(cut, events[begin:])
	}
	return cut
}

// pass returns what is logged of events. A Heard event replaces each message that isn't remembered. Earlier
// events must be committed. Passing events twice is harmless.
func (f *Filter) pass(ctx context.Context, events []memory.Event) ([]memory.Event, error) {
	passed := make([]memory.Event, 0, len(events))
	opted := map[memory.Membership]bool{} // out, by these events
	logged := map[memory.ChannelID]bool{}
	for _, e := range events {
		s := subjectOf(e)
		if v, is := e.(memory.Opted); is {
			opted[memory.Membership{Guild: v.Guild, User: v.User}] = v.Out
			if v.Out {
				f.sessions.Forget(v.Guild, v.User)
			}
		}
		f.sessions.See(s)
		if !s.filtered && s.Deleted == nil {
			passed = append(passed, e)
			continue
		}
		remembered, asked := logged[s.Channel]
		if !asked {
			var err error
			remembered, err = f.Remembers(ctx, s.Guild, s.Channel)
			if err != nil {
				return nil, err
			}
			logged[s.Channel] = remembered
		}
		if v, is := e.(memory.Deleted); is {
			v.Unlogged = !remembered
			passed = append(passed, v)
			continue
		}
		if remembered {
			f.sessions.Drop(s.Channel)
			passed = append(passed, e)
			continue
		}
		if err := f.addToSession(ctx, e, opted); err != nil {
			return nil, err
		}
		passed = append(passed, editsOf(e)...)
		switch v := e.(type) {
		case memory.Posted:
			if v.Live {
				passed = append(passed, memory.Heard{
					Guild:   s.Guild,
					Channel: s.Channel,
					ID:      s.message,
				})
			}
		case memory.Answered:
			if t, ok := traceElsewhere(v.Trace); ok {
				passed = append(passed, memory.Answered{Trace: t})
			}
		}
	}
	return passed, nil
}

// editsOf returns what is logged of an edit of a message that isn't: what was made from its older text goes.
func editsOf(e memory.Event) []memory.Event {
	edited := memory.Edited{Unlogged: true}
	switch v := e.(type) {
	case memory.Posted:
		m := v.Message
		edited.Guild, edited.Channel = v.Place()
		edited.ID = m.ID
		edited.At = m.Edited
		if v.Live || m.Kind == memory.FromHark {
			return nil
		}
	case memory.Edited:
		edited.Guild, edited.Channel = v.Place()
		edited.ID = v.ID
		edited.At = v.At
	}
	if edited.At.IsZero() {
		return nil
	}
	return []memory.Event{edited}
}

// isOld reports whether an update is about a message from before Hark was asked to remember, or one that was
// deleted or forgotten. Such a message must not be logged.
func (f *Filter) isOld(ctx context.Context, s Subject) (bool, error) {
	if remembered, err := f.Remembers(ctx, s.Guild, s.Channel); err != nil || !remembered {
		return false, err // only the session takes it
	}
	if there, err := f.log.Around(ctx, s.Channel, []memory.MessageID{s.message}, 0, 0); err != nil || len(there) > 0 {
		return false, err
	}
	heard, err := f.log.HeardUntil(ctx, s.Guild)
	if err != nil || s.message > heard[s.Channel] {
		return false, err // it arrived before its message
	}
	gaps, err := f.log.Gaps(ctx, memory.Everywhere, false)
	missing := slices.ContainsFunc(gaps, func(g memory.Gap) bool {
		return g.Channel == s.Channel && g.After < s.message && s.message <= g.Until
	})
	return err == nil && !missing, err
}

// traceElsewhere returns what is kept of an answer that isn't logged: its logged sources elsewhere, so that it is
// withdrawn in Discord if they change. It is false if there are none.
func traceElsewhere(t memory.Trace) (memory.Trace, bool) {
	kept := memory.Trace{
		Guild:   t.Guild,
		Channel: t.Channel,
		Answer:  t.Answer,
		Parts:   t.Parts,
	}
	for _, s := range t.Sources {
		isQuestion := s.Channel == t.Channel && s.ID == int64(t.Question)
		if s.Kind == memory.SourceFact || s.Kind == memory.SourceMessage && !isQuestion {
			kept.Sources = append(kept.Sources, s)
		}
	}
	return kept, len(kept.Sources) > 0
}

// addToSession gives the session an event that isn't logged.
func (f *Filter) addToSession(ctx context.Context, e memory.Event, opted map[memory.Membership]bool) error {
	switch v := e.(type) {
	case memory.Edited:
		f.sessions.edit(v.Channel, v.ID, v.At, func(old *memory.Message) {
			old.Content = v.Content
			old.Edited = v.At
		})
	case memory.Posted:
		m := v.Message
		if !v.Live && m.Kind != memory.FromHark {
			f.sessions.edit(m.Channel, m.ID, m.Edited, func(old *memory.Message) { *old = m })
			return nil
		}
		out, known := opted[memory.Membership{Guild: m.Guild, User: m.Author}]
		if !known {
			var err error
			out, err = memory.HasOptedOut(ctx, f.log, m.Guild, m.Author)
			if err != nil {
				return err
			}
		}
		if !out {
			f.sessions.Add(m)
		}
	}
	return nil
}

// Remembers reports whether a channel's messages are logged.
func (f *Filter) Remembers(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) (bool, error) {
	g, err := f.Guild(ctx, guild)
	return err == nil && f.policy.Remembers(g, channel), err
}

// Guild returns the logged guild, or one with only its ID if it is unknown.
func (f *Filter) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	g, err := f.log.Guild(ctx, id)
	if errors.Is(err, memory.ErrNotFound) {
		return &memory.Guild{ID: id}, nil
	}
	return g, err
}

// Lookup is Guild, with errors treated as unknown.
func (f *Filter) Lookup(ctx context.Context, id memory.GuildID) *memory.Guild {
	g, err := f.Guild(ctx, id)
	if err != nil {
		return &memory.Guild{ID: id}
	}
	return g
}

// Session returns the messages before a question in a channel that isn't logged; nil if it is logged.
func (f *Filter) Session(ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
	question memory.MessageID) []memory.Message {
	remembered, err := f.Remembers(ctx, guild, channel)
	if remembered || err != nil {
		return nil
	}
	return f.sessions.Before(channel, question)
}
