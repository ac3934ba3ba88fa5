package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/memory"
)

// Explanation is how an answer came about, as far as whoever asks for it may know now.
type Explanation struct {
	// Trace is without Recalled, what was held back, and the ids of facts, lore and summaries.
	Trace memory.Trace
	// Recalled are those of the trace's messages that may be read and that are there still, best first.
	Recalled []Explained
	// Lore is that of the trace's lore that may be read and that is there still, by name.
	Lore []memory.Lore
}

// Explained is a message that was recalled for an answer.
type Explained struct {
	memory.TraceHit
	Source Source
	Author memory.UserID
	Text   string // as it is now
	// Changed says that it was edited since the answer was made from it.
	Changed bool
}

// ErrNoTrace says that nobody knows how an answer came about. It has a sentence for whoever asks.
var ErrNoTrace error = noTrace{}

type noTrace struct{}

func (noTrace) Error() string { return "no trace of the answer is kept" }
func (noTrace) Sentence() string {
	return "I keep no trace of how this came about: it isn't an answer that I remember, or something that it was made from was changed or forgotten since."
}

// Explain returns how the answer came about that id is a message of. q's Guild, Channel, Asker and Roles say
// who asks and where, and alone sees it; or Operator and Everywhere. It tells only what they may read now.
// Without a trace the error is ErrNoTrace.
func (e *Engine) Explain(ctx context.Context, q Question, id memory.MessageID) (x Explanation, err error) {
	defer func() {
		if err != nil && err != ErrNoTrace {
			x, err = Explanation{}, fmt.Errorf("explain answer %d: %w", id, err)
		}
	}()
	ctx = withLookUps(ctx)
	q.OnlyAsker, q.Everywhere, q.Filter = !q.Operator, q.Operator && q.Everywhere, Filter{}
	now, err := e.readScope(ctx, q)
	if err != nil {
		return x, err
	}
	t, err := memory.TraceOf(ctx, e.log, q.Channel, id)
	if errors.Is(err, memory.ErrNotFound) || err == nil && (t.Asker == 0 || t.Guild != q.Guild) {
		return x, ErrNoTrace // without an asker it is the bare sources of an answer that isn't logged
	}
	if err != nil {
		return x, err
	}
	x.Trace = t
	x.Trace.Recalled, x.Trace.HeldBack, x.Trace.Sources, x.Trace.Named = nil, 0, nil, nil
	if x.Recalled, err = explained(ctx, now, t); err != nil {
		return x, err
	}
	var lore []memory.Lore
	for _, id := range t.IDsOf(memory.SourceLore) {
		if l, there := now.lore[id]; there {
			lore = append(lore, l)
		}
	}
	x.Lore, _, err = e.verifyLore(ctx, now, lore)
	return x, err
}

// explained returns a trace's messages that may be read now, in its order.
func explained(ctx context.Context, now readableScope, t memory.Trace) ([]Explained, error) {
	wanted := messageSet{}
	for _, hit := range t.Recalled {
		if slices.Contains(now.scope.Channels, hit.Channel) {
			wanted.add(memory.MessageRef{Channel: hit.Channel, Message: hit.Message})
		}
	}
	there, err := now.consents.lookUp(ctx, wanted, nil)
	if err != nil {
		return nil, err
	}
	var told []Explained
	for _, hit := range t.Recalled {
		m, ok := there[memory.MessageRef{Channel: hit.Channel, Message: hit.Message}]
		if !ok {
			continue
		}
		told = append(told, Explained{
			TraceHit: hit, Author: m.Author, Text: m.Text(), Changed: m.Kind != memory.FromHark &&
				m.AsSource(false).Version != hit.Edited,
			Source: now.source(hit.Number, m),
		})
	}
	return told, nil
}
