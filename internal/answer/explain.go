package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/memory"
)

// Explanation is how an answer was made, as far as whoever asks may know now.
type Explanation struct {
	// Trace is without Recalled, HeldBack, Sources and Named.
	Trace memory.Trace
	// Recalled are the trace's messages that still exist and may be read, best first.
	Recalled []Explained
	// Lore is the trace's lore that still exists and may be read, by name.
	Lore []memory.Lore
}

// Explained is a message that was recalled for an answer.
type Explained struct {
	memory.TraceHit
	Source Source
	Author memory.UserID
	Text   string // as it is now
	// Changed: it was edited since the answer was made.
	Changed bool
}

// ErrNoTrace says that nobody knows how an answer was made. It has a sentence for whoever asks.
var ErrNoTrace error = noTrace{}

type noTrace struct{}

func (noTrace) Error() string { return "no trace of the answer is kept" }
func (noTrace) Sentence() string {
	return "I keep no trace of how this came about: it isn't an answer that I remember, or something that it " +
		"was made from was changed or forgotten since."
}

// Explain returns how the answer was made that message id belongs to, as far as whoever asks may read it now. q's
// Guild, Channel, Asker and Roles say who asks where, and only they see it; or Operator and Everywhere. Without a
// trace the error is ErrNoTrace.
func (e *Engine) Explain(ctx context.Context, q Question, id memory.MessageID) (x Explanation, err error) {
	defer func() {
		if err != nil && err != ErrNoTrace {
			x = Explanation{}
			err = fmt.Errorf("explain answer %d: %w", id, err)
		}
	}()
	ctx = withLookUps(ctx)
	q.OnlyAsker = !q.Operator
	q.Everywhere = q.Operator && q.Everywhere
	q.Filter = Filter{}
	now, err := e.readScope(ctx, q)
	if err != nil {
		return x, err
	}
	t, err := memory.TraceOf(ctx, e.log, q.Channel, id)
	if errors.Is(err, memory.ErrNotFound) || err == nil && (t.Asker == 0 || t.Guild != q.Guild) {
		return x, ErrNoTrace // without an asker it is only the sources of an answer that isn't logged
	}
	if err != nil {
		return x, err
	}
	x.Trace = t
	x.Trace.Recalled = nil
	x.Trace.HeldBack = 0
	x.Trace.Sources = nil
	x.Trace.Named = nil
	x.Recalled, err = explained(ctx, now, t)
	if err != nil {
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
			TraceHit: hit,
			Author:   m.Author,
			Text:     m.Text(),
			Changed: m.Kind != memory.FromHark &&
				m.AsSource(false).Version != hit.Edited,
			Source: now.source(hit.Number, m),
		})
	}
	return told, nil
}
