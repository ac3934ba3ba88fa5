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

func TestWhatIsAskedWaitsUntilDiscordTellsOfTheGuild(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.guildWait = wait.Limit
	told := func() int { return len(eventsOf[memory.GuildSeen](s.log)) }
	heard := make(chan int, 2)
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		heard <- told()
		return answer.Answer{Text: "Friday"}, nil
	}
	s.oracle.recall = func(ctx context.Context, q answer.Question) (answer.Recalled, error) {
		err := q.WaitReady(ctx)
		heard <- told()
		return answer.Recalled{}, err
	}
	s.run(t).ready(t)
	s.discord.Outage(s.guild.ID, false)
	s.ask("who may read what?")
	s.discord.WaitTyping(s.channel)
	uses := []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", "when?")),
		s.discord.Slash(s.channel, s.ana.ID, "memory show"),
	}
	for _, i := range uses {
		if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
			t.Errorf("answered with %+v", r)
		}
	}
	before := told()
	s.discord.Outage(s.guild.ID, true)
	s.answered(t, s.channel, "Friday")
	for _, i := range uses {
		if m := i.WaitMessage(); strings.Contains(m.Content, "come back") {
			t.Errorf("got %q", m.Content)
		}
	}
	if a, b := <-heard, <-heard; before != 1 || a != 2 || b != 2 {
		t.Errorf("the log was told of the guild %d and %d times when it was asked", a, b)
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
	s.discord.Outage(s.guild.ID, false)
	s.ask("who may read what?")
	s.told(t, s.channel, is(string(ingest.ErrNotReady)))
	for _, i := range []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", "when?")),
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
