package setup

import (
	"cmp"

	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/tokens"
)

// modelRetries is how often a failed call is retried: within four seconds, unless the server asks for more.
const modelRetries = 3

// NewModels returns the configured models, the default first.
func NewModels(c config.Config) *llm.Models {
	l := c.LLM
	one := func(m config.Model) llm.Named {
		made := llm.Config{
			Model: m.Model, BaseURL: m.BaseURL, APIKey: m.APIKey.Reveal(), Headers: m.Headers.Reveal(),
			Vision: m.Vision, Window: cmp.Or(m.Window, tokens.Window(m.Model)), MaxTokens: l.MaxTokens,
			Timeout: l.Timeout.Duration, Retries: modelRetries,
		}
		if m.Temperature != nil {
			made.Temperature = new(float32(*m.Temperature))
		}
		return llm.Named{Name: m.Name, Config: made}
	}
	var named []llm.Named
	for _, m := range l.All() {
		named = append(named, one(m))
	}
	if f := l.Fallback; len(named) > 0 && f.Model != "" {
		fallback := one(config.Model{Model: f.Model, BaseURL: f.BaseURL, APIKey: f.APIKey, Vision: f.Vision,
			Temperature: f.Temperature, Headers: f.Headers})
		return llm.NewModels(named, &fallback.Config)
	}
	return llm.NewModels(named, nil)
}
