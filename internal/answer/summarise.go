package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/memory"
	"hark/search"
)

// SummaryLog is what a Summariser asks of the store. See memory.Store.
type SummaryLog interface {
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	People(ctx context.Context, guild memory.GuildID) ([]memory.Person, error)
	Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error)
	OptedOut(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	Unsummarised(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error)
	Gaps(ctx context.Context) ([]memory.Gap, error)
	doubts
	Apply(ctx context.Context, events ...memory.Event) error
}

// Summariser sums up each session that has ended, where what was said may be remembered. How far it is stands in the store,
// so that nothing is lost when it stops. Hark's own answers are left out: they were made from what others said, maybe in
// other channels, and would be summed up from there twice.
type Summariser struct {
	Log SummaryLog
	// Model sums up the sessions in which Hark was asked; nil: none. The others, and those that it fails at, are summed up by
	// their most informative messages.
	Model      Model
	Policy     memory.Policy
	SessionGap time.Duration    // the silence that ends a session
	Every      time.Duration    // between two looks; 0 means a minute
	Channel    memory.ChannelID // only there; 0: everywhere
	Now        func() time.Time
	// Patience is how long the model may take for a session; 0 means a minute.
	Patience time.Duration
	// Done, if not nil, is told of each summary that is made.
	Done func(memory.Summary)
	// Failed is told when a session is summed up without the model, because that failed.
	Failed func(channel memory.ChannelID, err error)
	// Stuck, if not nil, is told when Run couldn't sum up all that it should have: it tries again.
	Stuck func(err error)

	left  int // sessions that the model may still be asked about in this round
	pause backoff
}

const (
	// summariseBack is how far back a channel is summed up that never was: the past that is imported or fetched isn't. From
	// then on nothing is left out, however long Hark is away.
	summariseBack = 7 * 24 * time.Hour
	// sessionsMost is how many sessions of a channel are summed up in one round.
	sessionsMost = memory.MaxSummaries
	// sessionMost is how many messages are summed up together. A session that goes on for longer is cut.
	sessionMost  = memory.MaxSummarySources
	sessionPage  = 2 * sessionMost
	synthesisMax = 20 // sessions that the model is asked about in one round
)

// Run sums up what has ended until ctx is done.
func (s *Summariser) Run(ctx context.Context) error {
	every := s.Every
	if every <= 0 {
		every = time.Minute
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.Round(ctx); err != nil && ctx.Err() == nil && s.Stuck != nil {
			s.Stuck(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Round sums up what has ended since the last time, oldest first. A channel that fails doesn't keep it from the others: the
// error is that of the first. It may not be called twice at once.
func (s *Summariser) Round(ctx context.Context) error {
	since := memory.FirstMessageID(s.Now().Add(-summariseBack))
	stretches, err := s.Log.Unsummarised(ctx, since)
	if err != nil {
		return fmt.Errorf("sum up sessions: %w", err)
	}
	missing, err := s.missing(ctx, since)
	if err != nil {
		return fmt.Errorf("sum up sessions: %w", err)
	}
	s.left = synthesisMax
	var first error
	failed := 0
	for _, stretch := range stretches {
		if s.Channel != 0 && stretch.Channel != s.Channel || missing[stretch.Channel] && !stretch.Again {
			continue
		}
		err := s.all(ctx, stretch)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			first = cmp.Or(first, fmt.Errorf("sum up a session of channel %d: %w", stretch.Channel, err))
		}
	}
	if failed > 1 {
		return fmt.Errorf("%w (and %d more failed)", first, failed-1)
	}
	return first
}

// missing are the channels of which something that was said from since on is to be fetched still. What comes late to a
// channel that is summed up further would never be summed up.
func (s *Summariser) missing(ctx context.Context, since memory.MessageID) (map[memory.ChannelID]bool, error) {
	gaps, err := s.Log.Gaps(ctx)
	channels := map[memory.ChannelID]bool{}
	for _, g := range gaps {
		if g.Until >= since {
			channels[g.Channel] = true
		}
	}
	return channels, err
}

// all sums up the sessions of a stretch that have ended, but no more than one round is for.
func (s *Summariser) all(ctx context.Context, stretch memory.Stretch) error {
	for range sessionsMost {
		until, err := s.next(ctx, stretch)
		if err != nil || until == 0 || until >= stretch.Until {
			return err
		}
		stretch.After = until
	}
	return nil
}

// next sums up the first session of a stretch, if it has ended, and returns its last message; 0 if there is nothing to be done now.
func (s *Summariser) next(ctx context.Context, stretch memory.Stretch) (memory.MessageID, error) {
	p, err := s.placeOf(ctx, stretch.Guild, stretch.Channel)
	if err != nil || p == nil {
		return 0, err
	}
	end := stretch.Until
	if !stretch.Again { // with Hark's answers, which a stretch doesn't count
		end = max(end, memory.FirstMessageID(s.Now()))
	}
	page, err := s.Log.Log(ctx, stretch.Channel, stretch.After, end, sessionPage)
	if err != nil || len(page) == 0 && !stretch.Again {
		return 0, err
	}
	session, until, ended := s.first(page, stretch)
	if !ended {
		return 0, nil
	}
	asked := slices.ContainsFunc(session, func(m memory.Message) bool { return m.Kind == memory.FromHark })
	ask := asked && s.Model != nil && !s.pause.waits(stretch.Channel, s.Now()) && !s.pause.waits(everywhere, s.Now())
	if ask && s.left == 0 {
		return 0, nil // in the next round
	}
	session, err = p.spoken(ctx, session)
	if err != nil {
		return 0, err
	}
	summary := extracted(session, p.names.of, p.names.bot)
	if ask && summary != nil {
		s.left--
		written, err := s.synthesised(ctx, session, p.names.of)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			s.Failed(stretch.Channel, err)
			if errors.Is(err, errNoSummary) {
				s.pause.failed(stretch.Channel, s.Now())
			} else {
				s.pause.failed(everywhere, s.Now()) // waiting for it again, for each session, would hold up all
			}
		} else {
			s.pause.worked(stretch.Channel)
			s.pause.worked(everywhere)
			summary = written
		}
		// Writing can take a minute: what must hold still has to. The store itself keeps nothing of what is gone or changed.
		if p, err = s.placeOf(ctx, stretch.Guild, stretch.Channel); err != nil || p == nil {
			return 0, err
		}
		if still, err := p.spoken(ctx, session); err != nil || len(still) < len(session) {
			return 0, err
		}
	}
	return until, s.keep(ctx, memory.Summarised{Guild: stretch.Guild, Channel: stretch.Channel, After: stretch.After, Until: until, Summary: summary})
}

// first is the first session of a page of a stretch, or its part, with the message that it reaches to, and whether it has ended.
func (s *Summariser) first(page []memory.Message, stretch memory.Stretch) (session []memory.Message, until memory.MessageID, ended bool) {
	if stretch.Again {
		return page[:min(len(page), sessionMost)], stretch.Until, true
	}
	n := 1
	for n < len(page) && n < sessionMost && page[n].Time().Sub(page[n-1].Time()) <= s.SessionGap {
		n++
	}
	last := page[n-1]
	return page[:n], last.ID, n == sessionMost || n < len(page) || s.Now().Sub(last.Time()) > s.SessionGap
}

// keep stores a summary, and takes away what it leaves no room for.
func (s *Summariser) keep(ctx context.Context, e memory.Summarised) error {
	if e.Summary != nil {
		e.Summary.ID, e.Summary.Guild, e.Summary.Channel, e.Summary.Made = e.Until, e.Guild, e.Channel, s.Now()
		others, err := s.Log.Summaries(ctx, e.Channel)
		if err != nil {
			return err
		}
		e.Evicted = search.MakeRoom(*e.Summary, others, memory.MaxSummaries)
	}
	err := s.Log.Apply(ctx, e)
	if err == nil && e.Summary != nil && s.Done != nil {
		s.Done(*e.Summary)
	}
	return err
}

// summaryPlace is a channel of which summaries may be made.
type summaryPlace struct {
	names    names
	consents consents
}

// placeOf is where a session was, or nil if what was said there isn't to be remembered.
func (s *Summariser) placeOf(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) (*summaryPlace, error) {
	g, err := s.Log.Guild(ctx, guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	if err != nil {
		return nil, err
	}
	waits, err := doubted(ctx, s.Log, g)
	if err != nil {
		return nil, err
	}
	channels := byID(g)
	if !g.Left.IsZero() || waits[channel] || !remembers(s.Policy, g, channels[channel], channels) {
		return nil, nil
	}
	people, err := s.Log.People(ctx, guild)
	p := &summaryPlace{names: newNames(), consents: consents{log: s.Log, out: map[member]bool{}}}
	p.names.add(g, people)
	return p, err
}

// spoken are those of messages that people, or bots that are remembered, have said, and may be summed up.
func (p *summaryPlace) spoken(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	messages = slices.DeleteFunc(slices.Clone(messages), func(m memory.Message) bool {
		return !m.Kind.Recalled() || strings.TrimSpace(m.Text()) == ""
	})
	return p.consents.given(ctx, messages)
}
