package answer

import (
	"context"
	"sync/atomic"
	"time"

	"hark/memory"
)

// LookUp is what there is of messages that are about to be used, as it is at their source now, in the same
// order. It takes no longer than patience, and leaves out what it couldn't look up by then.
type LookUp func(ctx context.Context, messages []memory.Message, patience time.Duration) ([]memory.Message, error)

// lookUpTime is how long messages may be looked up for one answer, and again before it is sent.
const lookUpTime = 8 * time.Second

// lookUpLeft is the key of how much of lookUpTime is left, in nanoseconds.
type lookUpLeft struct{}

// withLookUps gives what is asked with a context lookUpTime for all of it.
func withLookUps(ctx context.Context) context.Context {
	left := &atomic.Int64{}
	left.Store(int64(lookUpTime))
	return context.WithValue(ctx, lookUpLeft{}, left)
}

// LookUpBy has all messages be looked up before they are used. It is called before anything is asked.
func (e *Engine) LookUpBy(lookUp LookUp) { e.upstream.lookUp = lookUp }

// upstream is where messages are looked up.
type upstream struct{ lookUp LookUp }

// surely is a Log whose messages are looked up.
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
