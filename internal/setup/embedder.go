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

// Prefixes returns what is put before texts for an embedding server: what is set, else what the model is known to want.
func Prefixes(e config.Embedding) (sent, wanted embed.Prefixes, known bool) {
	wanted, known = embed.PrefixesOf(e.Model)
	sent = wanted
	if e.QueryPrefix != nil {
		sent.Query = *e.QueryPrefix
	}
	if e.DocumentPrefix != nil {
		sent.Document = *e.DocumentPrefix
	}
	return sent, wanted, known
}

// NewEmbedder returns the configured embedder: a static model, that of a server, or the built-in one. It asks a server for
// its vectors' dimensions only if they are neither configured nor found in known, the spaces of stored vectors.
// shortened may be nil; see embed.EndpointConfig.
func NewEmbedder(ctx context.Context, c config.Config, shortened func(texts, tokens int),
	known ...memory.Space) (memory.Embedder, error) {
	e := c.Embedding
	switch {
	case e.Path != "":
		return static.Open(e.Path)
	case e.Model == "":
		return embed.Builtin{}, nil
	}
	ec := endpointConfig(c)
	ec.Shortened = shortened
	endpoint := knownEndpoint(ec, known)
	if endpoint == nil {
		var err error
		endpoint, err = embed.OpenEndpoint(ctx, ec)
		if err != nil {
			return nil, err
		}
	}
	return embed.NewBreaker(endpoint), nil
}

// endpointConfig returns how the configured server is asked.
func endpointConfig(c config.Config) embed.EndpointConfig {
	e := c.Embedding
	prefixes, _, _ := Prefixes(e)
	return embed.EndpointConfig{
		BaseURL:    e.BaseURL,
		APIKey:     e.APIKey.Reveal(),
		Model:      e.Model,
		Prefixes:   prefixes,
		Dimensions: e.Dimensions,
		Timeout:    c.LLM.Timeout.Duration,
	}
}

// knownEndpoint returns an endpoint whose vectors' dimensions are those of a space that it made, be it with another
// prefix; nil if none is known.
func knownEndpoint(ec embed.EndpointConfig, known []memory.Space) (earlier *embed.Endpoint) {
	for _, space := range known {
		ec.Known = space.Dimensions
		endpoint, err := embed.NewEndpoint(ec)
		if err != nil {
			continue
		}
		if endpoint.Space() == space {
			return endpoint
		}
		if _, made := endpoint.Earlier(space); made && earlier == nil {
			earlier = endpoint
		}
	}
	return earlier
}

// earlierEmbedder returns an embedder of questions for vectors in a space that the configured model made with another
// prefix; nil if it made none in it.
func earlierEmbedder(c config.Config, use memory.Space) memory.Embedder {
	if c.Embedding.Path != "" || c.Embedding.Model == "" {
		return nil
	}
	ec := endpointConfig(c)
	ec.Known = use.Dimensions
	endpoint, err := embed.NewEndpoint(ec)
	if err != nil {
		return nil
	}
	if earlier, made := endpoint.Earlier(use); made {
		return embed.NewBreaker(earlier)
	}
	return nil
}

// NewReranker returns the configured reranker; nil if there is none. It makes no request.
func NewReranker(c config.Config) (*rerank.Reranker, error) {
	s := c.Search
	if s.RerankURL == "" {
		return nil, nil
	}
	return rerank.New(rerank.Config{
		URL:     s.RerankURL,
		APIKey:  s.RerankKey.Reveal(),
		Model:   s.RerankModel,
		Timeout: s.RerankTimeout.Duration,
	})
}

// standIn returns the embedder to use while the configured one fails with err, and what to tell the operator.
// If the stored vectors are the built-in embedder's, it embeds new messages; otherwise those wait.
func standIn(err error, use memory.Space) (memory.Embedder, error) {
	if use == (memory.Space{}) || use == (embed.Builtin{}).Space() {
		return embed.Builtin{}, fmt.Errorf("%w; until it can be used, Hark uses the built-in embedder", err)
	}
	err = fmt.Errorf("%w; until it can be used, Hark finds messages by words only", err)
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
