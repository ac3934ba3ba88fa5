package embed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"hark/internal/endpoint"
	"hark/memory"
)

// EndpointConfig says which model embeds, and how it is asked.
type EndpointConfig struct {
	BaseURL        string // up to and including /v1
	APIKey         string // none is sent if empty
	Model          string
	Dimensions     int           // the length asked of models that offer several; 0: the model's own
	Known          int           // the length of the model's own vectors; 0: unknown
	QueryPrefix    string        // what the model wants before a question, such as "query: "
	DocumentPrefix string        // what it wants before a stored text
	Timeout        time.Duration // of one request; 0: 30 seconds
	Batch          int           // texts in one request at most; 0: 64
}

// Endpoint embeds with a model behind OpenAI's protocol. It may be used by several goroutines. It never asks twice.
// Its errors hold nothing of the texts, the key, or what the server says, which may quote both.
type Endpoint struct {
	config EndpointConfig
	server *endpoint.Server
	space  memory.Space
}

// NewEndpoint returns an embedder of a model whose vectors' length c tells. It makes no call.
func NewEndpoint(c EndpointConfig) (*Endpoint, error) {
	e, err := newEndpoint(c)
	if err == nil && e.space.Dimensions <= 0 {
		err = fmt.Errorf("embedding model %q: the length of its vectors isn't known", c.Model)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// OpenEndpoint is NewEndpoint that embeds a word to find the length, if that is unknown.
func OpenEndpoint(ctx context.Context, c EndpointConfig) (*Endpoint, error) {
	e, err := newEndpoint(c)
	if err != nil || e.space.Dimensions > 0 {
		return e, err
	}
	vectors, err := e.ask(ctx, []string{c.DocumentPrefix + "hello"})
	if err != nil {
		return nil, fmt.Errorf("ask embedding model %q for a vector: %w", c.Model, err)
	}
	e.space.Dimensions = len(vectors[0])
	return e, nil
}

func newEndpoint(c EndpointConfig) (*Endpoint, error) {
	server, err := endpoint.NewServer(endpoint.Server{
		What: "embedding", URL: strings.TrimRight(c.BaseURL, "/"), Limit: maxVectors,
		Setting: "embedding.base_url", Secret: "embedding.api_key", Example: "http://localhost:11434/v1",
		Missing: "check embedding.model, and that embedding.base_url ends in /v1",
	})
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Batch <= 0 {
		c.Batch = 64
	}
	e := &Endpoint{config: c, server: server}
	e.space = memory.Space{Name: c.Model, Dimensions: c.Dimensions}
	if c.Dimensions == 0 {
		e.space.Dimensions = c.Known
	}
	if c.DocumentPrefix != "" { // texts embedded without it lie elsewhere
		e.space.Name = fmt.Sprintf("%s %q", c.Model, c.DocumentPrefix)
	}
	return e, nil
}

// Space returns where the vectors lie: named by the model and what is put before texts.
func (e *Endpoint) Space() memory.Space { return e.space }

// Embed returns a vector of length 1 for each text, nil for those that are blank.
func (e *Endpoint) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	prefix := e.config.DocumentPrefix
	if purpose == memory.ForSearch {
		prefix = e.config.QueryPrefix
	}
	vectors := make([][]float32, len(texts))
	var batch []string
	var places []int // in texts, of those in batch
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			batch = append(batch, prefix+strings.TrimSpace(text))
			places = append(places, i)
		}
		if len(batch) < e.config.Batch && i < len(texts)-1 || len(batch) == 0 {
			continue
		}
		found, err := e.fit(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("embed %d texts with model %q: %w", len(texts), e.config.Model, err)
		}
		for k, vector := range found {
			vectors[places[k]] = vector
		}
		batch, places = nil, nil
	}
	return vectors, nil
}

const leastText = 64 // bytes; a text isn't cut below that

// errTooLong is what a server says of a text that is longer than the model takes.
var errTooLong error = tooLong{}

type tooLong struct{}

func (tooLong) Error() string { return "a text is longer than the model takes" }

// OfText says that another text may be taken.
func (tooLong) OfText() bool { return true }

// fit embeds texts. Of one that is too long for the model, it embeds the beginning: otherwise it would hold up all
// texts behind it.
func (e *Endpoint) fit(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.ask(ctx, texts)
	switch {
	case !errors.Is(err, errTooLong):
		return vectors, err
	case len(texts) > 1:
		first, err := e.fit(ctx, texts[:len(texts)/2])
		if err != nil {
			return nil, err
		}
		second, err := e.fit(ctx, texts[len(texts)/2:])
		return append(first, second...), err
	case len(texts[0]) > leastText:
		return e.fit(ctx, []string{halve(texts[0])})
	}
	return nil, err
}

func halve(text string) string {
	at := len(text) / 2
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at]
}

const maxVectors = 128 << 20 // bytes of an answer

// ask makes one request.
func (e *Endpoint) ask(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	x := endpoint.Recorder{Server: e.server}
	config := openai.DefaultConfig(e.config.APIKey)
	config.BaseURL, config.HTTPClient = e.server.URL, &x
	answer, err := openai.NewClientWithConfig(config).CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: texts, Model: openai.EmbeddingModel(e.config.Model), Dimensions: e.config.Dimensions,
	})
	refused, is := errors.AsType[*endpoint.Refusal](err)
	switch {
	case is && isTooLong(refused):
		return nil, errTooLong
	case err != nil && x.Body == nil:
		return nil, err
	case err != nil || nullNumber.Match(x.Body):
		return nil, fmt.Errorf("%v answers with something else than vectors of finite numbers: does "+
			"embedding.base_url lead to its API, up to and including /v1?", e.server)
	}
	if !bytes.Contains(x.Body, []byte(`"index"`)) {
		for i := range answer.Data {
			answer.Data[i].Index = i
		}
	}
	return e.sorted(answer.Data, len(texts))
}

// nullNumber matches a null in a list. go-openai would make it a 0 without a word.
var nullNumber = regexp.MustCompile(`[\[,]\s*null`)

func isTooLong(r *endpoint.Refusal) bool {
	return r.Status == http.StatusRequestEntityTooLarge || r.Status != http.StatusTooManyRequests &&
		r.Says("context length", "context size", "context_length", "too long", "too large",
			"maximum number of tokens", "max_tokens")
}

// sorted returns the vectors of n texts in their order, each of length 1.
func (e *Endpoint) sorted(data []openai.Embedding, n int) ([][]float32, error) {
	if len(data) != n {
		return nil, fmt.Errorf("%v gave %d vectors for %d texts", e.server, len(data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range data {
		i, vector := d.Index, d.Embedding
		if i < 0 || i >= n || vectors[i] != nil {
			return nil, fmt.Errorf("%v gave index %d twice or out of range", e.server, i)
		}
		if !normalize(vector) {
			return nil, fmt.Errorf("%v gave vector %d wrong: it is all zeros, or empty", e.server, i)
		}
		want := e.space.Dimensions
		if want == 0 { // not known yet
			want = len(vector)
		}
		if len(vector) != want {
			return nil, fmt.Errorf("%v gave vectors of length %d, where they had %d before or "+
				"should: is %q still the same model, and embedding.dimensions right?", e.server, len(vector), want, e.config.Model)
		}
		vectors[i] = vector
	}
	return vectors, nil
}

// normalize makes a vector's length 1, unless it is 0.
func normalize(vector []float32) bool {
	sum := 0.0 // which no sum of squares of float32 overflows
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	for i, x := range vector {
		vector[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return sum > 0
}

var _ memory.Embedder = (*Endpoint)(nil)

// QuestionTimeout is how long a search waits for a question's vector. Without it, only full text finds.
const QuestionTimeout = 4 * time.Second

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
