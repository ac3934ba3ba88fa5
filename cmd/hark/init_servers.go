package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/internal/config"
	"hark/internal/terminal"
)

// knownServer is a server of models that init names. Its block in docs/models.md has the same addresses and settings.
type knownServer struct {
	name    string
	url     string // of models that write
	started string // how it is started at that address; empty: as usual

	embedURL     string // of embedding models; empty: it has none
	embedStarted string

	settings usualSettings
}

// usualSettings are what of [llm] suits a server, whichever of its models is chosen. The zero value of each is Hark's
// default.
type usualSettings struct {
	window    int // only where the server is started with it
	thinking  string
	timeout   time.Duration
	maxTokens int
	atOnce    int
}

var (
	openAIServer = knownServer{
		name:     "OpenAI",
		url:      openAI,
		embedURL: openAI,
		settings: usualSettings{thinking: "off"},
	}
	ollamaServer = knownServer{
		name:     "Ollama",
		url:      ollama,
		embedURL: ollama,
		settings: usualSettings{
			window:   8192,
			thinking: "off",
			timeout:  localTimeout,
		},
	}
)

// localTimeout is for models on a machine that may have no graphics card.
const localTimeout = 5 * time.Minute

// thoughtTokens has room for an answer of a model that thinks.
const thoughtTokens = 4000

// otherServers are those besides OpenAI's and Ollama.
var otherServers = []knownServer{
	{
		name: "OpenRouter", url: "https://openrouter.ai/api/v1", embedURL: "https://openrouter.ai/api/v1",
		settings: usualSettings{thinking: "low", maxTokens: thoughtTokens},
	},
	{
		name: "Gemini", url: "https://generativelanguage.googleapis.com/v1beta/openai",
		embedURL: "https://generativelanguage.googleapis.com/v1beta/openai",
		settings: usualSettings{thinking: "low", maxTokens: thoughtTokens},
	},
	{
		name: "DeepSeek", url: "https://api.deepseek.com/v1",
		settings: usualSettings{thinking: "low", maxTokens: thoughtTokens},
	},
	{
		name: "Mistral", url: "https://api.mistral.ai/v1", embedURL: "https://api.mistral.ai/v1",
		settings: usualSettings{thinking: "off"},
	},
	{
		name: "Groq", url: "https://api.groq.com/openai/v1",
		settings: usualSettings{thinking: "low", maxTokens: thoughtTokens},
	},
	{
		name: "llama.cpp", url: "http://localhost:8081/v1", started: "llama-server --port 8081",
		embedURL: "http://localhost:8082/v1", embedStarted: "a second llama-server --port 8082 --embeddings",
		settings: usualSettings{thinking: "off", timeout: localTimeout},
	},
	{
		name: "LM Studio", url: "http://localhost:1234/v1", started: "lms load MODEL --context-length 8192",
		embedURL: "http://localhost:1234/v1",
		settings: usualSettings{
			window:   8192,
			thinking: "off",
			timeout:  localTimeout,
		},
	},
	{
		name: "vLLM", url: "http://localhost:8000/v1", started: "vllm serve MODEL --port 8000",
		embedURL: "http://localhost:8001/v1", embedStarted: "a second vllm serve MODEL --port 8001",
		settings: usualSettings{thinking: "off", atOnce: 8},
	},
	{
		name: "LiteLLM", url: "http://localhost:4000/v1", embedURL: "http://localhost:4000/v1",
		settings: usualSettings{thinking: "off", atOnce: 4},
	},
}

// allServers returns all known servers.
func allServers() []knownServer {
	return append([]knownServer{openAIServer, ollamaServer}, otherServers...)
}

// offer is a server as it is offered for answers or for embeddings.
type offer struct {
	name    string
	url     string
	started string
}

// serverOffers returns the other servers, or only those that embed.
func serverOffers(embedders bool) []offer {
	var all []offer
	for _, s := range otherServers {
		switch {
		case !embedders:
			all = append(all, offer{s.name, s.url, s.started})
		case s.embedURL != "":
			all = append(all, offer{s.name, s.embedURL, s.embedStarted})
		}
	}
	return all
}

// isLocal reports whether the address is one on this machine, which somebody may have changed.
func (o offer) isLocal() bool { return strings.Contains(o.url, "//localhost:") }

// howStarted returns how it is started, in parentheses; empty if as usual.
func (o offer) howStarted() string {
	if o.started == "" {
		return ""
	}
	return " (" + o.started + ")"
}

// printOffers lists servers' names and addresses.
func printOffers(w io.Writer, all []offer) {
	for i, o := range all {
		fmt.Fprintf(w, "  %d  %-10s  %s%s\n", i+1, o.name, o.url, o.howStarted())
	}
}

// addressOf returns the address of the offer with that name or number, or else what was written.
func addressOf(all []offer, written string) string {
	for i, o := range all {
		if written == fmt.Sprint(i+1) || terminal.SameName(o.name, written) {
			return o.url
		}
	}
	return written
}

// knownAt returns the server at an address: one with that address, or a local one with its port, whose host may have
// another name. It returns nil if none is known.
func knownAt(address string) *knownServer {
	for _, s := range allServers() {
		local := strings.Contains(s.url, "//localhost:")
		if s.url == address || local && portOf(s.url) == portOf(address) {
			return &s
		}
	}
	return nil
}

func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Port()
}

// embedderBeside returns the address to offer for the embedder where a server writes the answers: the same one, or the
// same with the port at which docs/models.md starts a second server.
func embedderBeside(answering server) string {
	s := answering.known()
	if s == nil || s.embedURL == "" || portOf(s.embedURL) == portOf(s.url) || portOf(answering.url) == "" {
		return answering.url
	}
	return strings.Replace(answering.url, ":"+portOf(answering.url), ":"+portOf(s.embedURL), 1)
}

// suit returns l with what suits a server, in place of what suited the one before. A setting that was set by hand
// stays.
func suit(l config.LLM, before, chosen server) config.LLM {
	preset := config.Default().LLM
	old := before.usualSettings()
	now := chosen.usualSettings()
	l.Window = suited(l.Window, preset.Window, old.window, now.window)
	l.Thinking = suited(l.Thinking, preset.Thinking, old.thinking, now.thinking)
	l.MaxTokens = suited(l.MaxTokens, preset.MaxTokens, old.maxTokens, now.maxTokens)
	l.Timeout.Duration = suited(l.Timeout.Duration, preset.Timeout.Duration, old.timeout, now.timeout)
	l.AtOnce = suited(l.AtOnce, preset.AtOnce, old.atOnce, now.atOnce)
	return l
}

// known returns which of the known servers s is: the one that was chosen, or else the one at its address. It returns
// nil if s is none.
func (s server) known() *knownServer {
	for _, k := range allServers() {
		if k.name == s.kind {
			return &k
		}
	}
	return knownAt(s.url)
}

func (s server) usualSettings() usualSettings {
	k := s.known()
	if k == nil {
		return usualSettings{}
	}
	return k.settings
}

// suited returns what a setting becomes with another server.
func suited[T comparable](set, preset, before, now T) T {
	byHand := set != preset && set != before
	if byHand {
		return set
	}
	return cmp.Or(now, preset)
}

// suitedValues returns the settings of suit that differ, in the order in which they are to be set.
func suitedValues(from, to config.LLM) []config.Value {
	preset := config.Default().LLM
	var all []config.Value
	add := func(key string, from, to, preset, written any) {
		switch {
		case from == to:
		case to == preset:
			all = append(all, config.Value{Key: "llm." + key})
		default:
			all = append(all, config.Value{Key: "llm." + key, To: written})
		}
	}
	add("window", from.Window, to.Window, preset.Window, to.Window)
	add("thinking", from.Thinking, to.Thinking, preset.Thinking, to.Thinking)
	add("max_tokens", from.MaxTokens, to.MaxTokens, preset.MaxTokens, to.MaxTokens)
	minutes := fmt.Sprintf("%gm", to.Timeout.Minutes())
	add("timeout", from.Timeout, to.Timeout, preset.Timeout, minutes)
	add("at_once", from.AtOnce, to.AtOnce, preset.AtOnce, to.AtOnce)
	slices.Reverse(all) // each goes in front of those before it
	return all
}

type server struct {
	url   string
	key   config.Secret
	model string // empty: none
	path  string // of a static embedding model, instead
	kind  string // a known server's name, if it was chosen by that
}

// place returns which of the offered places s is.
func (s server) place() int {
	switch {
	case s.path != "":
		return inDirectory
	case s.model == "":
		return nowhere
	case s.url == openAI:
		return atOpenAI
	case s.url == ollama, s.kind == ollamaServer.name:
		return atOllama
	}
	return elsewhere
}

// isOllama reports whether an Ollama writes the answers, here or elsewhere.
func (s server) isOllama() bool {
	known := s.known()
	return s.model != "" && known != nil && known.name == ollamaServer.name
}

const (
	openAI = "https://api.openai.com/v1"
	ollama = "http://localhost:11434/v1"
)

// Where models are served, in the order in which they are offered.
const (
	atOpenAI = iota
	atOllama
	elsewhere
	nowhere
	inDirectory // behind what is offered for any model
)
