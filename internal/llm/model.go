package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hark/internal/chat"
)

// Model is a model and the one that stands in for it.
type Model struct {
	*Client
	fallback *Client            // nil if there is none
	instead  func(model string) // is told when the fallback is asked in the place of model; may be nil
}

// WithFallback is a model for which fallback stands in, unless that is nil or the same model at the same place.
func WithFallback(c, fallback *Client) *Model {
	if fallback != nil && fallback.config.Model == c.config.Model && fallback.endpoint() == c.endpoint() {
		fallback = nil
	}
	return &Model{Client: c, fallback: fallback}
}

// CanSee reports whether the model is sent images, or the one that stands in for it.
func (m *Model) CanSee() bool {
	return m.Client.CanSee() || m.fallback != nil && m.fallback.CanSee()
}

// Chat asks the model, and if that fails before anything was passed on, its fallback. Reply.Model says which of them
// wrote what came, and Reply.Instead why it wasn't the first. What the first doesn't take as it was asked (TooLong,
// NoTools, NoImages), it can be asked in another way, so that its fallback isn't asked.
func (m *Model) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	reply, passed, err := m.chat(ctx, r, delta)
	if err == nil || passed || m.fallback == nil || ctx.Err() != nil || mendable(err) {
		return reply, err
	}
	if m.instead != nil {
		m.instead(m.Name())
	}
	reply, passed, second := m.fallback.chat(ctx, r, delta)
	var refused *Error
	called := func(m chat.Message) bool { return len(m.Calls) > 0 }
	if errors.As(second, &refused) && refused.noTools && !passed && !slices.ContainsFunc(r.Messages, called) {
		r.Tools = nil // rather than to ask the first once more, for whose failure one may have waited long
		reply, _, second = m.fallback.chat(ctx, r, delta)
	}
	reply.Instead = err
	if second != nil && ctx.Err() == nil {
		second = fmt.Errorf("%w; it was asked because %w", second, err)
	}
	return reply, second
}

// mendable tells whether the same model may take another request for the same.
func mendable(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == TooLong || e.noTools || e.noImages)
}
