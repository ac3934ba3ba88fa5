package embed

import (
	"context"
	"time"

	"hark/internal/endpoint"
	"hark/memory"
)

// QuestionTimeout is how long a search waits for a question's vector. Without it, only full text finds.
const QuestionTimeout = 4 * time.Second

// Health is how a server did of late.
type Health = endpoint.Health

// Breaker leaves a failing embedder alone; see endpoint.Breaker. Questions wait for QuestionTimeout at most.
type Breaker struct {
	memory.Embedder
	endpoint.Breaker
}

// NewBreaker returns a Breaker of an embedder.
func NewBreaker(e memory.Embedder) *Breaker {
	return &Breaker{Embedder: e, Breaker: endpoint.Breaker{What: "embedder"}}
}

// Embed implements memory.Embedder. While the embedder is left alone, the error is an *endpoint.Resting.
func (b *Breaker) Embed(ctx context.Context, purpose memory.Purpose, texts []string) (vectors [][]float32, err error) {
	limit := time.Duration(0)
	if purpose == memory.ForSearch {
		limit = QuestionTimeout
	}
	err = b.Do(ctx, limit, func(ctx context.Context) error {
		vectors, err = b.Embedder.Embed(ctx, purpose, texts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}
