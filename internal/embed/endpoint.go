package embed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"

	"hark/internal/endpoint"
	"hark/memory"
)

// EndpointConfig says which model embeds, and how it is asked.
type EndpointConfig struct {
	BaseURL    string // up to and including /v1
	APIKey     string // none is sent if empty
	Model      string
	Prefixes   Prefixes
	Dimensions int           // the length asked of models that offer several; 0: the model's own
	Known      int           // the length of the model's own vectors; 0: unknown
	Timeout    time.Duration // of one request; 0: 30 seconds
	Batch      int           // texts in one request at most; 0: 64
	// Shortened, if not nil, is called when only the beginnings of some texts were embedded, because the server takes
	// about so many tokens of a text at most. It may be called concurrently.
	Shortened func(texts, tokens int)
}

// Endpoint embeds with a model behind OpenAI's protocol. It may be used by several goroutines. It never asks twice.
// Its errors hold nothing of the texts, the key, or what the server says, which may quote both.
type Endpoint struct {
	config   EndpointConfig
	server   *endpoint.Server
	space    memory.Space
	limits   *limits
	refusals atomic.Int64 // of requests that were too long
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
	vectors, err := e.ask(ctx, c.Prefixes.Document, []string{"hello"})
	if err != nil {
		return nil, fmt.Errorf("ask embedding model %q for a vector: %w", c.Model, err)
	}
	e.space.Dimensions = len(vectors[0])
	return e, nil
}

func newEndpoint(c EndpointConfig) (*Endpoint, error) {
	server, err := endpoint.NewServer(endpoint.Server{
		What:    "embedding",
		URL:     strings.TrimRight(c.BaseURL, "/"),
		Limit:   maxVectors,
		Setting: "embedding.base_url",
		Secret:  "embedding.api_key",
		Example: "http://localhost:11434/v1",
		Missing: "check embedding.model, and that embedding.base_url ends in /v1",
		Switch:  "--embeddings",
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
	e := &Endpoint{
		config: c,
		server: server,
		limits: newLimits(c.Model),
	}
	e.space = memory.Space{Name: spaceName(c.Model, c.Prefixes.Document), Dimensions: c.Dimensions}
	if c.Dimensions == 0 {
		e.space.Dimensions = c.Known
	}
	return e, nil
}

// spaceName names a model's space. Texts that are embedded with another prefix lie elsewhere. What is put before
// questions doesn't matter: they aren't stored.
func spaceName(model, documentPrefix string) string {
	if documentPrefix == "" {
		return model
	}
	return fmt.Sprintf("%s %q", model, documentPrefix)
}

// documentPrefixOf returns the prefix of the stored texts in a space; false if the space isn't model's.
func documentPrefixOf(space memory.Space, model string) (prefix string, ok bool) {
	if space.Name == model {
		return "", true
	}
	quoted, ok := strings.CutPrefix(space.Name, model+" ")
	if !ok {
		return "", false
	}
	prefix, err := strconv.Unquote(quoted)
	return prefix, err == nil && spaceName(model, prefix) == space.Name
}

// Space returns where the vectors lie: named by the model and what is put before texts.
func (e *Endpoint) Space() memory.Space { return e.space }

// Earlier returns an embedder of questions for vectors that the same model made of texts with another prefix; false if
// a space isn't of such. Before texts without a prefix, questions had none either.
func (e *Endpoint) Earlier(space memory.Space) (*Endpoint, bool) {
	document, ok := documentPrefixOf(space, e.config.Model)
	if !ok || space == e.space {
		return nil, false
	}
	c := e.config
	c.Known = space.Dimensions
	c.Prefixes.Document = document
	if document == "" {
		c.Prefixes.Query = ""
	}
	earlier, err := NewEndpoint(c)
	return earlier, err == nil && earlier.space == space
}

// prefix returns what goes before texts of a purpose.
func (e *Endpoint) prefix(purpose memory.Purpose) string {
	if purpose == memory.ForSearch {
		return e.config.Prefixes.Query
	}
	return e.config.Prefixes.Document
}

// Embed returns a vector of length 1 for each text, nil for those that are blank.
func (e *Endpoint) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	var full []string
	var places []int // in texts, of those in full
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if text != "" {
			full = append(full, text)
			places = append(places, i)
		}
	}
	vectors := make([][]float32, len(texts))
	for len(full) > 0 {
		n := e.limits.batch(min(e.config.Batch, len(full)))
		found, err := e.fit(ctx, e.prefix(purpose), full[:n])
		if err != nil {
			return nil, fmt.Errorf("embed %d texts with model %q: %w", len(texts), e.config.Model, err)
		}
		for k, vector := range found {
			vectors[places[k]] = vector
		}
		full = full[n:]
		places = places[n:]
	}
	return vectors, nil
}

// errTooLong is what a server says of a text that is longer than the model takes.
var errTooLong error = tooLong{}

type tooLong struct{}

func (tooLong) Error() string { return "a text is longer than the model takes" }

// OfText says that another text may be taken.
func (tooLong) OfText() bool { return true }

// fit embeds texts. Of one that is too long for the model it embeds the beginning: otherwise it would hold up all texts
// behind it. Of a request that is refused, the longest text is likely the cause, so it is tried alone: either that
// teaches the limit for the others, or the others are to blame, or their number.
func (e *Endpoint) fit(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	shorter := e.limits.shortened(prefix, texts)
	vectors, err := e.ask(ctx, prefix, shorter)
	if err == nil {
		e.tellShortened(texts, shorter)
	}
	if !errors.Is(err, errTooLong) {
		return vectors, err
	}
	if len(texts) == 1 {
		vector, err := e.fitOne(ctx, prefix, shorter[0])
		return [][]float32{vector}, err
	}
	longest := e.limits.longest(shorter)
	before := e.limits.text()
	first, err := e.fit(ctx, prefix, texts[longest:longest+1])
	if err != nil {
		return nil, err
	}
	others := slices.Delete(slices.Clone(texts), longest, longest+1)
	var rest [][]float32
	if e.limits.text() != before {
		rest, err = e.fit(ctx, prefix, others)
	} else {
		rest, err = e.fitHalves(ctx, prefix, others)
	}
	if err != nil {
		return nil, err
	}
	return slices.Insert(rest, longest, first[0]), nil
}

// fitHalves embeds texts in two requests, or more where these are refused. If neither is, there were too many texts.
func (e *Endpoint) fitHalves(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	half := (len(texts) + 1) / 2
	refusals := e.refusals.Load()
	vectors, err := e.fit(ctx, prefix, texts[:half])
	if err != nil || half == len(texts) {
		return vectors, err
	}
	rest, err := e.fit(ctx, prefix, texts[half:])
	if err != nil {
		return nil, err
	}
	if e.refusals.Load() == refusals {
		e.limits.learnBatch(half)
	}
	return append(vectors, rest...), nil
}

// fitOne embeds the beginning of a text that was refused, and learns how long one may be, to about a fifth.
func (e *Endpoint) fitOne(ctx context.Context, prefix, text string) ([]float32, error) {
	var vector []float32
	passed := 0
	refused := e.limits.counter.Count(prefix + text)
	for refused-passed > max(1, passed/4) {
		most := (passed + refused) / 2
		shorter := e.limits.cut(prefix, text, most)
		if vector == nil && len(shorter) == len(text) {
			return nil, errTooLong // it can't be cut further
		}
		vectors, err := e.ask(ctx, prefix, []string{shorter})
		switch {
		case errors.Is(err, errTooLong):
			refused = most
			text = shorter
		case err != nil:
			return nil, err
		default:
			passed = most
			vector = vectors[0]
		}
	}
	if vector == nil {
		return nil, errTooLong
	}
	e.limits.learnText(passed)
	e.tellShortened([]string{text}, []string{""})
	return vector, nil
}

// tellShortened tells of the texts of which only the beginning was embedded.
func (e *Endpoint) tellShortened(texts, shorter []string) {
	n := 0
	for i := range texts {
		if len(shorter[i]) < len(texts[i]) {
			n++
		}
	}
	if n > 0 && e.config.Shortened != nil {
		e.config.Shortened(n, e.limits.text())
	}
}

const maxVectors = 128 << 20 // bytes of an answer

// ask makes one request.
func (e *Endpoint) ask(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = prefix + text
	}
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	x := endpoint.Recorder{Server: e.server}
	config := openai.DefaultConfig(e.config.APIKey)
	config.BaseURL = e.server.URL
	config.HTTPClient = &x
	answer, err := openai.NewClientWithConfig(config).CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input:      input,
		Model:      openai.EmbeddingModel(e.config.Model),
		Dimensions: e.config.Dimensions,
	})
	refused, is := errors.AsType[*endpoint.Refusal](err)
	switch {
	case is && isTooLong(refused):
		e.refusals.Add(1)
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

// isTooLong reports whether a server refuses texts because of their length or their number.
func isTooLong(r *endpoint.Refusal) bool {
	switch r.Status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return r.Says("context length", "context size", "context_length", "too long", "too large", "too many tokens",
			"maximum number of tokens", "max_tokens", "token limit", "sequence length", "max_seq", "input length",
			"maximum input", "max input", "batch size", "must have less than", "tokens allowed",
			"too_long", "too many inputs", "too many texts", "too many items", "number of inputs", "number of texts",
			"at most", "tokens per", "maxlength", "maximum allowed", "max allowed", "split into", "不得超过", "超过")
	}
	return false
}

// sorted returns the vectors of n texts in their order, each of length 1.
func (e *Endpoint) sorted(data []openai.Embedding, n int) ([][]float32, error) {
	if len(data) != n {
		return nil, fmt.Errorf("%v gave %d vectors for %d texts", e.server, len(data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range data {
		i := d.Index
		vector := d.Embedding
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
