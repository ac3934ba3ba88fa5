package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"hark/memory"
)

// tight is a server that refuses requests, and gives each text a vector by which the test knows it again.
type tight struct {
	address string
	refuses func(texts []string) (status int, why string) // 0: it doesn't

	mu      sync.Mutex
	taken   []string
	refused int // requests
}

func newTight(t *testing.T, refuses func(texts []string) (int, string)) *tight {
	s := &tight{refuses: refuses}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.address = web.URL
	return s
}

// ServeHTTP answers without indexes, as some servers do.
func (s *tight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Input []string }
	_ = json.NewDecoder(r.Body).Decode(&request)
	s.mu.Lock()
	defer s.mu.Unlock()
	status, why := s.refuses(request.Input)
	if status != 0 {
		s.refused++
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, why)
		return
	}
	var data []string
	for _, text := range request.Input {
		s.taken = append(s.taken, text)
		data = append(data, fmt.Sprintf(`{"embedding":[%d,1]}`, len(s.taken)))
	}
	fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
}

// of returns the text that a vector was made of.
func (s *tight) of(vector []float32) string {
	return s.taken[int(math.Round(float64(vector[0]/vector[1])))-1]
}

// embeds embeds texts, which must all get a vector, and returns what was embedded of each.
func (s *tight) embeds(t *testing.T, e *Endpoint, texts []string) (embedded []string) {
	t.Helper()
	vectors, err := e.Embed(t.Context(), memory.ForStorage, texts)
	if err != nil || len(vectors) != len(texts) {
		t.Fatalf("%d vectors of %d texts, %v", len(vectors), len(texts), err)
	}
	for _, vector := range vectors {
		embedded = append(embedded, s.of(vector))
	}
	return embedded
}

// endpoint returns an embedder of a tight server, whose vectors have two numbers.
func (s *tight) endpoint(t *testing.T, change func(*EndpointConfig)) *Endpoint {
	t.Helper()
	c := EndpointConfig{BaseURL: s.address, Model: "m", Known: 2}
	if change != nil {
		change(&c)
	}
	e, err := NewEndpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// longestText refuses texts of more words, each of which counts as several tokens.
func longestText(words int) func(texts []string) (int, string) {
	return func(texts []string) (int, string) {
		for _, text := range texts {
			if n := len(strings.Fields(text)); n > words {
				return http.StatusInternalServerError, fmt.Sprintf("input (%d tokens) is too large to process. "+
					"increase the physical batch size (current batch size: %d)", n, words)
			}
		}
		return 0, ""
	}
}

// essay returns a text of so many words.
func essay(about string, words int) string {
	return about + strings.Repeat(" and so they walked home again", words/6)
}

// Of 76 long texts each has a vector, of most of what the server takes, for a handful of refusals: 223 requests were
// refused when each text was tried in whole.
func TestTheLimitOfLengthIsLearnt(t *testing.T) {
	t.Parallel()
	const most = 512
	s := newTight(t, longestText(most))
	cut, limit := 0, 0
	e := s.endpoint(t, func(c *EndpointConfig) {
		c.Prefixes.Document = "passage: "
		c.Shortened = func(texts, tokens int) {
			cut += texts
			limit = tokens
		}
	})
	texts := []string{"a short one"}
	for i := range 76 {
		texts = append(texts, essay(fmt.Sprintf("text %d", i), 600+10*i))
	}
	for i, got := range s.embeds(t, e, texts) {
		n := len(strings.Fields(got))
		body, prefixed := strings.CutPrefix(got, "passage: ")
		rest, begins := strings.CutPrefix(texts[i], body)
		if !prefixed || !begins || i > 0 && (n < most*2/3 || rest[0] != ' ') {
			t.Errorf("of text %d it embedded %d words: %.20q … %q", i, n, got, got[max(0, len(got)-20):])
		}
	}
	if s.refused > 6 {
		t.Errorf("%d refused requests", s.refused)
	}
	if cut != 76 || limit < most/2 || limit > 2*most {
		t.Errorf("told that %d texts were cut to %d tokens", cut, limit)
	}
	before := s.refused
	s.embeds(t, e, texts)
	if s.refused != before {
		t.Errorf("%d requests were refused the second time", s.refused-before)
	}
}

// What was learnt is out of date after an hour: the server may have been started with room for more.
func TestTheLimitOfLengthIsForgotten(t *testing.T) {
	t.Parallel()
	s := newTight(t, longestText(100))
	e := s.endpoint(t, nil)
	now := time.Now()
	e.limits.clock = func() time.Time { return now }
	texts := []string{essay("one", 300)}
	s.embeds(t, e, texts)
	s.refuses = longestText(1000)
	if got := s.embeds(t, e, texts); got[0] == texts[0] {
		t.Error("it is embedded in whole at once")
	}
	now = now.Add(limitTime + 1)
	if got := s.embeds(t, e, texts); got[0] != texts[0] {
		t.Error("it is still cut")
	}
}

// A text with more tokens than Hark thinks costs the others little.
func TestATextThatIsLongerThanItLooks(t *testing.T) {
	t.Parallel()
	usual := longestText(200)
	s := newTight(t, func(texts []string) (int, string) {
		for _, text := range texts {
			if strings.HasPrefix(text, "odd") && len(strings.Fields(text)) > 20 {
				return http.StatusBadRequest, "the text is too long"
			}
		}
		return usual(texts)
	})
	e := s.endpoint(t, nil)
	texts := []string{essay("first", 300), essay("second", 300), essay("third", 300)}
	s.embeds(t, e, texts)
	s.embeds(t, e, []string{essay("odd", 300)})
	for i, got := range s.embeds(t, e, texts) {
		if n := len(strings.Fields(got)); n < 100 {
			t.Errorf("of text %d it embedded %d words", i, n)
		}
	}
}

// A server that takes fewer texts in a request than Hark sends isn't sent as many each time. None is cut.
func TestTheLimitOfTextsInARequestIsLearnt(t *testing.T) {
	t.Parallel()
	s := newTight(t, func(texts []string) (int, string) {
		if len(texts) > 32 {
			return http.StatusRequestEntityTooLarge, "batch size 64 > maximum allowed batch size 32"
		}
		return 0, ""
	})
	e := s.endpoint(t, func(c *EndpointConfig) { c.Shortened = func(int, int) { t.Error("a text was cut") } })
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	for i, got := range s.embeds(t, e, texts) {
		if got != texts[i] {
			t.Errorf("text %d has the vector of %q", i, got)
		}
	}
	if s.refused != 1 {
		t.Errorf("%d refused requests", s.refused)
	}
}

// Servers say in many words that a request has too many texts.
func TestTooManyTexts(t *testing.T) {
	t.Parallel()
	for _, why := range []string{
		"Too many inputs. The max number of inputs is 16.",
		"Too many inputs in request, split into more batches.",
		`[{"type":"too_long","loc":["body","input"],"msg":"List should have at most 16 items after validation, not 64"}]`,
		"The max allowed tokens per submitted batch is 120000.",
		"Malformed input request: expected maxLength: 16, actual: 64",
		"input数组最大不得超过16条",
	} {
		s := newTight(t, func(texts []string) (int, string) {
			if len(texts) > 16 {
				return http.StatusBadRequest, why
			}
			return 0, ""
		})
		e := s.endpoint(t, nil)
		var texts []string
		for i := range 64 {
			texts = append(texts, fmt.Sprintf("text %d", i))
		}
		for i, got := range s.embeds(t, e, texts) {
			if got != texts[i] {
				t.Errorf("%s: text %d has the vector of %q", why, i, got)
			}
		}
		refused := s.refused
		s.embeds(t, e, texts)
		if refused == 0 || s.refused != refused {
			t.Errorf("%s: %d refused requests, and then %d", why, refused, s.refused-refused)
		}
	}
}

// bytesAtMost refuses texts of more bytes.
func bytesAtMost(limit int) func(texts []string) (int, string) {
	return func(texts []string) (int, string) {
		for _, text := range texts {
			if len(text) > limit {
				return http.StatusBadRequest, "This model's maximum context length is small"
			}
		}
		return 0, ""
	}
}

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	texts := []string{"short", "x" + strings.Repeat("語", 100), "also short", strings.Repeat("👍🏽", 60), "last"}
	s := newTight(t, bytesAtMost(120))
	for i, got := range s.embeds(t, s.endpoint(t, nil), texts) {
		if !strings.HasPrefix(texts[i], got) || !utf8.ValidString(got) || len(texts[i]) > 120 && len(got) < leastText-3 {
			t.Errorf("of %q it embedded %q", texts[i], got)
		}
	}
	for _, limit := range []int{0, 3} {
		hopeless := newTight(t, bytesAtMost(limit)).endpoint(t, nil)
		if vectors, err := hopeless.Embed(t.Context(), memory.ForStorage, texts); !errors.Is(err, errTooLong) ||
			vectors != nil {
			t.Errorf("%v, %v", vectors, err)
		}
	}
}

// What else a server refuses has nothing to do with length, whatever it says.
func TestRefusalsForOtherReasons(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 402, 403, 404, 429, 502, 503} {
		s := newTight(t, func([]string) (int, string) { return status, "your token limit is too large" })
		if _, err := s.endpoint(t, nil).Embed(t.Context(), memory.ForStorage, []string{essay("one", 600)}); err == nil ||
			errors.Is(err, errTooLong) || s.refused != 1 {
			t.Errorf("%d: %d requests, %v", status, s.refused, err)
		}
	}
}
