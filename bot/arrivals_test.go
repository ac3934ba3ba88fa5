package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/wait"
	"hark/memory"
)

// heardOf is a scene whose oracle keeps how often the log had been told of the guild when it was asked.
func heardOf(t *testing.T, told *[]int) *scene {
	s := set(t)
	note := func() {
		n := 0
		for _, e := range eventsOf[memory.GuildSeen](s.log) {
			if e.Guild.ID == memory.GuildID(s.guild.ID) {
				n++
			}
		}
		*told = append(*told, n)
	}
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		note()
		stream("Friday")
		return answer.Answer{Text: "Friday"}, nil
	}
	s.oracle.recall = func(ctx context.Context, q answer.Question) (answer.Recalled, error) {
		err := q.WaitReady(ctx)
		note()
		return answer.Recalled{}, err
	}
	s.bot.timing.guildWait = wait.Limit
	return s
}

func TestQuestionsWaitUntilDiscordTellsOfTheGuild(t *testing.T) {
	t.Parallel()
	var told []int
	s := heardOf(t, &told)
	s.discord.Outage(s.guild.ID, false)
	s.run(t)
	s.discord.WaitReady()
	s.ask("who may read what?")
	s.discord.WaitTyping(s.channel)
	s.discord.Outage(s.guild.ID, true)
	s.answered(t, s.channel, "Friday")
	if len(told) != 1 || told[0] != 1 {
		t.Errorf("the log was told of the guild %v times when it was asked", told)
	}
}

func TestCommandsWaitUntilDiscordTellsOfTheGuild(t *testing.T) {
	t.Parallel()
	var told []int
	s := heardOf(t, &told).run(t).ready(t)
	s.waitRegistered()
	s.discord.Outage(s.guild.ID, false)
	uses := []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"}),
		s.discord.Slash(s.channel, s.ana.ID, "memory show"),
	}
	for _, i := range uses {
		if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
			t.Errorf("answered with %+v", r)
		}
	}
	s.discord.Outage(s.guild.ID, true)
	for _, i := range uses {
		if m := i.WaitMessage(); strings.Contains(m.Content, "come back") {
			t.Errorf("got %q", m.Content)
		}
	}
	if len(told) != 1 || told[0] != 2 {
		t.Errorf("the log was told of the guild %v times when it was asked", told)
	}
}

func TestNobodyWaitsForeverForAGuild(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.guildWait = time.Millisecond
	s.oracle.recall = func(ctx context.Context, q answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, q.WaitReady(ctx)
	}
	s.run(t).ready(t)
	s.waitRegistered()
	s.discord.Outage(s.guild.ID, false)
	s.ask("who may read what?")
	s.told(t, s.channel, is(string(ingest.ErrNotReady)))
	for _, i := range []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"}),
		s.discord.Slash(s.channel, s.ana.ID, "memory show"),
	} {
		if m := i.WaitMessage(); m.Content != string(ingest.ErrNotReady) || m.Flags&discordtest.Ephemeral == 0 {
			t.Errorf("got %+v", m)
		}
	}
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("%d questions, of which one is /context's", n)
	}
}
