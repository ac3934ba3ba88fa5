package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hark/memory"
)

// EndpointConfig says which model embeds, and how it is asked.
type EndpointConfig struct {
	BaseURL        string // up to and including /v1
	APIKey         string // none is sent if empty
	Model          string
	Dimensions     int           // the length asked of models that offer several; 0: the model's own
	Known          int           // the length of the model's own vectors, where it is known from before; 0: it isn't
	QueryPrefix    string        // what the model wants before a question, such as "query: "
	DocumentPrefix string        // what it wants before a text that is to be found
	Timeout        time.Duration // of one request; 0: 30 seconds
	Batch          int           // texts in one request at most; 0: 64
}

// Endpoint embeds with a model behind OpenAI's protocol. It may be used by several goroutines. It asks once:
// who calls it knows whether to ask again, later, or to do without. Its errors hold nothing of the texts, of the
// key, or of what the server says, which may quote both.
//
// The call is plain HTTP: it is one POST, and a client library would neither check nor sort what comes back.
type Endpoint struct {
	config EndpointConfig
	http   *http.Client
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

// OpenEndpoint is NewEndpoint that, if need be, asks the server for the length by embedding a word.
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
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" {
		return nil, errors.New("embedding.base_url is no address: it looks like http://localhost:11434/v1")
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Batch <= 0 {
		c.Batch = 64
	}
	e := &Endpoint{config: c, http: &http.Client{
		// The texts go to the address that was configured, or nowhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	e.space = memory.Space{Name: c.Model, Dimensions: c.Dimensions}
	if c.Dimensions == 0 {
		e.space.Dimensions = c.Known
	}
	if c.DocumentPrefix != "" { // texts embedded without it lie elsewhere
		e.space.Name = fmt.Sprintf("%s %q", c.Model, c.DocumentPrefix)
	}
	return e, nil
}

// Space is where the vectors lie: named by the model and what is put before texts.
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
var errTooLong = errors.New("a text is longer than the model takes")

// fit embeds texts. Where one is too long for the model, its beginning stands for it: a vector of half a text is
// better than a text that holds up all behind it.
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
	request, err := e.request(ctx, texts)
	if err != nil {
		return nil, err
	}
	resp, err := e.http.Do(request)
	if err != nil {
		return nil, e.unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxVectors))
	if err != nil {
		return nil, e.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, e.refusal(resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	return e.parse(body, len(texts))
}

func (e *Endpoint) request(ctx context.Context, texts []string) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{e.config.Model, texts, e.config.Dimensions})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.BaseURL+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if e.config.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+e.config.APIKey)
	}
	return request, nil
}

func (e *Endpoint) unreachable(err error) error {
	var where *url.Error // names the address, with whatever is secret in it
	if errors.As(err, &where) {
		err = where.Err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("the embedding server at %s can't be reached, or is too slow: is it running? (embedding.base_url) %w",
		e.place(), err)
}

// place is the server's address without what may be secret in it.
func (e *Endpoint) place() string {
	u, err := url.Parse(e.config.BaseURL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// refusal makes an error of an answer other than 200.
func (e *Endpoint) refusal(status int, retryAfter string, body []byte) error {
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	for _, phrase := range []string{"context length", "context size", "context_length", "too long", "too large", "maximum number of tokens", "max_tokens"} {
		if status == http.StatusRequestEntityTooLarge || status != http.StatusTooManyRequests && strings.Contains(text, phrase) {
			return errTooLong
		}
	}
	advice := "its log may say why"
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		advice = "check embedding.api_key"
	case status == http.StatusNotFound:
		advice = "check embedding.model, and that embedding.base_url ends in /v1"
	case status >= 300 && status < 400:
		advice = "put the address it is really at into embedding.base_url"
	case status == http.StatusTooManyRequests || status >= 500:
		advice = "it is asked again later; " + advice
	}
	err := fmt.Errorf("the embedding server at %s answers %d %s: %s", e.place(), status, http.StatusText(status), advice)
	return &refusal{error: err, status: status, after: waitOf(retryAfter)}
}

// refusal is a server's answer other than 200.
type refusal struct {
	error
	status int
	after  time.Duration // for which the server doesn't want to be asked; 0 if it doesn't say
}

// RetryAfter is for how long the server doesn't want to be asked; 0 if it doesn't say.
func (r *refusal) RetryAfter() time.Duration { return r.after }

// ofText reports whether it is what was asked that is refused, so that another text may be taken.
func (r *refusal) ofText() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity
}

// longestWait is the longest that a server's word to wait is taken for: beyond it the word is more likely wrong.
const longestWait = 24 * time.Hour

// waitOf reads Retry-After: seconds or a date.
func waitOf(header string) time.Duration {
	header = strings.TrimSpace(header)
	var wait time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(seconds, int(longestWait/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = time.Until(date)
	}
	return min(max(wait, 0), longestWait)
}

// parse reads the vectors of n texts, whatever order they come in.
func (e *Endpoint) parse(body []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil, fmt.Errorf("the embedding server at %s answers with something else than vectors: does embedding.base_url "+
			"lead to its API, up to and including /v1?", e.place())
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("the embedding server at %s gave %d vectors for %d texts", e.place(), len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range answer.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= n || vectors[i] != nil {
			return nil, fmt.Errorf("the embedding server at %s gave index %d twice or out of range", e.place(), i)
		}
		vector, err := unit(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("the embedding server at %s gave vector %d wrong: %w", e.place(), i, err)
		}
		want := e.space.Dimensions
		if want == 0 { // not known yet
			want = len(vector)
		}
		if len(vector) != want {
			return nil, fmt.Errorf("the embedding server at %s gave vectors of length %d, where they had %d before or "+
				"should: is %q still the same model, and embedding.dimensions right?", e.place(), len(vector), want, e.config.Model)
		}
		vectors[i] = vector
	}
	return vectors, nil
}

// unit reads a vector and makes its length 1.
func unit(raw json.RawMessage) ([]float32, error) {
	var numbers []float64
	// A null would leave a 0 without a word, and 1e999 is an error of its own.
	if bytes.Contains(raw, []byte("null")) || json.Unmarshal(raw, &numbers) != nil {
		return nil, errors.New("it isn't all finite numbers")
	}
	var most, sum float64
	for _, x := range numbers {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return nil, errors.New("it is all zeros, or empty")
	}
	for _, x := range numbers {
		sum += x / most * (x / most) // most apart, so that nothing overflows
	}
	vector := make([]float32, len(numbers))
	for i, x := range numbers {
		vector[i] = float32(x / most / math.Sqrt(sum))
	}
	return vector, nil
}

var _ memory.Embedder = (*Endpoint)(nil)
