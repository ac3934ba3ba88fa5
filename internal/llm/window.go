package llm

import (
	"context"
	"encoding/json"
	"fmt"
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
	listed listed
	looked time.Time
	learnt int // from its last refusal
	until  time.Time
}

// listed is the window that a server tells of.
type listed struct {
	size     int  // in tokens; 0: it tells of none
	assumed  bool // it only says what the model could take, and Ollama mostly loads it with less
	llamaCpp bool // it tells as llama.cpp does
}

// size returns the window: as configured, or as listed if that is less or nothing is configured, and less if a refusal
// said so of late; 0: unknown.
func (w *window) size(now time.Time, configured int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := configured
	if known == 0 || w.listed.isLess(configured) {
		known = w.listed.size
	}
	if w.learnt > 0 && now.Before(w.until) && (known == 0 || w.learnt < known) {
		return w.learnt
	}
	return known
}

// isLess reports whether the server tells of a smaller window than the configured one.
func (l listed) isLess(configured int) bool { return l.size > 0 && !l.assumed && l.size < configured }

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
	if w.listed.size > 0 || !w.looked.IsZero() && now.Sub(w.looked) < lookAgain {
		return false
	}
	w.looked = now
	return true
}

func (w *window) list(found listed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed = found
}

// smallerWindow says that a server lists a smaller window than is configured, and what to do.
func smallerWindow(configured int, found listed, at service) string {
	larger := largerWindow(found, at)
	return fmt.Sprintf("the server's window has %d tokens, and not %d as configured (llm.window), so prompts are made "+
		"for %[1]d: %[3]s, or lower llm.window", found.size, configured, larger)
}

// LargerWindow says how to get a model a larger window, as far as the server's address tells.
func LargerWindow(address string) string { return largerWindow(listed{}, serviceAt(address)) }

func largerWindow(found listed, at service) string {
	const larger = "serve the model with a larger context"
	switch {
	case at == ollama:
		return larger + " (Ollama: OLLAMA_CONTEXT_LENGTH)"
	case found.llamaCpp:
		return larger + " (llama.cpp: -c)"
	}
	return larger
}

// windowKeys are what servers call a model's window in their lists.
var windowKeys = []string{"context_length", "context_window", "max_model_len", "loaded_context_length", "n_ctx",
	"max_context_length", "max_input_tokens", "context_size", "max_context_window"}

// look asks the server for the model's window.
func look(ctx context.Context, c caller) listed {
	_, list, err := c.list(ctx)
	if err == nil {
		found := windowIn(list, c.config.Model)
		if found.size > 0 {
			return found
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
		size := whole(props.Settings.Window)
		return listed{
			size:     size,
			llamaCpp: size > 0,
		}
	}
	return listed{}
}

// windowIn returns the window that a list of models gives for one, or for the only one.
func windowIn(list []byte, model string) listed {
	var models struct{ Data []map[string]json.RawMessage }
	if json.Unmarshal(list, &models) != nil {
		return listed{}
	}
	for _, m := range models.Data {
		var id string
		_ = json.Unmarshal(m["id"], &id)
		if id != model && len(models.Data) > 1 {
			continue
		}
		var meta map[string]json.RawMessage
		_ = json.Unmarshal(m["meta"], &meta)
		for _, fields := range []map[string]json.RawMessage{meta, m} {
			for _, key := range windowKeys {
				if n := whole(fields[key]); n > 0 {
					return listed{
						size:     n,
						llamaCpp: key == "n_ctx",
					}
				}
			}
		}
	}
	return listed{}
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
func lookAtOllama(ctx context.Context, c caller, root string) listed {
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
			return listed{size: size}
		}
	}
	var shown struct {
		Parameters string
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	name, _ := json.Marshal(map[string]string{"model": c.config.Model, "name": c.config.Model}) // texts always encode
	if c.fetch(ctx, http.MethodPost, root+"/api/show", string(name), &shown) != nil {
		return listed{}
	}
	said := ollamaParameter.FindStringSubmatch(shown.Parameters)
	if said != nil {
		return listed{size: whole(json.RawMessage(said[1]))}
	}
	for key, value := range shown.Info {
		if n := whole(value); n > 0 && strings.HasSuffix(key, ".context_length") {
			return listed{
				size:    min(n, ollamaStart),
				assumed: n > ollamaStart,
			}
		}
	}
	return listed{}
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
