package setup

import (
	"context"
	"fmt"

	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/embed/static"
	"hark/internal/rerank"
	"hark/memory"
)

// NewEmbedder returns the configured embedder: a static model, that of a server, or the built-in one. It asks a server for
// its vectors' dimensions only if they are neither configured nor found in known, the spaces of stored vectors.
func NewEmbedder(ctx context.Context, c config.Config, known ...memory.Space) (memory.Embedder, error) {
	e := c.Embedding
	switch {
	case e.Path != "":
		return static.Open(e.Path)
	case e.Model == "":
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

// NewReranker returns the configured reranker; nil if there is none. It makes no request.
func NewReranker(c config.Config) (*rerank.Reranker, error) {
	s := c.Search
	if s.RerankURL == "" {
		return nil, nil
	}
	return rerank.New(rerank.Config{
		URL: s.RerankURL, APIKey: s.RerankKey.Reveal(), Model: s.RerankModel, Timeout: s.RerankTimeout.Duration,
	})
}

// standIn returns the embedder to use while the configured one fails with err, and what to tell the operator.
// If the stored vectors are the built-in embedder's, it embeds new messages; otherwise those wait.
func standIn(err error, use memory.Space) (memory.Embedder, error) {
	if use == (memory.Space{}) || use == (embed.Builtin{}).Space() {
		return embed.Builtin{}, fmt.Errorf("%w; Hark uses the built-in embedder until it is restarted", err)
	}
	err = fmt.Errorf("%w; until it is restarted, Hark finds messages by words only", err)
	return absent{use, err}, err
}

// absent is an embedder that can't be reached.
type absent struct {
	space memory.Space
	err   error
}

func (a absent) Space() memory.Space { return a.space }

func (a absent) Embed(context.Context, memory.Purpose, []string) ([][]float32, error) {
	return nil, a.err
}
