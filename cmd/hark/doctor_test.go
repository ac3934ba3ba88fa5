package main

import (
	"os"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options []discordtest.Option
		change  func(*world)
		wrong   string // the only line with a ✗
		says    string
	}{
		"all is well": {},
		"wrong token": {change: func(w *world) { w.env["HARK_DISCORD_TOKEN"] = "wrong" }, wrong: "Discord", says: "Reset Token"},
		"no intent": {options: []discordtest.Option{discordtest.WithoutIntents(discordtest.MessageContent)},
			wrong: "Discord", says: "Message Content Intent"},
		"no model server": {change: func(w *world) { w.env["HARK_LLM_BASE_URL"] = "http://127.0.0.1:1/v1" }, wrong: "model", says: "llm.base_url"},
		"wrong key": {change: func(w *world) {
			w.env["HARK_LLM_BASE_URL"] = llmtest.New(w.T, llmtest.Key("right")).URL()
			w.env["HARK_LLM_API_KEY"] = "wr0ng-key"
		}, wrong: "model", says: "llm.api_key"},
		"unknown model": {change: func(w *world) {
			w.env["HARK_LLM_BASE_URL"] = llmtest.New(w.T, llmtest.Models("other")).URL()
		}, wrong: "model", says: "test-model"},
		"no embedding server": {change: func(w *world) {
			w.env["HARK_EMBEDDING_MODEL"], w.env["HARK_EMBEDDING_BASE_URL"] = "e", "http://127.0.0.1:1/v1"
			w.env["HARK_EMBEDDING_DIMENSIONS"] = "64"
		}, wrong: "embedder", says: "embedding.base_url"},
		"embedding server": {change: func(w *world) {
			w.env["HARK_EMBEDDING_MODEL"], w.env["HARK_EMBEDDING_BASE_URL"] = "e", w.model.URL()
		}},
		"no rerank server": {change: func(w *world) {
			w.env["HARK_SEARCH_RERANK_URL"], w.env["HARK_SEARCH_RERANK_KEY"] = "http://127.0.0.1:1/rerank", "wr0ng-key"
		}, wrong: "reranker", says: "search.rerank_url"},
		"rerank server": {change: func(w *world) { w.env["HARK_SEARCH_RERANK_URL"] = newReranking(w.T, "sky").url }},
		"no model that reranks": {change: func(w *world) {
			w.env["HARK_SEARCH_RERANK_URL"] = newReranking(w.T, "Bread").url
		}, wrong: "reranker", says: "is it a reranking model?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.options...)
			if test.change != nil {
				test.change(w)
			}
			out, want := &buffer{}, 0
			if test.wrong != "" {
				want = 1
			}
			if code := run(t.Context(), w.environment(out, w.log), []string{"doctor"}); code != want {
				t.Errorf("exit code %d", code)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != 7 {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				mark, what, _ := strings.Cut(line, " ")
				ill := test.wrong != "" && strings.HasPrefix(what, test.wrong+":")
				if ill != (mark == "✗") || ill && !strings.Contains(line, test.says) {
					t.Errorf("says %s", line)
				}
			}
			for _, secret := range []string{w.discord.Token, "wr0ng-key"} {
				w.lacks(out.String()+w.log.String(), secret)
			}
			entries, err := os.ReadDir(w.env["HARK_DATA"])
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".doctor") {
					t.Errorf("it leaves %s behind, %v", e.Name(), err)
				}
			}
		})
	}
}
