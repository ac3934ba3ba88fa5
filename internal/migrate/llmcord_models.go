package migrate

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"hark/internal/config"
)

// seeing are parts of the names of models that see images, as in llmcord.
var seeing = []string{"claude", "gemini", "gemma", "gpt-4", "gpt-5", "grok-4", "llama", "llava", "mistral",
	"o3", "o4", "vision", "vl"}

const noKey = "sk-no-key-required"

func (l *llmcord) models(p pair) {
	if p.value.Kind == yaml.SequenceNode {
		for _, n := range p.value.Content {
			if name := scalar(resolve(n)); name != "" {
				l.model(pair{p.key + "." + name, n.Line, nil}, name)
			}
		}
		return
	}
	for _, m := range pairs(p.value) {
		l.model(pair{p.key + "." + m.key, m.line, m.value}, m.key)
	}
}

// model takes the model called "provider/model".
func (l *llmcord) model(p pair, called string) {
	plain, marked := strings.CutSuffix(called, ":vision")
	provider, name, ok := strings.Cut(plain, "/")
	server := get(l.providers, provider)
	base := scalar(get(server, "base_url"))
	m := model{
		Name:    called,
		Model:   strings.TrimSpace(name),
		BaseURL: base,
		APIKey:  l.key(server),
		Headers: l.headers(provider, server),
	}
	lower := strings.ToLower(called)
	m.Vision = !l.noImages && (marked || slices.ContainsFunc(seeing, func(tag string) bool {
		return strings.Contains(lower, tag)
	}))
	first := &l.file.LLM
	isDefault := first.Model == ""
	switch {
	case !ok || m.Model == "":
		l.left(p, "a model is called as provider/model, such as openai/gpt-5")
		return
	case server == nil:
		l.left(p, "there is no provider %q", provider)
		return
	case !config.IsAddress(base):
		l.left(p, "base_url of the provider %q isn't an address that begins with http:// or https://: write the model's into llm.base_url or into a part [[llm.models]]", provider)
		return
	case !isDefault && (utf8.RuneCountInString(called) > config.LongestName ||
		strings.TrimSpace(called) != called || strings.ContainsAny(called, "\r\n") || l.nameTaken(called)):
		l.left(p, "a name that models are chosen by has 1 to %d characters and is no other's: add it as [[llm.models]]", config.LongestName)
		return
	case isDefault && strings.EqualFold(m.Model, "default"):
		l.left(p, "a default model can't be called so beside others: add it as [[llm.models]]")
		return
	}
	most := l.parameters(p, provider, &m)
	l.used[provider] = true
	if isDefault {
		*first = models{m.BaseURL, m.APIKey, m.Model, most, m.Temperature, m.Vision, m.Headers, m.Thinking, m.Extra, nil}
		l.taken(p, "llm.model"+also(m))
		return
	}
	if most > 0 && most != first.MaxTokens {
		l.left(pair{key: p.key, line: p.line}, "all models have the same llm.max_tokens")
	}
	if m.Temperature == nil && first.Temperature != nil {
		l.left(pair{key: p.key, line: p.line}, "it has no temperature of its own, so llm.temperature holds for it too")
	}
	l.taken(p, "[[llm.models]], to be chosen with \"/model\""+also(m))
	first.Models = append(first.Models, first.apart(m))
}

// apart returns m so that it doesn't take thinking and extra fields of the default model, which aren't its own.
func (first models) apart(m model) model {
	if m.Thinking == "" && first.Thinking != "" {
		m.Thinking = "auto"
	}
	server := strings.TrimRight(m.BaseURL, "/")
	if m.Extra == nil && first.Extra != nil && server == strings.TrimRight(first.BaseURL, "/") {
		m.Extra = map[string]any{}
	}
	return m
}

// also lists a model's settings except its server.
func also(m model) string {
	extra, _ := m.Extra.(map[string]any)
	fields := strings.Join(slices.Sorted(maps.Keys(extra)), ", ")
	s := ""
	for _, p := range []struct {
		is   bool
		what string
	}{{m.APIKey != "", "api_key"}, {len(m.Headers) > 0, "headers"}, {m.Temperature != nil, "temperature"},
		{m.Vision, "vision"}, {m.Thinking != "", "thinking"}, {len(extra) > 0, "extra (" + fields + ")"}} {
		if p.is {
			s += ", " + p.what
		}
	}
	return s
}

func (l *llmcord) nameTaken(name string) bool {
	return strings.EqualFold(name, l.file.LLM.Model) || strings.EqualFold(name, "default") ||
		slices.ContainsFunc(l.file.LLM.Models, func(m model) bool { return strings.EqualFold(m.Name, name) })
}

// key returns a server's first key.
func (l *llmcord) key(server *yaml.Node) string {
	n := get(server, "api_key")
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
		n = resolve(n.Content[0])
	}
	if key := scalar(n); key != noKey {
		return key
	}
	return ""
}

func (l *llmcord) headers(provider string, server *yaml.Node) map[string]string {
	headers := map[string]string{}
	for _, h := range pairs(get(server, "extra_headers")) {
		value := scalar(h.value)
		if !(config.Headers{h.key: config.NewSecret(value)}).Valid() {
			if !l.used[provider] { // noted once
				l.left(pair{key: "providers." + provider + ".extra_headers." + h.key, line: h.line},
					"it isn't a header that can be sent")
			}
			continue
		}
		headers[h.key] = value
	}
	if len(headers) == 0 {
		return nil
	}
	return headers
}
