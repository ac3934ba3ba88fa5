package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/wait"
	"hark/memory"
)

func TestNothingIsKnownOfAGuildUntilTheConnectionTells(t *testing.T) {
	t.Parallel()
	const one = `{"id":"1","name":"Garden","owner_id":"9","roles":[{"id":"1","permissions":"0"}],"channels":[]}`
	ready := rawItem("READY", `{"guilds":[{"id":"1","unavailable":true},{"id":"2","unavailable":true}]}`)
	create := rawItem("GUILD_CREATE", one)
	for _, tt := range []struct {
		name  string
		items []item
		known []memory.GuildID // of 1, 2 and 3, which Hark isn't in
	}{
		{"before the connection", nil, nil},
		{"guilds are named only", []item{ready}, []memory.GuildID{3}},
		{"one is told of", []item{ready, create}, []memory.GuildID{1, 3}},
		{"it changes", []item{ready, rawItem("GUILD_UPDATE", one)}, []memory.GuildID{3}},
		{"it has trouble", []item{ready, create, rawItem("GUILD_DELETE", `{"id":"1","unavailable":true}`)},
			[]memory.GuildID{3}},
		{"it has trouble still", []item{ready, rawItem("GUILD_CREATE", `{"id":"1","unavailable":true}`)},
			[]memory.GuildID{3}},
		{"it removes Hark", []item{ready, rawItem("GUILD_DELETE", `{"id":"1"}`)}, []memory.GuildID{1, 3}},
		{"it can't be read, so that it is fetched",
			[]item{ready, rawItem("GUILD_CREATE", `{"id":"1","roles":7}`)}, []memory.GuildID{3}},
		{"another connection", []item{ready, create, ready}, []memory.GuildID{3}},
		{"another connection, after one that told what can't be read",
			[]item{ready, rawItem("GUILD_CREATE", `{"id":"1","roles":7}`), ready}, []memory.GuildID{3}},
		{"another connection that tells as well", []item{ready, create, ready, create}, []memory.GuildID{1, 3}},
		{"a connection of which nothing can be read, but of one guild",
			[]item{rawItem("READY", `{"guilds":7}`), create}, []memory.GuildID{1}},
		{"the same, and it has trouble", []item{rawItem("READY", `{"guilds":7}`), create,
			rawItem("GUILD_DELETE", `{"id":"1","unavailable":true}`)}, nil},
		{"another connection of which nothing can be read",
			[]item{ready, create, rawItem("READY", `{"guilds":7}`)}, nil},
	} {
		for _, together := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				log := newNotebook(t)
				p := pumpOf(newQueue(), log)
				for i, it := range tt.items {
					var err error
					if !together {
						err = p.write(t.Context(), tt.items[i:i+1])
					} else if i == 0 {
						err = p.write(t.Context(), tt.items)
					}
					if err != nil {
						t.Fatalf("write item %d, a %s: %v", i, it.raw.kind, err)
					}
				}
				for guild := range memory.GuildID(4) {
					known := guild == memory.DirectGuild
					for _, g := range tt.known {
						known = known || g == guild
					}
					if err := p.bot.arrived.wait(t.Context(), guild, 0); (err == nil) != known {
						t.Errorf("guild %d: %v", guild, err)
					}
				}
			})
		}
	}
}

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
		err := q.Settled(ctx)
		note()
		return answer.Recalled{}, err
	}
	s.bot.timing.back = wait.Limit
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
	s.bot.timing.back = time.Millisecond
	s.oracle.recall = func(ctx context.Context, q answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, q.Settled(ctx)
	}
	s.run(t).ready(t)
	s.waitRegistered()
	s.discord.Outage(s.guild.ID, false)
	s.ask("who may read what?")
	s.told(t, s.channel, is(string(errNotBack)))
	for _, i := range []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"}),
		s.discord.Slash(s.channel, s.ana.ID, "memory show"),
	} {
		if m := i.WaitMessage(); m.Content != string(errNotBack) || m.Flags&discordtest.Ephemeral == 0 {
			t.Errorf("got %+v", m)
		}
	}
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("%d questions, of which one is /context's", n)
	}
}
