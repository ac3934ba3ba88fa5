package llm

import (
	"slices"
	"sync"
	"time"

	"hark/internal/chat"
)

const (
	// formFor is how long a form is kept: the server may be started anew with another model.
	formFor = 24 * time.Hour
	// flawFor is how long it is if the server's words were those of a failure: it may just have failed.
	flawFor = time.Hour
	// vainFor is how long no other forms are tried after none helped.
	vainFor = 10 * time.Minute
)

// droppedPrompt is noted of a server that counts much less than it was sent.
const droppedPrompt = "the server counts less than half of what it is sent, so it drops a part of each prompt: give it " +
	"a larger context (Ollama: OLLAMA_CONTEXT_LENGTH; llama.cpp: -c), and check its chat template"

// vainTools is noted of a model that answered at last when it was offered no tools.
const vainTools = "what the model wrote came to nothing while it had tools, so Hark asked without them: another " +
	"model, or another chat template of its server, may help"

// habits are what was learnt of a model's server.
type habits struct {
	mu    sync.Mutex
	form  form
	until time.Time // when form is tried without; zero: never
	vain  map[string]time.Time
	notes []string
}

// known returns the form that the server takes.
func (h *habits) known(now time.Time) form {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current(now)
}

func (h *habits) current(now time.Time) form {
	if !h.until.IsZero() && now.After(h.until) {
		h.form = form{}
		h.until = time.Time{}
	}
	return h.form
}

// told returns what is known, a sentence each.
func (h *habits) told(now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(sentences(h.current(now)), h.notes)
}

// sentences say what Hark does for a server.
func sentences(f form) (all []string) {
	for _, what := range f.says() {
		all = append(all, "the server refused a request as OpenAI takes it: Hark "+what)
	}
	return all
}

// note adds a sentence and returns it, unless it is known.
func (h *habits) note(what string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.notes, what) {
		return nil
	}
	h.notes = append(h.notes, what)
	return []string{what}
}

// begin returns a try that begins with what is known.
func (h *habits) begin(now time.Time) *try {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.current(now)
	t := &try{
		ladder: newLadder(known),
		began:  known,
		vain:   map[string]bool{},
	}
	for said, until := range h.vain {
		t.vain[said] = now.Before(until)
	}
	return t
}

// keep remembers the form with which a try was answered, and returns what is new.
func (h *habits) keep(t *try, now time.Time) (told []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := t.ladder.form
	if found.equals(t.began) {
		return nil
	}
	known := h.current(now)
	before := sentences(known)
	if !known.equals(t.began) { // another question found something meanwhile
		found = found.with(known)
	}
	h.form = found
	h.until = now.Add(formFor)
	if t.flawed {
		h.until = now.Add(flawFor)
	}
	return slices.DeleteFunc(sentences(found), func(s string) bool { return slices.Contains(before, s) })
}

// giveUp remembers that no form helped.
func (h *habits) giveUp(t *try, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !t.ladder.begun {
		return
	}
	if h.vain == nil || len(h.vain) > 100 {
		h.vain = map[string]time.Time{}
	}
	h.vain[t.key] = now.Add(vainFor)
}

// try is one request, asked until it is answered.
type try struct {
	ladder  *ladder
	began   form
	attempt int             // retries after a pause
	failed  *Error          // the first refusal for an unknown reason
	key     string          // of that refusal
	flawed  bool            // it was a failing server's
	vain    map[string]bool // refusals that no form helped against of late, by their keys

	wasAlone bool
	texts    int  // that the server couldn't read
	bare     bool // tools are left out this once
}

// form returns how to ask next.
func (t *try) form() form {
	f := t.ladder.form
	if t.bare {
		f.asText = true
		f.noTools = true
	}
	return f
}

// alone reports whether the request wasn't asked alone before.
func (t *try) alone() bool {
	was := t.wasAlone
	t.wasAlone = true
	return !was
}

// otherText reports whether the model may write something else: once more, and then without tools.
func (t *try) otherText(r chat.Request) bool {
	t.texts++
	switch t.texts {
	case 1:
		return true
	case 2:
		t.bare = len(toolsIn(r)) > 0
		return t.bare
	}
	return false
}

// otherForm reports whether there is another form after a refusal. A server that failed is first asked again as before,
// since it may just have failed.
func (t *try) otherForm(e *Error) bool {
	key := keyOf(e)
	first := t.failed == nil
	if first {
		t.failed = e
		t.key = key
		t.flawed = e.Kind == Server
	}
	switch {
	case t.vain[t.key]:
		return false
	case t.flawed && e.again && !t.ladder.begun && (first || key != t.key):
		return false
	}
	return t.ladder.next(e.failure, e.sent)
}

func keyOf(e *Error) string {
	key := e.failure.Likeness()
	if e.sent.calls {
		key += "\ncalls"
	}
	if e.sent.tools {
		key += "\ntools"
	}
	return key
}

// first returns the refusal with which a search for another form began if nothing of that was mended, else err.
func (t *try) first(err error) error {
	if t.ladder.begun && t.ladder.base.equals(t.began) {
		return t.failed
	}
	return err
}
