package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/llm"
	"hark/internal/llmtest"
	"hark/memory"
)

// Recorded streams, cut anywhere, end in an answer after whole calls, in a part of one that is known to be a part, or in a
// quotation. Nothing of a call that wasn't whole is made or sent back, and of what the model thought nothing is shown.
func TestStreamsCutAnywhere(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "", "")
	says(t, a, "the ferry leaves at noon")
	indexes(t, a)
	q := answer.Question{Guild: memory.LocalGuild, Channel: terminalChannel, Text: "when does the ferry leave?", Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Operator: true}
	for _, name := range []string{"lmstudio", "openrouter"} { // thoughts as text and beside it; a call without text, and with some
		recorded, err := os.ReadFile("../../internal/llm/testdata/" + name + ".answer.txt")
		if err != nil {
			t.Fatal(err)
		}
		body := string(recorded)
		server := llmtest.New(t)
		model := llm.New(llm.Config{BaseURL: server.URL(), Model: "test-model"}) // each is asked for once, so that what comes of it is seen
		engine := answer.New(a.store, a.search, a.builder, model, answer.Options{ToolRounds: 1})
		ask := func(body string) (got answer.Answer, calls string, err error) {
			server.Answer(func(r llmtest.Request) llmtest.Reply {
				for _, m := range r.Messages {
					if m.ToolCalls != nil {
						calls += string(m.ToolCalls)
						return llmtest.Say("At noon.")
					}
				}
				return llmtest.Reply{Body: body, ContentType: "text/event-stream"}
			})
			got, err = engine.Answer(t.Context(), q, func(text string) {
				if strings.ContainsAny(text, "<{") || strings.Contains(strings.ToLower(text), "think") {
					t.Errorf("%s: shown is %q", name, text)
				}
			})
			return got, calls, err
		}
		whole, called, err := ask(body)
		if err != nil || !strings.HasSuffix(whole.Text, "At noon.") || whole.Away != nil || !strings.Contains(called, "deadline") {
			t.Fatalf("%s: %q after %s, %v", name, whole.Text, called, err)
		}
		outcomes := map[string]int{}
		for _, at := range cuts(body) {
			got, calls, err := ask(body[:at])
			var cut *llm.Error
			switch {
			case err == nil && got.Away == nil:
				outcomes["whole"]++
				if got.Text != whole.Text || calls != called {
					t.Fatalf("%s cut at %d: %q after %s passes for whole, which is %q after %s", name, at, got.Text, calls, whole.Text, called)
				}
			case err == nil:
				outcomes["quoted"]++
				if !strings.Contains(got.Text, "the ferry leaves at noon") || calls != "" || len(got.Trace.Calls) > 0 {
					t.Fatalf("%s cut at %d: quoted %q after %s", name, at, got.Text, calls)
				}
			default:
				outcomes["part"]++
				if !errors.As(err, &cut) || calls != "" || len(got.Trace.Calls) > 0 || got.Text == "" || !strings.HasPrefix(whole.Text, got.Text) {
					t.Fatalf("%s cut at %d: %q after %s, %v", name, at, got.Text, calls, err)
				}
			}
		}
		if outcomes["whole"] == 0 || outcomes["quoted"] == 0 || (outcomes["part"] > 0) != (name == "openrouter") {
			t.Errorf("%s: came to %v", name, outcomes)
		}
	}
}

// cuts are where a stream is cut: at every byte in the long form, or else before, within and after what ends an event, within its
// JSON, and within each character of several bytes.
func cuts(body string) (at []int) {
	for i := 1; i < len(body); i++ {
		border := strings.HasPrefix(body[i-1:], "\n\n") || strings.HasPrefix(body[i:], "\n\n") || strings.HasSuffix(body[:i], "\n\n")
		if border || strings.HasSuffix(body[:i], `":"`) || !utf8.RuneStart(body[i]) || os.Getenv("HARK_LONG") != "" {
			at = append(at, i)
		}
	}
	return at
}

// brokenOff begins the line below a part of an answer.
const brokenOff = "-# ⚠️ "

// What Discord is shown of an answer that was cut off is whole markup and says that it is a part; one that was cut off before
// anything came of it is asked for again.
func TestCutAnswersSaySo(t *testing.T) {
	t.Parallel()
	const text = "**It is** Friday:\n```go\nx := 1\n```\nand *that* is all."
	worlds := 2
	if os.Getenv("HARK_LONG") != "" {
		worlds = 4
	}
	for from := range worlds {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env["HARK_LIMITS_MEMBER_MESSAGES"] = "0"
			w.start()
			w.later()
			cut := llmtest.Reply{ReasoningContent: []string{"secret"}, Cut: llmtest.CutBytes, CutAt: 200 + 228/worlds*from,
				Text: []string{"<thi", "nk>secret</th", "ink>**It is** Fri", "day:\n``", "`go\nx := 1\n`", "``\nand ", "*that* is all."}}
			parts := 0
			for ; cut.CutAt < 1700; cut.CutAt += 4 * 57 {
				w.model.Queue(cut)
				q := w.question(w.general, w.ana, "when?")
				answer := w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool {
					return m.Reference != nil && m.Reference.MessageID == q.ID && (strings.Contains(m.Content, "Noted") || strings.Contains(m.Content, brokenOff))
				})
				for _, version := range answer.Versions {
					if strings.Contains(version, "secret") || strings.Contains(version, "think") || strings.Count(version, "```")%2 != 0 {
						t.Errorf("cut at %d: shown was %q", cut.CutAt, version)
					}
				}
				if shown, why, part := strings.Cut(answer.Content, "\n"+brokenOff); part {
					parts++
					if !strings.HasPrefix(text, shown) && !strings.HasPrefix(text, strings.TrimSuffix(shown, "\n```")) || strings.HasSuffix(shown, "`") != (strings.HasSuffix(shown, "\n```")) || why == "" {
						t.Errorf("cut at %d: %q", cut.CutAt, answer.Content)
					}
				} else if !slices.Contains([]string{"Noted.", "Noted [1].", "Noted"}, answer.Content) { // as it is, or as it was streamed
					t.Errorf("cut at %d: %q", cut.CutAt, answer.Content)
				}
				w.ask(w.general, w.ana, "and now?") // else the server is left alone
			}
			if parts < 2 {
				t.Errorf("%d answers were shown in part", parts)
			}
		})
	}
}
