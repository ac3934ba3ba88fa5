package discord

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"hark/internal/pace"
)

// Session is a gateway session that another connection can resume. It is kept as JSON.
type Session struct {
	ID      string `json:"id"`                // empty: none
	Gateway string `json:"gateway,omitempty"` // the address to resume at; empty: as for a new session
	Seq     int64  `json:"seq"`               // of the last event that was received
	Intents int    `json:"intents"`
}

// gatewaySession is a session that a new connection can resume.
type gatewaySession struct {
	id      string // empty before READY
	gateway string // resume_gateway_url; empty: as for a new session
	seq     atomic.Int64
}

// given returns the session to begin with.
func (g *Gateway) given() *gatewaySession {
	s := &gatewaySession{}
	if g.Session.ID != "" && g.Session.Seq > 0 && g.Session.Intents == int(g.intents()) {
		s.id = g.Session.ID
		s.gateway = g.Session.Gateway
		s.seq.Store(g.Session.Seq)
	}
	return s
}

// left returns the session that another process may resume.
func (g *Gateway) left(s *gatewaySession) Session {
	if !g.Keep || s.id == "" || s.seq.Load() == 0 {
		return Session{}
	}
	return Session{
		ID:      s.id,
		Gateway: s.gateway,
		Seq:     s.seq.Load(),
		Intents: int(g.intents()),
	}
}

// readReady takes the session's id and address from READY.
func (s *gatewaySession) readReady(f frame) {
	var ready struct {
		ID      string `json:"session_id"`
		Gateway string `json:"resume_gateway_url"`
	}
	if json.Unmarshal(f.Data, &ready) == nil && ready.ID != "" {
		s.id = ready.ID
		s.gateway = ready.Gateway
	}
}

// slotError is why no slot could be reserved.
type slotError struct{ error }

const (
	// dialTime is how long before its slot a session's connection is opened.
	dialTime = 2 * time.Second
	// slotPatience is how long a connection is kept for its slot.
	slotPatience = 10 * time.Second
	// slotSlack is how much later than its slot a session may begin.
	slotSlack = IdentifyEvery - 5*time.Second
	// slotTries is how many slots are reserved at most, each after the one before was over.
	slotTries = 3
)

// slot is when a session may begin.
type slot struct {
	at time.Time // not earlier
	by time.Time // not later: another may begin IdentifyEvery after it
}

// waitSlot waits on a connection until a session may begin, or returns errEarly if that takes long. A slot that is over
// is none, as another session may begin right after it.
func (g *Gateway) waitSlot(ctx context.Context, concurrency int) error {
	if g.Slot == nil {
		return nil
	}
	at := g.slot
	g.slot = slot{}
	for tries := 0; ; tries++ {
		if err := pace.Sleep(ctx, time.Until(at.at)); err != nil {
			return err
		}
		// it is over if the process stood still meanwhile, and whenever the table is far away: Discord refuses in the
		// worst case
		if !time.Now().After(at.by) || tries == slotTries {
			return nil
		}
		asked := time.Now()
		wait, err := g.Slot(ctx, max(concurrency, 1))
		if err != nil {
			return slotError{err}
		}
		// the wait counts from some moment between the request and its answer
		at = slot{at: time.Now().Add(wait), by: asked.Add(wait + slotSlack)}
		if wait > slotPatience {
			g.slot = at
			return errEarly
		}
	}
}

// sessionLimitError is how long Discord allows no more sessions. One more would cost the token.
type sessionLimitError time.Duration

func (sessionLimitError) Error() string { return "Discord allows no more sessions today" }

// waitToStart waits before a session begins.
func (g *Gateway) waitToStart(ctx context.Context, wait time.Duration) {
	if wait > 0 {
		g.Log.Warn().Dur("wait", wait).Time("until",
			g.Now().Add(wait)).Msg("too many sessions were begun with Discord, " +
			"which takes the token away after 1,000 a day; waiting before the next")
	}
	_ = pace.Sleep(ctx, wait)
}

// sessionStarts limits how often sessions begin. Resuming is free.
type sessionStarts struct{ next time.Time }

// pause returns how long to wait before the next session.
func (s *sessionStarts) pause(now time.Time) time.Duration {
	if first := now.Add(-(SessionsAtOnce - 1) * maxReconnectWait); s.next.Before(first) {
		s.next = first
	}
	pause := max(0, s.next.Sub(now))
	s.next = s.next.Add(maxReconnectWait)
	return pause
}
