package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// Public messages are in the channel's language, whoever asks.
func TestAnswersAreDressedInTheLanguageOfTheServer(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.sets(t, "language", "de", opt("server", true))
	said := s.discord.Say(s.channel, s.bo.ID, "we meet on Friday")
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday [1]",
			Sources: []answer.Source{{Number: 1, Guild: q.Guild, Channel: q.Channel,
				Message: memory.MessageID(said.ID), Author: "bo", Time: time.Date(2020, 5, 17, 0, 0, 0, 0, time.UTC)}},
			Trace: traceOf(q)}, nil
	}
	m := s.replied(t, s.ask("when?"))
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonAgain)) // in their own language
	s.oracle.answer = gives(answer.Answer{}, sentenceError{})
	s.replied(t, s.ask("and where?"))
	s.replied(t, s.ask(""))
}

// A proposal can be accepted whatever language it is in, and the server has by then.
func TestProposalsInALanguage(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.sets(t, "language", "ja", opt("server", true))
	source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
	plan := s.plan(source)
	s.proposes(plan)
	s.ask("remember the plan")
	s.over(t, 1)
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return s.buttonsOf(m.Message)[reply.ButtonRemember] != ""
	})
	s.says(t, m)
	if strings.Contains(fmt.Sprint(s.log.said()), "Migration") {
		t.Errorf("logged %q", s.log.said())
	}
	s.sets(t, "language", "fr", opt("server", true))
	s.press(m.Message, s.ana, reply.ButtonRemember).Wait()
	s.log.wait(t, "the lore", func() bool { return len(s.lore()) == 1 })
	if got := s.lore()[0]; got.Name != plan.Name || got.Text != plan.Text ||
		fmt.Sprint(got.Own, got.Sources) != fmt.Sprint(plan.Own, plan.Sources) {
		t.Errorf("kept %+v", got)
	}
}

// Undecided guilds are asked in the configured language.
func TestNoticeInTheConfiguredLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"zh-Hant", "FR"} {
		s := asking(t)
		s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true},
			Choices: answer.Choices{Default: answer.Settings{Language: language}}})
		s.bot.timing.interval = time.Millisecond
		s.run(t).ready(t)
		m := s.discord.WaitSent(s.channel, func(discordtest.Sent) bool { return true })
		s.says(t, m)
		s.press(m.Message, s.ana, choosePublic).Wait()
		s.becomes(t, m.Message)
	}
}
