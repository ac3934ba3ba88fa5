package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/internal/chat"
	"hark/internal/llm/failure"
	"hark/internal/tokens"
)

const (
	learntFor   = time.Hour       // a limit that a refusal told holds: the server may be started anew with another
	lookAgain   = 5 * time.Minute // between two looks for a window that a server doesn't list
	lookFor     = 2 * time.Second // that a question waits for the window
	maxList     = 16 << 20        // bytes of a list of models
	ollamaStart = 4096            // tokens that Ollama loads a model with, unless it is told otherwise
)

// window is what is known of how many tokens a server takes.
type window struct {
	mu     sync.Mutex
	listed int // by the server; 0: not
	looked time.Time
	learnt int // from its last refusal
	until  time.Time
}

// size returns the window: as configured, else as listed, and less if a refusal said so of late; 0: unknown.
func (w *window) size(now time.Time, configured int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := configured
	if known == 0 {
		known = w.listed
	}
	if w.learnt > 0 && now.Before(w.until) && (known == 0 || w.learnt < known) {
		return w.learnt
	}
	return known
}

// learn takes the limit of a refusal.
func (w *window) learn(limit int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.learnt = limit
	w.until = now.Add(learntFor)
}

// mustLook reports whether the server is to be asked, and counts that as done.
func (w *window) mustLook(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listed > 0 || !w.looked.IsZero() && now.Sub(w.looked) < lookAgain {
		return false
	}
	w.looked = now
	return true
}

func (w *window) list(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed = size
}

// windowKeys are what servers call a model's window in their lists.
var windowKeys = []string{"context_length", "context_window", "max_model_len", "loaded_context_length", "n_ctx",
	"max_context_length", "max_input_tokens", "context_size", "max_context_window"}

// look asks the server for the model's window; 0 if it doesn't say.
func look(ctx context.Context, c caller) int {
	_, listed, err := c.list(ctx)
	if err == nil {
		size := windowIn(listed, c.config.Model)
		if size > 0 {
			return size
		}
	}
	root := strings.TrimSuffix(c.config.BaseURL, "/v1")
	switch serviceAt(c.config.BaseURL) {
	case ollama:
		return lookAtOllama(ctx, c, root)
	case ownServer, someServer:
		var props struct {
			Settings struct {
				Window json.RawMessage `json:"n_ctx"`
			} `json:"default_generation_settings"`
		}
		_ = c.fetch(ctx, http.MethodGet, root+"/props", "", &props) // llama.cpp has it, others haven't
		return whole(props.Settings.Window)
	}
	return 0
}

// windowIn returns the window that a list of models gives for one, or for the only one.
func windowIn(listed []byte, model string) int {
	var list struct{ Data []map[string]json.RawMessage }
	if json.Unmarshal(listed, &list) != nil {
		return 0
	}
	for _, m := range list.Data {
		var id string
		_ = json.Unmarshal(m["id"], &id)
		if id != model && len(list.Data) > 1 {
			continue
		}
		var meta map[string]json.RawMessage
		_ = json.Unmarshal(m["meta"], &meta)
		for _, fields := range []map[string]json.RawMessage{meta, m} {
			for _, key := range windowKeys {
				if n := whole(fields[key]); n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

// whole returns a window in tokens, which some write as a text; 0 for anything else.
func whole(raw json.RawMessage) int {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(failure.LeastWindow <= n && n <= 1<<31) { // it may be no number: NaN
		return 0
	}
	return int(n)
}

var ollamaParameter = regexp.MustCompile(`(?m)^\s*num_ctx\s+(\d+)`)

// lookAtOllama returns the window of a model that is loaded, else that of its Modelfile, else the one with which Ollama
// starts. Its list doesn't tell.
func lookAtOllama(ctx context.Context, c caller, root string) int {
	var loaded struct {
		Models []struct {
			Name   string
			Model  string
			Window json.RawMessage `json:"context_length"`
		}
	}
	_ = c.fetch(ctx, http.MethodGet, root+"/api/ps", "", &loaded) // older ones don't tell
	for _, m := range loaded.Models {
		size := whole(m.Window)
		if size > 0 && (m.Name == c.config.Model || m.Model == c.config.Model) {
			return size
		}
	}
	var shown struct {
		Parameters string
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	name, _ := json.Marshal(map[string]string{"model": c.config.Model, "name": c.config.Model}) // texts always encode
	if c.fetch(ctx, http.MethodPost, root+"/api/show", string(name), &shown) != nil {
		return 0
	}
	said := ollamaParameter.FindStringSubmatch(shown.Parameters)
	if said != nil {
		return whole(json.RawMessage(said[1]))
	}
	for key, value := range shown.Info {
		if n := whole(value); n > 0 && strings.HasSuffix(key, ".context_length") {
			return min(n, ollamaStart)
		}
	}
	return 0
}

// leastCounted is from how many tokens on a server's count of a prompt tells whether it read all of it.
const leastCounted = 200

// dropsPrompt reports whether the server counted less than half of what it was sent. Images count for nothing here, and
// not every server counts what it has cached.
func dropsPrompt(reply chat.Reply, r chat.Request) bool {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Content)
	}
	// Hardly a text has less than a token in three bytes, so most replies need no counting.
	if reply.PromptTokens == 0 || 6*reply.PromptTokens >= bytes {
		return false
	}
	sent := counted(r, tokens.New())
	return sent >= leastCounted && 2*reply.PromptTokens < sent
}
