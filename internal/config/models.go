package config

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fallback is the model to ask when another fails.
type Fallback struct {
	Model       string   `toml:"model"`
	BaseURL     string   `toml:"base_url" url:"optional"`
	APIKey      Secret   `toml:"api_key"`
	Vision      bool     `toml:"vision"`
	Temperature *float64 `toml:"temperature" example:"0.7"`
	Headers     Headers  `toml:"headers" example:"{ \"X-Title\" = \"Hark\" }"`
	Thinking    string   `toml:"thinking" one:"auto,off,low,medium,high" zero:"as llm.thinking"`
	Extra       Extra    `toml:"extra" example:"{ top_k = 40 }"`
	AtOnce      int      `toml:"at_once" zero:"Hark's own choice by the server"`
}

// Model is a model that people can choose instead of the default.
type Model struct {
	Name        string   `toml:"name" example:"\"local\""`
	Model       string   `toml:"model" example:"\"qwen3:8b\""`
	BaseURL     string   `toml:"base_url" url:"" example:"\"http://localhost:11434/v1\""`
	APIKey      Secret   `toml:"api_key" example:"\"\""`
	APIKeyFile  string   `toml:"api_key_file" example:"\"/run/secrets/local_key\""`
	APIKeyEnv   string   `toml:"api_key_env" example:"\"LOCAL_KEY\""`
	Window      int      `toml:"window" zero:"what is known of the model" example:"8192"`
	Vision      bool     `toml:"vision" example:"false"`
	Temperature *float64 `toml:"temperature" example:"0.7"`
	Headers     Headers  `toml:"headers" example:"{ \"X-Title\" = \"Hark\" }"`
	Thinking    string   `toml:"thinking" one:"auto,off,low,medium,high" zero:"as llm.thinking" example:"\"off\""`
	Extra       Extra    `toml:"extra" example:"{ top_k = 40 }"`
	AtOnce      int      `toml:"at_once" zero:"Hark's own choice by the server" example:"2"`
}

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

// Headers are sent with every request to a server. Their values may be secret.
type Headers map[string]Secret

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

// readKeys reads the keys of further models and of MCP servers from their files and variables.
func (s *settings) readKeys(env func(string) (string, bool)) {
	for i := range s.config.LLM.Models {
		m := &s.config.LLM.Models[i]
		s.readKey(env, "llm.models", i+1, &m.APIKey, m.APIKeyFile, m.APIKeyEnv)
	}
	for i := range s.config.Tools.MCP {
		m := &s.config.Tools.MCP[i]
		s.readKey(env, mcpList, i+1, &m.Key, m.KeyFile, m.KeyEnv)
	}
}

// readKey reads the key of a list's item from the file or the variable, if one is named.
func (s *settings) readKey(env func(string) (string, bool), list string, item int, key *Secret, file, variable string) {
	place, given := itemOf(list, item), 0
	for _, is := range []bool{key.IsSet(), file != "", variable != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		s.problem(s.from[place], "%s wants one of api_key, api_key_file and api_key_env, not several", list)
	case file != "":
		text, _ := s.readSecret(s.from[place+".api_key_file"], file)
		*key = NewSecret(text)
	case variable != "":
		text, ok := lookup(env, variable)
		*key = NewSecret(strings.TrimSpace(text))
		if !ok || !key.IsSet() {
			s.problem(s.from[place+".api_key_env"], "%s isn't set; put the key into it", variable)
		}
	}
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

// checkAtOnce notes a model whose number of calls at once differs from that of its server.
func (s *settings) checkAtOnce(l LLM) {
	said := map[string]int{plainBase(l.BaseURL): l.AtOnce}
	for _, m := range l.sharers() {
		server := plainBase(*m.base)
		number, known := said[server]
		if !known {
			said[server] = *m.atOnce
			continue
		}
		place := m.place + ".at_once"
		if server == plainBase(l.BaseURL) {
			s.forbid(number != *m.atOnce, place, "its server is llm.base_url, so llm.at_once counts")
			continue
		}
		s.want(number == *m.atOnce, place, "the number that another model at its server has: they share it")
	}
}

// plainBase returns a server's address in the form in which two are compared.
func plainBase(address string) string { return strings.TrimRight(address, "/") }

// LongestName bounds a model's name, in characters: Discord shows no more.
const LongestName = 100

func (s *settings) checkModels(l LLM) {
	if l.Model == "" {
		s.want(l.Fallback.Model == "", "llm.fallback.model", "a model for which it can stand in: name one in llm.model")
		s.want(len(l.Models) == 0, itemOf("llm.models", 1), "a default besides: name it in llm.model")
		return
	}
	// "default" is the choice of no model.
	const none = "default"
	s.want(len(l.Models) == 0 || !strings.EqualFold(l.Model, none), "llm.model",
		"another name than \"default\" where there are llm.models")
	taken := map[string]bool{strings.ToLower(l.Model): true}
	for i, m := range l.Models {
		want := func(ok bool, name, what string) { s.want(ok, itemOf("llm.models", i+1)+"."+name, what) }
		name := strings.ToLower(m.Name)
		want(m.Name != "" && m.Name == strings.TrimSpace(m.Name) &&
			utf8.RuneCountInString(m.Name) <= LongestName && !strings.ContainsAny(m.Name, "\r\n"),
			"name", "a text of 1 to "+strconv.Itoa(LongestName)+" characters in one line, without spaces at its ends")
		want(name == "" || !taken[name], "name", "a name that no other model has, nor llm.model")
		want(name != none, "name", "another name than \"default\", by which people choose llm.model")
		taken[name] = true
		want(m.Model != "", "model", "the model's name, as its server knows it")
		want(!strings.HasPrefix(m.APIKeyEnv, "HARK_"), "api_key_env",
			"a variable of your own: those that begin with HARK_ are Hark's")
	}
	s.checkAtOnce(l)
}

// readSecret returns what the file at path holds. where says what named it.
func (s *settings) readSecret(where, path string) (string, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		s.problem(where, "read secret: %w", Unreadable(path, err))
		return "", false
	}
	s.secretFiles = append(s.secretFiles, path)
	text := strings.TrimSpace(string(data))
	if text == "" {
		s.problem(where, "%s is empty; put the secret into it", path)
	}
	return text, text != ""
}
