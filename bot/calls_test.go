package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// called waits for so many answers, stops the bot and returns the kept records.
func (s *scene) called(t *testing.T, answers int) (kept []memory.Record) {
	t.Helper()
	s.discord.WaitFor("answers", func() bool { return len(s.discord.Sent(s.channel)) >= answers })
	s.idle(t)
	s.stops(t)
	for _, e := range eventsOf[memory.Recorded](s.log) {
		kept = append(kept, e.Record)
	}
	return kept
}

// records are of a question and its tool calls, one of them invalid.
func records() []memory.Record {
	return []memory.Record{
		{CallID: "a", Speaker: memory.SpeakerUser, Method: answer.MethodAsk,
			Kwargs: map[string]any{"text": map[string]any{"chars": 5, "words": 1, "fingerprint": "abc"}}},
		{CallID: "b", Timestamp: time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC), Speaker: memory.SpeakerTool,
			Method: "search_memory", Outcome: "3 messages"},
		{CallID: "c", Speaker: memory.SpeakerTool, Method: "what isn't a name"},
	}
}

func TestRecordsAreLoggedWithTheAnswer(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.oracle.answer = gives(answer.Answer{Text: "Friday", Records: records()}, nil)
	s.run(t).ready(t)
	question := s.ask("when?")
	kept := s.called(t, 1)
	sent := s.discord.Sent(s.channel)[0]
	if len(kept) != 2 {
		t.Fatalf("kept %+v", kept)
	}
	for i, r := range kept {
		if r.Guild != s.guildID || r.Channel != s.channelID || r.Question != memory.MessageID(question.ID) ||
			r.Answer != memory.MessageID(sent.ID) || r.Asker != s.anaID ||
			r.Timestamp.IsZero() || r.CallID != string("ab"[i]) {
			t.Errorf("kept %+v", r)
		}
	}
	order := []string{}
	for _, e := range s.log.eventsNow() {
		if kind := fmt.Sprintf("%T", e); slices.Contains([]string{"memory.Answered", "memory.Recorded"}, kind) {
			order = append(order, kind)
		}
	}
	if !slices.Equal(order, []string{"memory.Answered", "memory.Recorded", "memory.Recorded"}) {
		t.Errorf("logged %v", order)
	}
}

// Of an unanswered question only that it was asked is kept, and by whom.
func TestQuestionsAreRecordedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers func(context.Context, answer.Question, func(string)) (answer.Answer, error)
		text    string
		cfg     Config
		want    int
	}{
		"it fails": {answers: func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
			return answer.Answer{Records: records()}, errors.New("the disk is on fire")
		}, want: 1},
		"it panics": {answers: func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
			panic("oops")
		}, want: 1},
		"nothing is asked": {answers: says("Friday"), text: " ", want: 0},
		"no record is to be": {answers: func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
			return answer.Answer{Text: "so", Records: records()}, nil
		}, cfg: Config{NoRecords: true}},
		"nothing is remembered": {answers: func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
			return answer.Answer{Text: "so", Records: records()}, nil
		}, cfg: Config{Policy: memory.Policy{Ask: true}}},
		"nobody knows what it is from": {answers: func(context.Context, answer.Question,
			func(string)) (answer.Answer, error) {
			return answer.Answer{Text: "so", Records: records(), Trace: memory.Trace{Asker: 0}}, nil
		}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			c.cfg.Token = s.discord.Token
			s.with(t, c.cfg)
			s.oracle.answer, s.oracle.traceless = c.answers, true
			s.run(t).ready(t)
			answers := 1
			if c.cfg.Policy.Ask {
				s.notice(t, s.channel)
				answers = 2 // with the notice
			}
			text := "when?"
			if c.text != "" {
				text = c.text
			}
			question := s.ask(text)
			kept := s.called(t, answers)
			if len(kept) != c.want {
				t.Fatalf("kept %+v", kept)
			}
			for _, r := range kept {
				if r.Speaker != memory.SpeakerUser || r.Method != answer.MethodAsk ||
					r.Question != memory.MessageID(question.ID) || r.Answer != 0 || len(r.Kwargs) > 0 ||
					r.Asker != s.anaID || fmt.Sprint(r.Args) != "["+question.ID.String()+"]" {
					t.Errorf("kept %+v", r)
				}
			}
		})
	}
}

// promptedTrace is the trace of an answer from a prompt.
func promptedTrace(q answer.Question) memory.Trace {
	return memory.Trace{
		Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker, Model: "canary-model",
		Tokens: 850, MaxTokens: 4000, Window: 10_000, Layout: "sections", Search: 20 * time.Millisecond,
		Total:    time.Second,
		Recalled: []memory.TraceHit{{Channel: q.Channel, Message: q.ID - 1, Why: []string{"canary"}}},
		Sections: []memory.TraceUse{{Section: "history", Tokens: 700, Included: 9, Dropped: 5,
			Why: "ceiling"}, {Section: "lore", Tokens: 12, Included: 1}},
		Prompt: &memory.Prompt{Messages: []memory.PromptMessage{{Role: "user",
			Content: "canary words"}}}, Named: []memory.UserID{q.Asker},
	}
}

// The journal has a line of numbers for each answer, and warns when the window is nearly full.
func TestAnswersAreAccountedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		window int
		level  string
		use    float64
	}{
		{"a large window", 10_000, "info", 0.09}, {"an unknown one", 0, "info", 0}, {"just not nearly full",
			1063, "info", 0.8}, {"nearly full", 1062, "warn", 0.8}, {"too full", 800, "warn", 1.06},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(_ context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
				trace := promptedTrace(q)
				trace.Window = c.window
				return answer.Answer{Text: "canary sings", Trace: trace}, nil
			}
			question := s.ask("does the canary sing?")
			m := s.answered(t, s.channel, "canary sings")
			s.out.wait(t, `"tokens":850`)
			var got struct {
				Level, Message           string
				Answer, Question         int64
				Tokens, Window, Recalled int
				MaxTokens                int     `json:"max_tokens"`
				Use                      float64 `json:"window_use"`
				Sections, Dropped        map[string]int
				Search                   int `json:"search_ms"`
				Total                    int `json:"total_ms"`
			}
			for line := range strings.Lines(s.out.String()) {
				if strings.Contains(line, `"tokens":850`) {
					if err := json.Unmarshal([]byte(line), &got); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got.Level != c.level || got.Answer != int64(m.ID) || got.Question != int64(question.ID) ||
				got.Window != c.window || got.MaxTokens != 4000 || got.Use != c.use ||
				got.Sections["history"] != 700 || got.Sections["lore"] != 12 || len(got.Dropped) != 1 ||
				got.Dropped["history"] != 5 || got.Recalled != 1 || got.Search != 20 || got.Total != 1000 {
				t.Errorf("told %+v", got)
			}
			if journal := s.out.String(); strings.Contains(journal, "canary") || strings.Contains(journal, `"ana"`) {
				t.Errorf("the journal tells what was said, or who: %s", journal)
			}
		})
	}
}

// Only answers that are shown keep their prompt.
func TestOnlyAnswersThatAreShownKeepAPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		err        error
		kept       bool
	}{
		{"whole", "Friday", nil, true}, {"broken off", "Fri", errors.New("gone"), true}, {"nothing", " ",
			errors.New("gone"), false}, {"empty", "", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := set(t).run(t).ready(t)
			s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
				return answer.Answer{Text: c.text, Trace: promptedTrace(q)}, c.err
			}
			s.ask("when?")
			s.discord.WaitSent(s.channel, func(discordtest.Sent) bool { return true })
			if got := s.traces(t, 1)[0]; got.Prompt != nil != c.kept || got.Tokens != 850 {
				t.Errorf("kept %+v", got.Prompt)
			}
		})
	}
}
