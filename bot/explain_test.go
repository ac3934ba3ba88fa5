package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// explained is a message that an answer was made from.
func (s *scene) explained(m discordtest.Message, hit memory.TraceHit, text string) answer.Explained {
	hit.Channel, hit.Message = memory.ChannelID(m.ChannelID), memory.MessageID(m.ID)
	return answer.Explained{TraceHit: hit, Text: text, Source: answer.Source{
		Number: hit.Number, Guild: memory.GuildID(s.guild.ID), Channel: hit.Channel, Message: hit.Message, Author: "b*o", Place: "general", Time: m.ID.Time(),
	}}
}

// withSources has answers name two sources.
func (s *scene) withSources() {
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday", Sources: []answer.Source{{Number: 1}, {Number: 2}},
			Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker}}, nil
	}
}

func TestSourcesAreShownToWhoeverPresses(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the *deadline* is Friday")
	s.withSources()
	s.ask("when?")
	s.traces(t, 1)
	m := s.discord.Sent(s.channel)[0]
	s.again(t)
	first := s.explained(said, memory.TraceHit{Number: 1, Cited: true, Relevance: 0.87, Why: []string{"words"}}, "the *deadline* is Friday")
	second := s.explained(said, memory.TraceHit{Number: 2, Cited: true}, strings.Repeat("long ", 100))
	second.Changed, second.Source.Unplaced, second.Source.Place = true, true, ""
	silent := s.explained(said, memory.TraceHit{Number: 3}, "not cited")
	var asked answer.Question
	s.oracle.explain = func(q answer.Question, id memory.MessageID) (answer.Explanation, error) {
		asked = q
		if id != memory.MessageID(m.ID) {
			t.Errorf("asked about %d", id)
		}
		return answer.Explanation{Recalled: []answer.Explained{second, first, silent}}, nil
	}
	s.hears(t, s.press(m.Message, s.bo, buttonSources))
	if asked.Asker != memory.UserID(s.bo.ID) || !asked.OnlyAsker || asked.Roles == nil || asked.Channel != memory.ChannelID(s.channel) || asked.Guild != memory.GuildID(s.guild.ID) || asked.Settled == nil {
		t.Errorf("asked %+v", asked)
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{Recalled: []answer.Explained{silent}}, nil
	}
	if got := whispered(t, s, s.press(m.Message, s.bo, buttonSources)); got != noSources {
		t.Errorf("to somebody who may read none: %q", got)
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, fmt.Errorf("explain: %w", answer.ErrNoTrace)
	}
	s.hears(t, s.press(m.Message, s.bo, buttonSources))
}

func TestWhyDidYouSayThat(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	hit := func(h memory.TraceHit, text string) answer.Explained { return s.explained(said, h, text) }
	trace := memory.Trace{
		Model: "parrot-1", Mode: "search", Tokens: 1200, MaxTokens: 4000, Search: 40 * time.Millisecond, Total: 2 * time.Second, TextOnly: true, HeldBack: 7,
		Sections: []memory.TraceUse{{Section: "history", Tokens: 800, Included: 2, Dropped: 1, Why: "budget"}, {Section: "lore"}},
	}
	s.oracle.explain = func(_ answer.Question, id memory.MessageID) (answer.Explanation, error) {
		if id != memory.MessageID(m.ID) {
			t.Errorf("asked about %d", id)
		}
		return answer.Explanation{Trace: trace, Recalled: []answer.Explained{
			hit(memory.TraceHit{Number: 1, Cited: true, Relevance: 0.87, Why: []string{"words", "around"}, Context: true}, "first"),
			hit(memory.TraceHit{Relevance: 0.1}, "second"), hit(memory.TraceHit{Context: true}, "third"), hit(memory.TraceHit{Context: true, Relevance: 0.3}, "fourth"),
		}}, nil
	}
	s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
	trace = memory.Trace{}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{Trace: trace}, nil
	}
	s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
	if got := whispered(t, s, s.discord.MessageAction(said, s.bo.ID, whyCommand)); got != notMyAnswer {
		t.Errorf("of somebody's message: %q", got)
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, errors.New("the disk is on fire")
	}
	s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
}

func TestLongExplanationsHavePages(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		var all []answer.Explained
		for i := range 30 {
			all = append(all, s.explained(said, memory.TraceHit{Number: i + 1, Relevance: 0.5}, strings.Repeat("x", 200)))
		}
		return answer.Explanation{Recalled: all}, nil
	}
	i := s.discord.MessageAction(m.Message, s.bo.ID, whyCommand)
	if all := s.pages(t, i); strings.Count(all, "…") != 30 {
		t.Errorf("shown %s", all)
	}
}
