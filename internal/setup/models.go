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
	var named []llm.Named
	for _, m := range c.LLM.All() {
		named = append(named, llm.Named{Name: m.Name, Config: modelConfig(c.LLM, m)})
	}
	f := c.LLM.Fallback
	if len(named) == 0 || f.Model == "" {
		return llm.NewModels(named, nil)
	}
	fallback := modelConfig(c.LLM, config.Model{
		Model:       f.Model,
		BaseURL:     f.BaseURL,
		APIKey:      f.APIKey,
		Vision:      f.Vision,
		Temperature: f.Temperature,
		Headers:     f.Headers,
		Thinking:    f.Thinking,
		Extra:       f.Extra,
		AtOnce:      f.AtOnce,
	})
	return llm.NewModels(named, &fallback)
}

// modelConfig returns how a model is asked. l has what all models share.
func modelConfig(l config.LLM, m config.Model) llm.Config {
	made := llm.Config{
		Model:     m.Model,
		BaseURL:   m.BaseURL,
		APIKey:    m.APIKey.Reveal(),
		Headers:   m.Headers.Reveal(),
		Vision:    m.Vision,
		Window:    cmp.Or(m.Window, tokens.Window(m.Model)),
		MaxTokens: l.MaxTokens,
		Timeout:   l.Timeout.Duration,
		Retries:   modelRetries,
		Extra:     m.Extra.Reveal(),
		Thinking:  llm.Thinking(m.Thinking),
		AtOnce:    m.AtOnce,
	}
	if m.Temperature != nil {
		made.Temperature = new(float32(*m.Temperature))
	}
	return made
}
