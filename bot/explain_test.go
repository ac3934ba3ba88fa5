package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
	"hark/search"
)

// explained is a message that an answer was made from.
func (s *scene) explained(m discordtest.Message, hit memory.TraceHit, text string) answer.Explained {
	hit.Channel, hit.Message = memory.ChannelID(m.ChannelID), memory.MessageID(m.ID)
	return answer.Explained{TraceHit: hit, Text: text, Source: answer.Source{
		Number: hit.Number, Guild: s.guildID, Channel: hit.Channel, Message: hit.Message, Author: "b*o",
		Place: "general", Time: m.ID.Time(),
	}}
}

// withSources has answers name two sources.
func (s *scene) withSources() {
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday", Sources: []answer.Source{{Number: 1}, {Number: 2}},
			Trace: traceOf(q)}, nil
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
	first := s.explained(said, memory.TraceHit{Number: 1, Cited: true, Relevance: 0.87,
		Why: []string{"words"}}, "the *deadline* is Friday")
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
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonSources))
	if asked.Asker != s.boID || !asked.OnlyAsker || asked.Roles == nil ||
		asked.Channel != s.channelID || asked.Guild != s.guildID ||
		asked.WaitReady == nil {
		t.Errorf("asked %+v", asked)
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{Recalled: []answer.Explained{silent}}, nil
	}
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonSources))
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, fmt.Errorf("explain: %w", answer.ErrNoTrace)
	}
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonSources))
}

func TestWhyDidYouSayThat(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.ask("when?")
	m := s.answered(t, s.channel, "Friday")
	hit := func(h memory.TraceHit, text string) answer.Explained { return s.explained(said, h, text) }
	trace := memory.Trace{
		Model: "parrot-1", Mode: "search", Tokens: 1200, MaxTokens: 4000, Search: 40 * time.Millisecond, Total: 2 * time.Second,
		TextOnly: true, HeldBack: 7,
		Sections: []memory.TraceUse{{Section: "history", Tokens: 800, Included: 2, Dropped: 1, Why: "budget"},
			{Section: "lore"}},
	}
	s.oracle.explain = func(_ answer.Question, id memory.MessageID) (answer.Explanation, error) {
		if id != memory.MessageID(m.ID) {
			t.Errorf("asked about %d", id)
		}
		return answer.Explanation{Trace: trace, Lore: []memory.Lore{
			{ID: 1, Name: "Project X", Text: "the boat of " + s.bo.Mention(), By: s.anaID,
				At: noon}, {ID: 2, Name: "house *rules*", Text: "no shoes", At: noon},
		}, Recalled: []answer.Explained{
			hit(memory.TraceHit{Number: 1, Cited: true, Relevance: 0.87, Why: []string{"words", "around"},
				Context: true}, "first"),
			hit(memory.TraceHit{Relevance: 0.1}, "second"), hit(memory.TraceHit{Context: true},
				"third"), hit(memory.TraceHit{Context: true, Relevance: 0.3}, "fourth"),
		}}, nil
	}
	s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{Trace: trace}, nil
	}
	for _, trace = range []memory.Trace{
		{},
		{Origin: memory.Origin{Writer: memory.ModelFailed, Found: memory.FoundEnough, Messages: 2, Lore: 1}},
		{Origin: memory.Origin{Writer: memory.NoModel, Found: memory.FoundEnough, Messages: 1}},
		{Origin: memory.Origin{Writer: memory.NoModel, Found: memory.FoundNothing}},
		{Origin: memory.Origin{Writer: memory.NoModel, Found: memory.FoundLittle}},
		{Origin: memory.Origin{Writer: memory.NoModel, Found: memory.FoundSmallTalk}},
		{Origin: memory.Origin{Writer: memory.TakenBack}},
		{Model: "parrot-1", Origin: memory.Origin{Writer: memory.WrittenByModel, Found: memory.FoundLittle}},
	} {
		s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
	}
	s.hears(t, s.discord.MessageAction(said, s.bo.ID, whyCommand))
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, errors.New("the disk is on fire")
	}
	s.hears(t, s.discord.MessageAction(m.Message, s.bo.ID, whyCommand))
}

// Authors and mentioned members are shown by names that the reader may see.
func TestMentionsInWhatWasSaidShowNames(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	role := s.discord.AddRole(s.guild.ID, "pilots", 0)
	text := fmt.Sprintf("*%s* asked %s in <#%d> at <t:1782907200:t> <:wave:123456789012345678> </recall:123456789012345679> @everyone <@x> <@",
		s.bo.Mention(), "<@&"+role.ID.String()+">", s.channel)
	said := s.discord.Say(s.channel, s.bo.ID, text)
	m := memory.Message{ID: memory.MessageID(said.ID), Guild: s.guildID,
		Channel: s.channelID, Author: s.boID, Content: text}
	before := m
	s.oracle.find = func(answer.Question) (answer.FindResult, error) {
		return answer.FindResult{Found: make([]answer.FoundMessage, 1)}, nil
	}
	s.oracle.look = func(answer.Question, []answer.FoundMessage) ([]answer.InspectedMessage, error) {
		return []answer.InspectedMessage{{Relevance: 0.9, Message: m, Before: &before}}, nil
	}
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{Result: search.Result{Hits: []search.Hit{{Message: m, Relevance: 0.87}}}}, nil
	}
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		e := s.explained(said, memory.TraceHit{Number: 1, Cited: true}, text)
		e.Author, e.Source.Author = m.Author, s.bo.Mention()
		forged := s.explained(said, memory.TraceHit{Number: 2, Cited: true}, "me")
		forged.Author, forged.Source.Author = s.anaID, s.bo.Mention() // as a nickname
		return answer.Explanation{Recalled: []answer.Explained{e, forged}}, nil
	}
	s.ask("when?")
	a := s.answered(t, s.channel, "Friday")
	question := opt("question", "what did "+s.ana.Mention()+" say?")
	s.says(t, s.use(t, s.ana, "recall", question))
	s.says(t, s.use(t, s.ana, "context", question))
	s.hears(t, s.discord.MessageAction(a.Message, s.ana.ID, whyCommand))
}

// Explanations fit into two messages, which count what they leave out.
func TestLongExplanationsFitIntoTwoMessages(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.withSources()
	s.ask("when?")
	s.traces(t, 1)
	m := s.discord.Sent(s.channel)[0]
	const all = 30
	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		e := answer.Explanation{Trace: memory.Trace{Model: "parrot-1", Tokens: 1200, MaxTokens: 4000}}
		for i := range all {
			e.Recalled = append(e.Recalled,
				s.explained(said, memory.TraceHit{Number: i + 1, Cited: true, Relevance: 0.5},
					strings.Repeat("x", 200)),
				s.explained(said, memory.TraceHit{Relevance: 0.1}, strings.Repeat("y", 200)))
		}
		return e, nil
	}
	for _, i := range []*discordtest.Interaction{s.discord.MessageAction(m.Message, s.bo.ID, whyCommand),
		s.press(m.Message, s.bo, reply.ButtonSources)} {
		shown := s.everyPage(t, i)
		if n := len(i.FollowUps()); n > 1 {
			t.Errorf("%d messages", n+1)
		}
		if more := fmt.Sprintf("and %d more", all-strings.Count(shown, "x…")); !strings.Contains(shown, more) {
			t.Errorf("want %q in %s", more, shown)
		}
	}
}
