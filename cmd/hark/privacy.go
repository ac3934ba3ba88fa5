package main

import (
	"slices"

	"hark/bot"
	"hark/internal/config"
)

// privacy is what members are told of how Hark is run.
func privacy(c config.Config) bot.Privacy {
	p := bot.Privacy{
		Operator: c.Discord.Operator, Prompts: c.Memory.KeepPrompts(), Records: c.Memory.KeepRecords(),
		Summaries: c.Memory.Summaries != summariesOff,
	}
	if c.LLM.Model != "" {
		p.Models, p.Vision = []string{hostOf(c.LLM.BaseURL)}, c.LLM.Vision
		add := func(model, address string, sees bool) {
			if model == "" {
				return
			}
			if address != "" && !slices.Contains(p.Models, hostOf(address)) {
				p.Models = append(p.Models, hostOf(address))
			}
			p.Vision = p.Vision || sees
		}
		add(c.LLM.Fallback.Model, c.LLM.Fallback.BaseURL, c.LLM.Fallback.Vision)
		for _, m := range c.LLM.Models {
			add(m.Model, m.BaseURL, m.Vision)
		}
	}
	if c.Embedding.Model != "" {
		p.Embedder = hostOf(c.Embedding.BaseURL)
	}
	if c.Search.RerankURL != "" {
		p.Reranker = hostOf(c.Search.RerankURL)
	}
	return p
}
