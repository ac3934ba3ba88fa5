package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/setup"
)

// What a server says of its refusal is shown, whichever it is: of a chat model, an embedder or a reranker. Its key
// never is, however the server quotes it.
func TestServersOwnWordsAreTold(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-0123456789"
	const words = "the garden gate is shut"
	bodies := map[string]string{
		"an object":  `{"error":{"message":"` + words + `, %s","type":"invalid_request_error"}}`,
		"a text":     `{"error":"` + words + `, %s"}`,
		"a detail":   `{"detail":"` + words + `, %s"}`,
		"no JSON":    words + ", %s",
		"in capital": `{"message":"` + words + `, Bearer %s"}`,
	}
	for name, body := range bodies {
		for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusUnprocessableEntity} {
			for what, found := range refusals(t, key, status, fmt.Sprintf(body, key)) {
				told := found.For(what).String()
				if found.OK || strings.Contains(told, key) || strings.Contains(told, "0123456789") {
					t.Errorf("%s, %d, %s: %s", name, status, what, told)
				}
				if !strings.Contains(told, words) {
					t.Errorf("%s, %d, %s: the server's words aren't in %q", name, status, what, told)
				}
			}
		}
	}
}

// refusals are what a doctor finds of each kind of server if all of them refuse everything with a body.
func refusals(t *testing.T, key string, status int, body string) map[string]Finding {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	d := newTestDoctor(t, "bge-m3", 512, 0)
	d.Config.LLM.Model = "m"
	d.Config.LLM.BaseURL = s.URL + "/v1"
	d.Config.LLM.APIKey = config.NewSecret(key)
	d.Config.Embedding.BaseURL = s.URL + "/v1"
	d.Config.Embedding.APIKey = config.NewSecret(key)
	d.Config.Search.RerankURL = s.URL + "/v1"
	d.Config.Search.RerankModel = "r"
	d.Config.Search.RerankKey = config.NewSecret(key)
	client := setup.NewModels(d.Config).Default().Client
	return map[string]Finding{
		"model":    d.Model(t.Context(), "llm.", client),
		"embedder": d.Embedder(t.Context()),
		"reranker": d.reranker(t.Context()),
	}
}
