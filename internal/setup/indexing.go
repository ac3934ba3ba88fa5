package setup

import (
	"context"
	"sync"

	"hark/internal/embed"
	"hark/memory"
)

// newEmbedder returns the configured embedder, or else one that is awaited and why it can't be used yet. use and next
// are the spaces of stored vectors.
func (a *App) newEmbedder(ctx context.Context, use, next memory.Space) (memory.Embedder, error) {
	e, err := NewEmbedder(ctx, a.Config, a.shortened, next, use)
	if err == nil {
		return a.metered(e), nil
	}
	a.awaited = &awaited{pause: firstTry}
	a.awaited.standIn, a.awaited.told = standIn(err, use)
	a.awaited.open = func(ctx context.Context) (memory.Embedder, error) {
		e, err := NewEmbedder(ctx, a.Config, a.shortened)
		return a.metered(e), err
	}
	return a.awaited, err
}

// metered returns e with metrics, if it asks a server.
func (a *App) metered(e memory.Embedder) memory.Embedder {
	if b, asks := e.(*embed.Breaker); asks {
		return meteredEmbedder{b, a.Metrics}
	}
	return e
}

// shortened counts texts of which only the beginning was embedded.
func (a *App) shortened(texts, tokens int) {
	a.Metrics.EmbeddingShortened.Add(float64(texts))
	a.toldOf.Do(func() {
		if a.Shortened != nil {
			a.Shortened(tokens)
		}
	})
}

// StandIn returns why another embedder stands in for the configured one; nil if none does.
func (a *App) StandIn() error {
	if a.awaited == nil {
		return nil
	}
	return a.awaited.missing()
}

// stored returns the embedder of what is stored. a.indexing is held.
func (a *App) stored() memory.Embedder {
	if a.awaited != nil && !a.indexed {
		return a.awaited.standIn
	}
	return a.Embedder
}

// Indexing calls do with the embedder of what is stored, until ctx or do ends. While that stands in for the configured
// one, the latter is tried again. Once it can be used, do's context ends, and do is called with it: what is stored is
// then embedded anew, beside the vectors in use.
func (a *App) Indexing(ctx context.Context, do func(context.Context, memory.Embedder) error) error {
	if a.StandIn() != nil {
		standing, stop := context.WithCancel(ctx)
		defer stop()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			a.awaited.await(standing)
			stop()
		})
		err := do(standing, a.awaited.standIn)
		stop()
		waiting.Wait()
		if err != nil || ctx.Err() != nil || a.StandIn() != nil {
			return err
		}
	}
	if err := a.switchSpace(ctx); err != nil {
		return err
	}
	return do(ctx, a.Embedder)
}

// switchSpace has new vectors made by the configured embedder, and not by what stood in for it.
func (a *App) switchSpace(ctx context.Context) error {
	a.indexing.Lock()
	defer a.indexing.Unlock()
	if a.awaited == nil || a.indexed {
		return nil
	}
	err := a.Store.UseSpace(ctx, a.Embedder.Space())
	a.indexed = err == nil
	return err
}

// Index embeds what is pending. progress may be nil.
func (a *App) Index(ctx context.Context, progress func(done int)) error {
	a.indexing.RLock()
	defer a.indexing.RUnlock()
	indexer := memory.Indexer{Queue: a.Store, Embedder: a.stored()}
	return indexer.Drain(ctx, progress)
}
