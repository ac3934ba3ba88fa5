package llm

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Lists of models as servers give them, with what each adds to OpenAI's form.
func TestListsOfRealServers(t *testing.T) {
	t.Parallel()
	long := "/models/" + strings.Repeat("very-long-", 12) + "name.Q4_K_M.gguf"
	for server, c := range map[string]struct {
		body string
		want []string
	}{
		"OpenAI": {`{"object":"list","data":[{"id":"gpt-4o-mini","object":"model","created":1721172741,"owned_by":"system"},{"id":"gpt-4o","object":"model","created":1715367049,"owned_by":"system"}]}`,
			[]string{"gpt-4o", "gpt-4o-mini"}},
		"Ollama":                {`{"object":"list","data":[{"id":"llama3.2:latest","object":"model","created":1727192836,"owned_by":"library"}]}`, []string{"llama3.2:latest"}},
		"Ollama without models": {`{"object":"list","data":null}`, nil},
		"llama.cpp": {`{"models":[{"name":"` + long + `","model":"x","modified_at":"","size":"","digest":"","type":"model","description":"","tags":[""],"capabilities":["completion"],"parameters":"",
			"details":{"parent_model":"","format":"gguf","family":"","families":[""],"parameter_size":"","quantization_level":""}}],"object":"list",
			"data":[{"id":"` + long + `","object":"model","created":1730000000,"owned_by":"llamacpp","meta":{"vocab_type":2,"n_vocab":128256,"n_ctx_train":131072,"n_embd":3072,"n_params":3212749888,"size":2011539712}}]}`, []string{long}},
		"vLLM": {`{"object":"list","data":[{"id":"Qwen/Qwen2.5-7B-Instruct","object":"model","created":1730000000,"owned_by":"vllm","root":"Qwen/Qwen2.5-7B-Instruct","parent":null,"max_model_len":32768,
			"permission":[{"id":"modelperm-1","object":"model_permission","created":1730000000,"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,
			"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}]}]}`, []string{"Qwen/Qwen2.5-7B-Instruct"}},
		"LM Studio": {`{"data":[{"id":"text-embedding-nomic","object":"model","owned_by":"organization_owner"},{"id":"qwen2.5-7b-instruct","object":"model","owned_by":"organization_owner"}],"object":"list"}`,
			[]string{"qwen2.5-7b-instruct", "text-embedding-nomic"}},
		"OpenRouter": {`{"data":[{"id":"mistralai/mistral-small:free","canonical_slug":"mistralai/mistral-small","hugging_face_id":null,"name":"Mistral: Small (free)","created":1738255409,"description":"…","context_length":32768,
			"architecture":{"modality":"text->text","input_modalities":["text"],"output_modalities":["text"],"tokenizer":"Mistral","instruct_type":null},"pricing":{"prompt":"0","completion":"0"},
			"top_provider":{"context_length":32768,"max_completion_tokens":null,"is_moderated":false},"per_request_limits":null,"supported_parameters":["tools"]}]}`, []string{"mistralai/mistral-small:free"}},
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" {
					t.Errorf("asked %s", r.URL.Path)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.body)
			}))
			defer s.Close()
			got, err := New(Config{BaseURL: s.URL + "/v1", Model: "m", MaxTokens: 10}).List(t.Context())
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}
