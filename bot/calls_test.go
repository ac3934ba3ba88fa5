package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// called waits until what was asked is answered for good, and returns the records that are kept.
func (s *scene) called(t *testing.T, answers int) (kept []memory.Record) {
	t.Helper()
	s.discord.WaitFor("answers", func() bool { return len(s.discord.Sent(s.channel)) >= answers })
	s.idle(t)
	s.stops(t)
	for _, e := range eventsOf[memory.Called](s.log) {
		kept = append(kept, e.Record)
	}
	return kept
}

// records are those of a question and of a tool's call for it.
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
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday", Records: records()}, nil
	}
	s.run(t).ready(t)
	question := s.ask("when?")
	kept := s.called(t, 1)
	sent := s.discord.Sent(s.channel)[0]
	if len(kept) != 2 {
		t.Fatalf("kept %+v", kept)
	}
	for i, r := range kept {
		if r.Guild != memory.GuildID(s.guild.ID) || r.Channel != memory.ChannelID(s.channel) ||
			r.Question != memory.MessageID(question.ID) ||
			r.Answer != memory.MessageID(sent.ID) || r.Asker != memory.UserID(s.ana.ID) ||
			r.Timestamp.IsZero() || r.CallID != string("ab"[i]) {
			t.Errorf("kept %+v", r)
		}
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	order := []string{}
	for _, e := range s.log.events {
		if kind := fmt.Sprintf("%T", e); slices.Contains([]string{"memory.Answered", "memory.Called"}, kind) {
			order = append(order, kind)
		}
	}
	if !slices.Equal(order, []string{"memory.Answered", "memory.Called", "memory.Called"}) {
		t.Errorf("logged %v", order)
	}
}

// Of a question that isn't answered only that it was asked is kept, and by whom.
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
		"it panics": {answers: func(context.Context, answer.Question, func(string)) (answer.Answer,
			error) {
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
					r.Asker != memory.UserID(s.ana.ID) || fmt.Sprint(r.Args) != "["+question.ID.String()+"]" {
					t.Errorf("kept %+v", r)
				}
			}
		})
	}
}
