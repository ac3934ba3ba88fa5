package config

import (
	"regexp"
	"strings"
)

// All returns the default model, named after itself, and the others; none without a default.
func (l LLM) All() []Model {
	if l.Model == "" {
		return nil
	}
	return append([]Model{{
		Name: l.Model, Model: l.Model, BaseURL: l.BaseURL, APIKey: l.APIKey, Window: l.Window,
		Vision: l.Vision, Temperature: l.Temperature, Headers: l.Headers,
		Thinking: l.Thinking, Extra: l.Extra, AtOnce: l.AtOnce,
	}}, l.Models...)
}

// IsSet reports whether there are any.
func (h Headers) IsSet() bool { return len(h) > 0 }

// Reveal returns the headers with their values; nil if there are none.
func (h Headers) Reveal() map[string]string {
	if len(h) == 0 {
		return nil
	}
	all := make(map[string]string, len(h))
	for name, value := range h {
		all[name] = value.Reveal()
	}
	return all
}

// headersOf reads a table of strings, or lines such as "X-Title: Hark".
func headersOf(value any) (Headers, bool) {
	h := Headers{}
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			text, ok := v.(string)
			if !ok {
				return nil, false
			}
			h[name] = NewSecret(strings.TrimSpace(text))
		}
	case string:
		for line := range strings.Lines(value) {
			name, text, ok := strings.Cut(line, ":")
			if !ok && strings.TrimSpace(line) != "" {
				return nil, false
			}
			if ok {
				h[strings.TrimSpace(name)] = NewSecret(strings.TrimSpace(text))
			}
		}
	default:
		return nil, false
	}
	return h, h.Valid()
}

var (
	headerName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = regexp.MustCompile(`^[\t\x20-\x7e\x80-\x{10ffff}]+$`)
)

// Valid reports whether they can be sent.
func (h Headers) Valid() bool {
	for name, value := range h {
		if !headerName.MatchString(name) || !headerValue.MatchString(value.Reveal()) {
			return false
		}
	}
	return true
}

// shared are the settings of a further model that llm stands in for.
type shared struct {
	place       string // as in marks
	base        *string
	key         *Secret
	headers     *Headers
	extra       *Extra
	temperature **float64
	thinking    *string
	atOnce      *int
}

// sharers returns these settings of all further models, in order, and last those of the fallback, if there is one.
func (l *LLM) sharers() []shared {
	var all []shared
	for i := range l.Models {
		m := &l.Models[i]
		all = append(all, shared{itemOf("llm.models", i+1), &m.BaseURL, &m.APIKey, &m.Headers, &m.Extra, &m.Temperature,
			&m.Thinking, &m.AtOnce})
	}
	f := &l.Fallback
	if f.Model != "" {
		all = append(all, shared{"llm.fallback", &f.BaseURL, &f.APIKey, &f.Headers, &f.Extra, &f.Temperature, &f.Thinking,
			&f.AtOnce})
	}
	return all
}

// inherit fills in what further models leave out. Key, headers and extra fields go to llm's server only, and how many
// calls there are at once is the server's.
func (l *LLM) inherit() {
	atOnce := map[string]int{plainBase(l.BaseURL): l.AtOnce}
	for _, m := range l.sharers() {
		m.takeFrom(l)
		server := plainBase(*m.base)
		if atOnce[server] == 0 && server != plainBase(l.BaseURL) {
			atOnce[server] = *m.atOnce
		}
	}
	for _, m := range l.sharers() {
		if *m.atOnce == 0 {
			*m.atOnce = atOnce[plainBase(*m.base)]
		}
	}
}

// takeFrom fills in what a model leaves out and llm has, except for what a server's models share.
func (m shared) takeFrom(l *LLM) {
	if *m.base == "" {
		*m.base = l.BaseURL
	}
	if *m.temperature == nil {
		*m.temperature = l.Temperature
	}
	if *m.thinking == "" {
		*m.thinking = l.Thinking
	}
	if plainBase(*m.base) != plainBase(l.BaseURL) {
		return
	}
	if !m.key.IsSet() {
		*m.key = l.APIKey
	}
	if *m.headers == nil {
		*m.headers = l.Headers
	}
	if *m.extra == nil {
		*m.extra = l.Extra
	}
}

// plainBase returns a server's address in the form in which two are compared.
func plainBase(address string) string { return strings.TrimRight(address, "/") }

// LongestName bounds a model's name, in characters: Discord shows no more.
const LongestName = 100
