package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/golden"
)

// newTestDoctor returns a doctor of an embedder whose server refuses texts of more words, or all with a status.
func newTestDoctor(t *testing.T, model string, words, status int) *Doctor {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&request)
		var data []string
		for _, text := range request.Input {
			if status != 0 || len(strings.Fields(text)) > words {
				w.WriteHeader(max(status, http.StatusBadRequest))
				fmt.Fprint(w, `{"error":{"message":"the input is too large to process"}}`)
				return
			}
			data = append(data, `{"embedding":[1,1]}`)
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	d := &Doctor{Config: config.Default()}
	d.Config.Data = t.TempDir()
	d.Config.Embedding.Model = model
	d.Config.Embedding.BaseURL = server.URL
	return d
}

var speed = regexp.MustCompile(`\d+ texts a second|http://127.0.0.1:\d+`)

// The doctor says what is put before texts, and what the model is known to need.
func TestPrefixesAreTold(t *testing.T) {
	t.Parallel()
	none := new("")
	var told strings.Builder
	for _, tt := range []struct {
		model           string
		query, document *string
	}{
		{"nomic-embed-text", nil, nil},
		{"nomic-embed-text", none, none},
		{"nomic-embed-text", nil, none},
		{"nomic-embed-text", new("question: "), nil},
		{"qwen3-embedding", new("Instruct: Find what was said\nQuery:"), nil},
		{"mxbai-embed-large", nil, nil},
		{"bge-m3", nil, nil},
		{"of-our-own", nil, nil},
		{"of-our-own", none, none},
		{"of-our-own", new("query: "), nil},
	} {
		d := newTestDoctor(t, tt.model, 10_000, 0)
		d.Config.Embedding.QueryPrefix = tt.query
		d.Config.Embedding.DocumentPrefix = tt.document
		fmt.Fprintln(&told, speed.ReplaceAllString(d.Embedder(t.Context()).For("embedder").String(), "…"))
	}
	golden.Seen(t, told.String())
}

// The doctor tries a long text, and says of how much of it is embedded; and of a server of llama.cpp that was started
// for chats, what it lacks.
func TestTheLimitOfAnEmbedderIsTold(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	tell := func(d *Doctor) {
		fmt.Fprintln(&told, speed.ReplaceAllString(d.Embedder(t.Context()).For("embedder").String(), "…"))
	}
	tell(newTestDoctor(t, "bge-m3", 512, 0))
	tell(newTestDoctor(t, "bge-m3", 10_000, 0))
	brief := newTestDoctor(t, "bge-m3", 512, 0)
	brief.Brief = true
	tell(brief)
	tell(newTestDoctor(t, "bge-m3", 0, http.StatusNotImplemented))
	golden.Seen(t, told.String())
}
