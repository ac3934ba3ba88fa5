package llm

import (
	"net/url"
	"regexp"
	"strings"

	"hark/internal/endpoint"
)

// Thinking is how much a model thinks before it answers.
type Thinking string

// What Config.Thinking can be.
const (
	ThinkAsItLikes Thinking = "auto" // the server's choice, but off for what needs no thought where that is known to work
	ThinkOff       Thinking = "off"
	ThinkLow       Thinking = "low"
	ThinkMedium    Thinking = "medium"
	ThinkHigh      Thinking = "high"
)

// thinkingFields are all fields by which servers are told how much to think.
var thinkingFields = []string{"reasoning_effort", "reasoning", "think", "thinking", "chat_template_kwargs"}

// budgets are the tokens of thoughts by which Anthropic's models are told how much to think.
var budgets = map[Thinking]int{ThinkLow: 1024, ThinkMedium: 4096, ThinkHigh: 16384}

// service is a kind of server that is told in its own way how much to think.
type service int

const (
	someServer service = iota
	openAI
	openRouter
	gemini
	deepSeek
	groq
	mistral
	ollama
	ownServer // llama.cpp, vLLM, LM Studio and their like on this machine
)

// hosts are those of services by the ends of their names.
var hosts = map[string]service{
	"openai.com": openAI, "openrouter.ai": openRouter, "googleapis.com": gemini, "deepseek.com": deepSeek,
	"groq.com": groq, "mistral.ai": mistral,
}

// serviceAt returns which service has an address.
func serviceAt(address string) service {
	u, err := url.Parse(address)
	if err != nil {
		return someServer
	}
	for end, s := range hosts {
		if u.Hostname() == end || strings.HasSuffix(u.Hostname(), "."+end) {
			return s
		}
	}
	switch {
	case u.Port() == "11434":
		return ollama
	case endpoint.IsLocal(address):
		return ownServer
	}
	return someServer
}

// withoutThought matches OpenAI's models that take tools only beside reasoning_effort "none".
var withoutThought = regexp.MustCompile(`^gpt-(5\.[6-9]|[6-9]|[1-9]\d)`)

// thinking returns the fields that tell the server how much to think. brief: no thoughts are wanted; tools: some are
// offered.
func thinking(c Config, brief, tools bool) map[string]any {
	level := c.Thinking
	at := serviceAt(c.BaseURL)
	if level == "" {
		level = ThinkAsItLikes
	}
	if at == openAI && tools && withoutThought.MatchString(c.Model) {
		level = ThinkOff
	}
	if brief && level != ThinkAsItLikes {
		level = ThinkOff
	}
	if level == ThinkAsItLikes {
		if !brief || !isSafeToSwitchOff(at, c.Model) {
			return nil
		}
		level = ThinkOff
	}
	if at == openRouter {
		return map[string]any{"reasoning": openRouterReasoning(c.Model, level)}
	}
	return fieldsFor(at, c.Model, level)
}

// isSafeToSwitchOff reports whether a server takes the wish for no thoughts for a model that has none, or the model is
// known to have some.
func isSafeToSwitchOff(at service, model string) bool {
	switch at {
	case ollama, ownServer, deepSeek:
		return true
	case openAI:
		return isReasoning(model)
	}
	return false
}

// fieldsFor returns the fields that a server takes. All but OpenRouter.
func fieldsFor(at service, model string, level Thinking) map[string]any {
	effort := effortOf(level)
	switch at {
	case openAI:
		if level == ThinkOff {
			effort = leastEffort(model)
		}
		return map[string]any{"reasoning_effort": effort}
	case deepSeek:
		kind := "enabled"
		if level == ThinkOff {
			kind = "disabled"
		}
		return map[string]any{"thinking": map[string]any{"type": kind}}
	case ollama:
		return map[string]any{"reasoning_effort": effort, "think": thinkOf(level)}
	case ownServer:
		if level == ThinkOff {
			return map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}
		}
		return map[string]any{"reasoning_effort": effort, "chat_template_kwargs": map[string]any{
			"enable_thinking": true, "reasoning_effort": effort}}
	case mistral:
		return nil // it has models that think, and no switch
	}
	return map[string]any{"reasoning_effort": effort}
}

func effortOf(level Thinking) string {
	if level == ThinkOff {
		return "none"
	}
	return string(level)
}

// thinkOf returns Ollama's own field: a level, or false.
func thinkOf(level Thinking) any {
	if level == ThinkOff {
		return false
	}
	return string(level)
}

// leastEffort returns the least that OpenAI's model takes.
func leastEffort(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	switch {
	case strings.HasPrefix(name, "o"):
		return "low"
	case name == "gpt-5" || strings.HasPrefix(name, "gpt-5-"):
		return "minimal"
	}
	return "none"
}

// openRouterReasoning returns OpenRouter's field. Anthropic's models there take a budget.
func openRouterReasoning(model string, level Thinking) map[string]any {
	switch {
	case level == ThinkOff:
		return map[string]any{"enabled": false}
	case strings.HasPrefix(model, "anthropic/"):
		return map[string]any{"max_tokens": budgets[level]}
	}
	return map[string]any{"effort": string(level)}
}

// thoughtTokens returns what a budget of thoughts takes beside the answer: such a server wants a longest answer that has
// room for both.
func thoughtTokens(c Config, brief bool) int {
	if brief || serviceAt(c.BaseURL) != openRouter || !strings.HasPrefix(c.Model, "anthropic/") {
		return 0
	}
	return budgets[c.Thinking]
}
