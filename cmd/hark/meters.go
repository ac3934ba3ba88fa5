package main

import (
	"context"
	"time"

	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/meter"
	"hark/internal/rerank"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// meters count what Hark does and what it asks of others.
type meters struct {
	commits     meter.Times[struct{}]       // to the log
	messages    meter.Counts[struct{}]      // given to the log
	forgettings meter.Counts[memory.Why]    // carried out
	forgotten   meter.Counts[struct{}]      // messages
	searches    meter.Times[struct{}]       //
	hits        meter.Counts[struct{}]      // of searches
	failed      meter.Counts[string]        // searches, embeddings and rerankings, by which of these
	embeddings  meter.Times[memory.Purpose] // by an embedding server
	rerankings  meter.Times[struct{}]       //
	models      meter.Times[string]         // by model
	errors      meter.Counts[modelError]    // of models
	instead     meter.Counts[string]        // times that the fallback was asked, by model
}

// modelError is a kind of failures of a model.
type modelError struct{ model, kind string }

// What can fail.
const (
	ofSearch    = "search"
	ofEmbedding = "embedding"
	ofReranking = "reranking"
)

// modelCalled counts a call of a model.
func (m *meters) modelCalled(model string, took time.Duration, failed error) {
	m.models.Add(model, took)
	if failed != nil {
		m.errors.Add(modelError{model, llm.KindOf(failed).String()}, 1)
	}
}

// fellBack counts that the fallback is asked in the place of a model.
func (m *meters) fellBack(model string) { m.instead.Add(model, 1) }

// fails counts what failed by itself, rather than because nobody waits for it any more.
func (m *meters) fails(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		m.failed.Add(what, 1)
	}
}

// timedLog is the store as the bot and the house see it, whose work is counted.
type timedLog struct {
	*sqlite.Store
	m *meters
}

func (l timedLog) Apply(ctx context.Context, events ...memory.Event) error {
	began := time.Now()
	err := l.Store.Apply(ctx, events...)
	if err != nil {
		return err
	}
	l.m.commits.Add(struct{}{}, time.Since(began))
	said := int64(0)
	for _, e := range events {
		if _, is := e.(memory.Posted); is {
			said++
		}
	}
	l.m.messages.Add(struct{}{}, said)
	return nil
}

func (l timedLog) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	r, err := l.Store.Forget(ctx, f, progress)
	return r, l.forgot(r, err)
}

func (l timedLog) CarryOut(ctx context.Context, id int64, progress func(done, total int)) (memory.Receipt, error) {
	r, err := l.Store.CarryOut(ctx, id, progress)
	return r, l.forgot(r, err)
}

func (l timedLog) forgot(r memory.Receipt, err error) error {
	if err == nil {
		l.m.forgettings.Add(r.Forgetting.Why, 1)
		l.m.forgotten.Add(struct{}{}, int64(r.Messages))
	}
	return err
}

// timedSearch counts searches for answers.
type timedSearch struct {
	*search.Engine
	m *meters
}

func (s timedSearch) Search(ctx context.Context, q search.Query) (search.Result, error) {
	began := time.Now()
	r, err := s.Engine.Search(ctx, q)
	if s.m.fails(ctx, ofSearch, err); err == nil {
		s.m.searches.Add(struct{}{}, time.Since(began))
		s.m.hits.Add(struct{}{}, int64(len(r.Hits)))
	}
	return r, err
}

// timedEmbedder counts what an embedding server is asked.
type timedEmbedder struct {
	*embed.Breaker
	m *meters
}

func (e timedEmbedder) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	began := time.Now()
	vectors, err := e.Breaker.Embed(ctx, purpose, texts)
	if e.m.fails(ctx, ofEmbedding, err); err == nil {
		e.m.embeddings.Add(purpose, time.Since(began))
	}
	return vectors, err
}

// timedReranker counts what a reranker is asked.
type timedReranker struct {
	*rerank.Reranker
	m *meters
}

func (r timedReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	began := time.Now()
	scores, err := r.Reranker.Rerank(ctx, query, texts)
	if r.m.fails(ctx, ofReranking, err); err == nil {
		r.m.rerankings.Add(struct{}{}, time.Since(began))
	}
	return scores, err
}
