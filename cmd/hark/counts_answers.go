package main

import (
	"hark/bot"
	"hark/internal/answer"
	"hark/internal/web"
	"hark/memory"
)

// recallMetrics tell how it is searched.
func recallMetrics(a *app) []web.Metric {
	hits := web.Metric{Name: "hark_search_cache_hits_total", Help: "Searches answered from the cache.", Type: web.Counter}
	misses := web.Metric{Name: "hark_search_cache_misses_total", Help: "Searches that had to be carried out.", Type: web.Counter}
	times := web.Metric{Name: "hark_search_seconds", Help: "How long searches for answers took.", Type: web.Histogram}
	found := web.Metric{Name: "hark_search_results_total", Help: "What searches for answers found.", Type: web.Counter}
	failed := web.Metric{Name: "hark_recall_failures_total", Help: "Searches, embeddings and rerankings that failed.", Type: web.Counter, Labels: []string{"of"}}
	embeddings := web.Metric{Name: "hark_embedding_seconds", Help: "How long an embedding server took, for questions or for what is stored.", Type: web.Histogram, Labels: []string{"purpose"}}
	rerankings := web.Metric{Name: "hark_reranking_seconds", Help: "How long the reranker took.", Type: web.Histogram}
	resting := web.Metric{Name: "hark_recall_resting", Help: "1 while the embedding server or the reranker is left alone after failures, otherwise 0.", Type: web.Gauge, Labels: []string{"server"}}
	if a != nil {
		h, m := a.search.CacheUse()
		hits.Points, misses.Points = value(float64(h)), value(float64(m))
		times.Points, found.Points = spreads(a.meters.searches.All(), unlabelled), value(float64(a.meters.hits.All()[struct{}{}]))
		failed.Points = points(a.meters.failed.All(), byKind)
		embeddings.Points = spreads(a.meters.embeddings.All(), func(p memory.Purpose) []string {
			if p == memory.ForSearch {
				return []string{"questions"}
			}
			return []string{"storage"}
		})
		rerankings.Points = spreads(a.meters.rerankings.All(), unlabelled)
		if e, asks := a.embedder.(timedEmbedder); asks {
			resting.Points = append(resting.Points, web.Point{Labels: []string{ofEmbedding}, Value: truth(e.Resting())})
		}
		if a.reranker != nil {
			resting.Points = append(resting.Points, web.Point{Labels: []string{ofReranking}, Value: truth(a.reranker.Resting())})
		}
	}
	return []web.Metric{hits, misses, times, found, failed, embeddings, rerankings, resting}
}

// promptMetrics tell what prompts took, and how often their texts had been measured before.
func promptMetrics(a *app) []web.Metric {
	var use answer.PromptUse
	hits := web.Metric{Name: "hark_prompt_cache_hits_total", Help: "Texts of prompts that had been measured before, by section.", Type: web.Counter, Labels: []string{"section"}}
	misses := web.Metric{Name: "hark_prompt_cache_misses_total", Help: "Texts of prompts that were measured, by section.", Type: web.Counter, Labels: []string{"section"}}
	if a != nil {
		use = a.answers.PromptUse()
		for _, s := range a.builders.cacheStats() {
			hits.Points = append(hits.Points, web.Point{Labels: []string{string(s.Section)}, Value: float64(s.Hits)})
			misses.Points = append(misses.Points, web.Point{Labels: []string{string(s.Section)}, Value: float64(s.Misses)})
		}
	}
	size := web.Point{Value: float64(use.Tokens), Count: use.Prompts}
	for _, s := range use.Sizes {
		size.Buckets = append(size.Buckets, web.Bucket{Most: float64(s.Most), Count: s.Count})
	}
	sections := web.Metric{Name: "hark_prompt_section_tokens_total", Help: "Tokens of prompts, by section.", Type: web.Counter, Labels: []string{"section"}}
	for _, s := range use.Sections {
		sections.Points = append(sections.Points, web.Point{Labels: []string{s.Section}, Value: float64(s.Tokens)})
	}
	dropped := web.Metric{Name: "hark_prompt_dropped_total", Help: "Items left out of prompts, by section and reason.", Type: web.Counter, Labels: []string{"section", "reason"}}
	for _, d := range use.Dropped {
		dropped.Points = append(dropped.Points, web.Point{Labels: []string{d.Section, d.Why}, Value: float64(d.Items)})
	}
	return []web.Metric{
		counter("hark_prompts_total", "Prompts sent to the model for an answer.", use.Prompts),
		counter("hark_prompt_window_warnings_total", "Prompts that took 80 % of the model's window or more.", use.Warnings),
		{Name: "hark_prompt_tokens", Help: "Tokens of prompts.", Type: web.Histogram, Points: []web.Point{size}},
		sections, dropped, hits, misses,
	}
}

// questionMetrics tell what became of questions.
func questionMetrics(b *bot.Bot) []web.Metric {
	var t bot.Tally
	if b != nil {
		t = b.Tally()
	}
	refused := web.Metric{Name: "hark_questions_refused_total", Help: "Questions not answered, or by quotes alone, by the limit that was reached.", Type: web.Counter, Labels: []string{"limit"}}
	for _, r := range t.Refused {
		refused.Points = append(refused.Points, web.Point{Labels: []string{r.Why}, Value: float64(r.Count)})
	}
	return []web.Metric{
		{Name: "hark_questions_total", Help: "Questions answered, and those that something failed of.", Type: web.Counter, Labels: []string{"outcome"},
			Points: []web.Point{{Labels: []string{"answered"}, Value: float64(t.Answered)}, {Labels: []string{"failed"}, Value: float64(t.Failed)}}},
		refused,
		counter("hark_answer_tokens_total", "Tokens that models read and wrote for answers.", t.Tokens),
		gauge("hark_questions_waiting", "Questions that wait for an answer.", float64(t.Waiting)),
		gauge("hark_questions_busy", "Questions being answered.", float64(t.Busy)),
	}
}

// modelMetrics tell how the models' servers do.
func modelMetrics(a *app) []web.Metric {
	calls := web.Metric{Name: "hark_model_call_seconds", Help: "How long calls of models took until their answers were whole or had failed, by model.", Type: web.Histogram, Labels: []string{"model"}}
	errors := web.Metric{Name: "hark_model_errors_total", Help: "Calls of models that failed, by model and kind of failure.", Type: web.Counter, Labels: []string{"model", "kind"}}
	resting := web.Metric{Name: "hark_model_resting", Help: "1 while a model's server is left alone after failures, otherwise 0.", Type: web.Gauge, Labels: []string{"model"}}
	instead := web.Metric{Name: "hark_model_fallbacks_total", Help: "Times that the fallback was asked because a model failed, by that model.", Type: web.Counter, Labels: []string{"model"}}
	if a != nil {
		calls.Points = spreads(a.meters.models.All(), byKind)
		errors.Points = points(a.meters.errors.All(), func(e modelError) []string { return []string{e.model, e.kind} })
		instead.Points = points(a.meters.instead.All(), byKind)
		rests := map[string]int64{}
		for _, c := range a.models.Clients() { // of several by one name, one may rest
			rests[c.Name()] = max(rests[c.Name()], int64(truth(c.Resting())))
		}
		resting.Points = points(rests, byKind)
	}
	return []web.Metric{calls, errors, resting, instead}
}

// toolMetrics tell what the model did with tools, and of long sessions.
func toolMetrics(a *app) []web.Metric {
	calls := web.Metric{Name: "hark_tool_calls_total", Help: "Calls of tools by the model, by tool and how they came out.", Type: web.Counter, Labels: []string{"tool", "outcome"}}
	var condensed answer.CondenseUse
	if a != nil {
		for _, u := range a.answers.ToolUse() {
			calls.Points = append(calls.Points, web.Point{Labels: []string{u.Tool, u.Outcome}, Value: float64(u.Calls)})
		}
		condensed = a.answers.CondenseUse()
	}
	return []web.Metric{calls,
		counter("hark_sessions_condensed_total", "Times that the older part of a session was condensed by the model.", condensed.Made),
		counter("hark_sessions_condense_failed_total", "Times that this failed, so that sessions are cut off where there is no room.", condensed.Failed)}
}

// counter is a metric of one number that only grows.
func counter(name, help string, n int64) web.Metric {
	return web.Metric{Name: name, Help: help, Type: web.Counter, Points: value(float64(n))}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
