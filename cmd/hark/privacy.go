package main

import (
	"slices"

	"hark/bot/command"
	"hark/internal/config"
)

// privacy returns what members are told about how Hark is run.
func privacy(c config.Config) command.Privacy {
	p := command.Privacy{
		Operator: c.Discord.Operator, Prompts: c.Memory.KeepPrompts(), Records: c.Memory.KeepRecords(),
		Summaries: c.Memory.Summaries != summariesOff,
	}
	asked := c.LLM.All()
	if f := c.LLM.Fallback; len(asked) > 0 && f.Model != "" {
		asked = slices.Insert(asked, 1, config.Model{BaseURL: f.BaseURL, Vision: f.Vision})
	}
	for _, m := range asked {
		if host := hostOf(m.BaseURL); host != "" && !slices.Contains(p.Models, host) {
			p.Models = append(p.Models, host)
		}
		p.Vision = p.Vision || m.Vision
	}
	if c.Embedding.Model != "" {
		p.Embedder = hostOf(c.Embedding.BaseURL)
	}
	if c.Search.RerankURL != "" {
		p.Reranker = hostOf(c.Search.RerankURL)
	}
	return p
}
