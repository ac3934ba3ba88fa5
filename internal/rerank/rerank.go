// Package rerank asks a server how well each text answers a question, by the /rerank request of Text Embeddings
// Inference (TEI), llama.cpp, Jina and Cohere. Begin with Config, New and Reranker.Rerank.
//
// TEI requires the texts as "texts". The others want "documents", and Cohere refuses unknown fields. Hark sends
// "documents" first, sends "texts" if the server asks for it, and remembers that.
package rerank

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"hark/internal/endpoint"
)

// Config configures a Reranker.
type Config struct {
	URL     string        // whole, including /rerank
	APIKey  string        // empty: none is sent
	Model   string        // empty: the server's only one
	Timeout time.Duration // of one Rerank; 0: 2 seconds
}

// Reranker ranks with a model behind a server. It is safe for concurrent use. A server that fails is left alone
// for a while; see endpoint.Breaker.
type Reranker struct {
	endpoint.Breaker
	config Config
	server *endpoint.Server
	tei    atomic.Bool // the server wanted "texts" last time
}

// New returns a Reranker. It makes no call.
func New(c Config) (*Reranker, error) {
	if c.Timeout <= 0 {
		c.Timeout = 2 * time.Second
	}
	server, err := endpoint.NewServer(endpoint.Server{
		What:    "rerank",
		URL:     c.URL,
		Key:     c.APIKey,
		Setting: "search.rerank_url",
		Secret:  "search.rerank_key",
		Example: "http://localhost:8080/rerank",
		Missing: "check search.rerank_model, and that search.rerank_url is the whole address, up to and including /rerank",
		Switch:  "--reranking",
		Limit:   maxAnswer,
	})
	if err != nil {
		return nil, err
	}
	return &Reranker{
		config:  c,
		server:  server,
		Breaker: endpoint.Breaker{What: "rerank server"},
	}, nil
}

// Name returns the model's name, or else the server's address.
func (r *Reranker) Name() string { return cmp.Or(r.config.Model, r.server.String()) }

// Rerank returns a score for each text, in order; higher answers query better. Scores are finite and compare only
// within one call. It returns an error if the server fails, is too slow or is left alone; the error contains
// nothing of query or texts.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) (scores []float64, err error) {
	if len(texts) == 0 {
		return nil, nil
	}
	err = r.Do(ctx, r.config.Timeout, func(ctx context.Context) error {
		scores, err = r.rank(ctx, query, texts)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w; it has %v (search.rerank_timeout)", err, r.config.Timeout)
	}
	if err != nil {
		return nil, fmt.Errorf("rerank %d texts: %w", len(texts), err)
	}
	return scores, nil
}

// rank asks in the form that the server accepted last, or tries both.
func (r *Reranker) rank(ctx context.Context, query string, texts []string) ([]float64, error) {
	var refused *endpoint.Refusal
	if !r.tei.Load() {
		scores, err := r.ask(ctx, documentsForm{r.config.Model, query, texts, len(texts)}, len(texts))
		if !errors.As(err, &refused) || !refused.OfText() || !refused.Says("texts") {
			return scores, err
		}
	}
	scores, err := r.inBatches(ctx, query, texts)
	if err == nil {
		r.tei.Store(true)
	} else if errors.As(err, &refused) && refused.OfText() {
		r.tei.Store(false) // another server may have taken its place
	}
	return scores, err
}

// documentsForm is what llama.cpp, Jina and Cohere take.
type documentsForm struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"` // all: some servers return fewer by default
}

// textsForm is what TEI takes. Without Truncate it refuses texts too long for its model.
type textsForm struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// teiBatch is how many texts TEI takes at once by default (--max-client-batch-size). It scores each text alone,
// so scores of several batches compare.
const teiBatch = 32

func (r *Reranker) inBatches(ctx context.Context, query string, all []string) ([]float64, error) {
	var scores []float64
	for len(all) > 0 {
		n := min(teiBatch, len(all))
		batch, err := r.ask(ctx, textsForm{query, all[:n], true}, n)
		if err != nil {
			return nil, err
		}
		scores = append(scores, batch...)
		all = all[n:]
	}
	return scores, nil
}

// maxAnswer bounds an answer, in bytes. Some servers send the texts back.
const maxAnswer = 4 << 20

// ask makes one request about n texts.
func (r *Reranker) ask(ctx context.Context, body any, n int) ([]float64, error) {
	answer, err := r.server.Post(ctx, body)
	if err != nil {
		return nil, err
	}
	return r.parse(answer, n)
}

// rank is a server's result for a text. JSON has no infinite numbers: they come as null, or fail to parse.
type rank struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"` // what TEI calls it
}

// parse reads the scores of n texts, in any order.
func (r *Reranker) parse(body []byte, n int) ([]float64, error) {
	var ranks []rank
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) { // TEI
		err = json.Unmarshal(body, &ranks)
	} else {
		var answer struct {
			Results []rank `json:"results"`
		}
		err = json.Unmarshal(body, &answer)
		ranks = answer.Results
	}
	if err != nil {
		return nil, fmt.Errorf("%v answers with something else than ranks: is search.rerank_url its whole address, "+
			"up to and including /rerank?", r.server)
	}
	if len(ranks) != n {
		return nil, fmt.Errorf("%v gave %d ranks for %d texts", r.server, len(ranks), n)
	}
	scores := make([]float64, n)
	seen := make([]bool, n)
	for _, rank := range ranks {
		if rank.Score == nil {
			rank.Score = rank.Relevance
		}
		if rank.Index == nil || rank.Score == nil {
			return nil, fmt.Errorf("%v gave a rank without an index or a finite score: is the model a reranker? "+
				"(search.rerank_model)", r.server)
		}
		i := *rank.Index
		if i < 0 || i >= n || seen[i] {
			return nil, fmt.Errorf("%v gave index %d twice or out of range", r.server, i)
		}
		scores[i] = *rank.Score
		seen[i] = true
	}
	return scores, nil
}
