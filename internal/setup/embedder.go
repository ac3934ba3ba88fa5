package setup

import (
	"context"
	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/rerank"
	"hark/memory"
)

// NewEmbedder is the one that the configuration names. An endpoint is asked how long its vectors are only if that
// neither is configured nor shows in one of known, where vectors lie that it may have made.
func NewEmbedder(ctx context.Context, c config.Config, known ...memory.Space) (memory.Embedder, error) {
	e := c.Embedding
	if e.Model == "" {
		return embed.Builtin{}, nil
	}
	ec := embed.EndpointConfig{
		BaseURL: e.BaseURL, APIKey: e.APIKey.Reveal(), Model: e.Model, Dimensions: e.Dimensions,
		QueryPrefix: e.QueryPrefix, DocumentPrefix: e.DocumentPrefix, Timeout: c.LLM.Timeout.Duration,
	}
	for _, space := range known {
		ec.Known = space.Dimensions
		if endpoint, err := embed.NewEndpoint(ec); err == nil && endpoint.Space() == space {
			return embed.NewBreaker(endpoint), nil
		}
	}
	ec.Known = 0
	endpoint, err := embed.OpenEndpoint(ctx, ec)
	if err != nil {
		return nil, err
	}
	return embed.NewBreaker(endpoint), nil
}

// NewReranker is the one that the configuration names; nil if it names none. It isn't asked anything yet.
func NewReranker(c config.Config) (*rerank.Reranker, error) {
	s := c.Search
	if s.RerankURL == "" {
		return nil, nil
	}
	return rerank.New(rerank.Config{
		URL: s.RerankURL, APIKey: s.RerankKey.Reveal(), Model: s.RerankModel, Timeout: s.RerankTimeout.Duration,
	})
}
