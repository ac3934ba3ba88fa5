package setup

import (
	"context"
	"time"

	"hark/internal/embed"
	"hark/internal/metrics"
	"hark/internal/rerank"
	"hark/memory"
	"hark/memory/sqlstore"
	"hark/search"
)

// Parts of recall, as labels of metrics.
const (
	ofSearch    = "search"
	OfEmbedding = "embedding"
	OfReranking = "reranking"
)

// metered returns what ask returns. It observes the duration, or counts a failure unless ctx has ended.
func metered[T any](ctx context.Context, m *metrics.Metrics, what string, took interface{ Observe(float64) },
	ask func() (T, error)) (T, error) {
	began := time.Now()
	got, err := ask()
	switch {
	case err == nil:
		took.Observe(time.Since(began).Seconds())
	case ctx.Err() == nil:
		m.RecallFailures.WithLabelValues(what).Inc()
	}
	return got, err
}

// MeteredStore measures commits, and counts messages and forgettings.
type MeteredStore struct {
	*sqlstore.Store
	Metrics *metrics.Metrics
}

func (s MeteredStore) Apply(ctx context.Context, events ...memory.Event) error {
	began := time.Now()
	err := s.Store.Apply(ctx, events...)
	if err != nil {
		return err
	}
	s.Metrics.CommitSeconds.Observe(time.Since(began).Seconds())
	for _, e := range events {
		if _, is := e.(memory.Posted); is {
			s.Metrics.Messages.Inc()
		}
	}
	return nil
}

func (s MeteredStore) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	r, err := s.Store.Forget(ctx, f, progress)
	if err == nil {
		s.Metrics.Forgettings.WithLabelValues(string(r.Forgetting.Why)).Inc()
		s.Metrics.ForgottenMessages.Add(float64(r.Messages))
	}
	return r, err
}

// meteredSearch measures searches for answers.
type meteredSearch struct {
	*search.Engine
	m *metrics.Metrics
}

func (s meteredSearch) Search(ctx context.Context, q search.Query) (search.Result, error) {
	r, err := metered(ctx, s.m, ofSearch, s.m.SearchSeconds, func() (search.Result, error) {
		return s.Engine.Search(ctx, q)
	})
	if err == nil {
		s.m.SearchResults.Add(float64(len(r.Hits)))
	}
	return r, err
}

// meteredEmbedder is an embedding server, with metrics.
type meteredEmbedder struct {
	*embed.Breaker
	m *metrics.Metrics
}

func (e meteredEmbedder) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	of := "storage"
	if purpose == memory.ForSearch {
		of = "questions"
	}
	return metered(ctx, e.m, OfEmbedding, e.m.EmbeddingSeconds.WithLabelValues(of), func() ([][]float32, error) {
		return e.Breaker.Embed(ctx, purpose, texts)
	})
}

// meteredReranker measures a reranker.
type meteredReranker struct {
	*rerank.Reranker
	m *metrics.Metrics
}

func (r meteredReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	return metered(ctx, r.m, OfReranking, r.m.RerankingSeconds, func() ([]float64, error) {
		return r.Reranker.Rerank(ctx, query, texts)
	})
}
