package main

import (
	"fmt"
	"sync"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/web"
)

// counts is what there is to count, of the app that runs at the time. A new app counts from 0.
type counts struct {
	mu  sync.Mutex
	app *app
}

func (c *counts) set(a *app) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.app = a
}

func (c *counts) list() []web.Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.app == nil {
		return nil
	}
	hits, misses := c.app.search.CacheUse()
	all := append([]web.Counter{
		{Name: "hark_search_cache_hits_total", Help: "Searches answered from the cache.", Value: hits},
		{Name: "hark_search_cache_misses_total", Help: "Searches that had to be carried out.", Value: misses},
	}, promptCounters(c.app.answers.PromptUse())...)
	return append(all, measureCounters(c.app.builder.CacheStats())...)
}

// measureCounters tell how often the texts of prompts had been measured before.
func measureCounters(stats []builder.CacheStats) (all []web.Counter) {
	for _, s := range stats {
		section := fmt.Sprintf("section=%q", string(s.Section))
		all = append(all, web.Counter{Name: "hark_prompt_cache_hits_total", Help: "Texts of prompts that had been measured before, by section.", Labels: section, Value: int64(s.Hits)})
	}
	for _, s := range stats {
		section := fmt.Sprintf("section=%q", string(s.Section))
		all = append(all, web.Counter{Name: "hark_prompt_cache_misses_total", Help: "Texts of prompts that were measured, by section.", Labels: section, Value: int64(s.Misses)})
	}
	return all
}

// promptCounters tell what prompts took.
func promptCounters(use answer.PromptUse) []web.Counter {
	all := []web.Counter{
		{Name: "hark_prompts_total", Help: "Prompts sent to the model for an answer.", Value: use.Prompts},
		{Name: "hark_prompt_window_warnings_total", Help: "Prompts that took 80 % of the model's window or more.", Value: use.Warnings},
	}
	const sizes = "hark_prompt_tokens"
	size := func(name, labels string, value int64) {
		all = append(all, web.Counter{Name: sizes + name, Help: "Tokens of prompts.", Histogram: sizes, Labels: labels, Value: value})
	}
	for _, s := range use.Sizes {
		size("_bucket", fmt.Sprintf(`le="%d"`, s.Most), s.Count)
	}
	size("_bucket", `le="+Inf"`, use.Prompts)
	size("_sum", "", use.Tokens)
	size("_count", "", use.Prompts)
	for _, s := range use.Sections {
		all = append(all, web.Counter{Name: "hark_prompt_section_tokens_total", Help: "Tokens of prompts, by section.", Labels: fmt.Sprintf("section=%q", s.Section), Value: s.Tokens})
	}
	for _, d := range use.Dropped {
		all = append(all, web.Counter{Name: "hark_prompt_dropped_total", Help: "Items left out of prompts, by section and reason.",
			Labels: fmt.Sprintf("section=%q,reason=%q", d.Section, d.Why), Value: d.Items})
	}
	return all
}
