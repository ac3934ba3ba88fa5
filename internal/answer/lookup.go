package answer

import (
	"context"
	"sync/atomic"
	"time"

	"hark/memory"
)

// LookUp returns messages as they are at their source now, in order, without those it couldn't look up within
// patience.
type LookUp func(ctx context.Context, messages []memory.Message, patience time.Duration) ([]memory.Message, error)

// lookUpTime bounds all look-ups of one answer, and again those before it is sent.
const lookUpTime = 8 * time.Second

// lookUpLeft is the context key of what is left of lookUpTime, in nanoseconds.
type lookUpLeft struct{}

// withLookUps returns a context with lookUpTime for all look-ups.
func withLookUps(ctx context.Context) context.Context {
	left := &atomic.Int64{}
	left.Store(int64(lookUpTime))
	return context.WithValue(ctx, lookUpLeft{}, left)
}

type upstream struct{ lookUp LookUp }

// checkedLog is a Log whose messages are looked up.
type checkedLog struct {
	Log
	upstream *upstream
}

func (l checkedLog) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	found, err := l.Log.Around(ctx, channel, ids, before, after)
	if err != nil {
		return nil, err
	}
	return l.upstream.current(ctx, found)
}

func (l *upstream) current(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	if l.lookUp == nil || len(messages) == 0 {
		return messages, nil
	}
	left, limited := ctx.Value(lookUpLeft{}).(*atomic.Int64)
	if !limited {
		return l.lookUp(ctx, messages, lookUpTime)
	}
	started := time.Now()
	defer func() { left.Add(-int64(time.Since(started))) }()
	return l.lookUp(ctx, messages, max(time.Duration(left.Load()), 0))
}

// Log is the part of memory.Store that an engine needs.
type Log interface {
	memory.Writer
	memory.GuildReader
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error)
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Traces(ctx context.Context, q memory.TraceQuery) ([]memory.Trace, error)
	Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int,
		counts []int, err error)
	memory.Members
	Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error)
	Records(ctx context.Context, q memory.RecordQuery) ([]memory.Record, error)
}
