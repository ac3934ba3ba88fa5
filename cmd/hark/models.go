package main

import (
	"cmp"

	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/tokens"
)

// modelRetries is how often a call that came to nothing is made again: within four seconds, if the server doesn't say more.
const modelRetries = 3

// newModels are the models that the configuration names, the default first; none if it names none.
func newModels(c config.Config) *llm.Models {
	l := c.LLM
	if l.Model == "" {
		return llm.NewModels(nil, nil)
	}
	one := func(model, url string, key config.Secret, window int, vision bool, temperature *float64, headers config.Headers) llm.Config {
		made := llm.Config{
			Model: model, BaseURL: url, APIKey: key.Reveal(), Window: cmp.Or(window, tokens.Window(model)), Vision: vision,
			Headers: headers.Reveal(), MaxTokens: l.MaxTokens, Timeout: l.Timeout.Duration, Retries: modelRetries,
		}
		if temperature != nil {
			t := float32(*temperature)
			made.Temperature = &t
		}
		return made
	}
	named := []llm.Named{{Name: l.Model, Config: one(l.Model, l.BaseURL, l.APIKey, l.Window, l.Vision, l.Temperature, l.Headers)}}
	for _, m := range l.Models {
		named = append(named, llm.Named{
			Name: m.Name, Config: one(m.Model, m.BaseURL, m.APIKey, m.Window, m.Vision, m.Temperature, m.Headers),
		})
	}
	if f := l.Fallback; f.Model != "" {
		fallback := one(f.Model, f.BaseURL, f.APIKey, 0, f.Vision, f.Temperature, f.Headers)
		return llm.NewModels(named, &fallback)
	}
	return llm.NewModels(named, nil)
}

// model is the default as answers take it.
func (a *app) model() answer.Model {
	if m := a.models.Default(); m != nil {
		return m
	}
	return nil // not a nil *llm.Model, which would be a Model
}
