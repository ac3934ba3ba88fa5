package bot

import (
	"strings"
	"testing"
	"time"

	"hark/bot/command"
	"hark/bot/reply"
	"hark/internal/llm"
	"hark/memory"
)

// knowsOwner logs the guild's owner, as a use does later.
func (s *scene) knowsOwner(t *testing.T) {
	t.Helper()
	s.apply(t, memory.PersonSeen{Person: memory.Person{Guild: s.guildID,
		ID: memory.UserID(s.guild.Owner.ID)}})
}

// toEmbed has so many segments wait for vectors.
func (s *scene) toEmbed(guild memory.GuildID, segments int) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.waiting = map[memory.GuildID]int{guild: segments}
}

func TestStatusTellsOfThisServer(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	guild, other := s.guildID, memory.GuildID(99)
	last := s.discord.Now()
	health := command.Health{
		Models: map[string]command.Service{"small": {Name: "small", At: last, Took: 1500 * time.Millisecond},
			"large": {Name: "large", Failed: &llm.Error{Kind: llm.Refused}, Rests: 14 * time.Second}},
		Embedder: command.Service{Name: "built-in", BuiltIn: true},
	}
	cfg := s.bot.cfg
	cfg.Version, cfg.Limits = "1.2.3", reply.Limits{Guild: memory.Limit{Tokens: 5000}}
	cfg.Health = func() command.Health { return health }
	s.restartWith(t, cfg)
	s.discord.Say(s.channel, s.ana.ID, "hi")
	s.posts(t, s.channel, s.bo.ID, "hello")
	s.knowsOwner(t)
	s.commitNothing(t)
	s.toEmbed(guild, 0)
	shown := s.use(t, s.guild.Owner, "hark status")
	s.says(t, shown)
	if strings.Contains(shown.Content, "⏳") || strings.Contains(shown.Content, "✗") {
		t.Errorf("something is amiss, or to be done: %q", shown.Content)
	}
	// Other servers' work isn't shown.
	elsewhere := func(at memory.GuildID) []memory.Event {
		return []memory.Event{memory.GapFound{Gap: memory.Gap{Guild: at, Channel: memory.ChannelID(at) + 1,
			After: 1, Until: 2}},
			memory.Forgetting{Guild: at, Channel: memory.ChannelID(at) + 2, Why: memory.WhyPurge, At: s.discord.Now()},
			memory.Spent{Guild: at, User: s.boID,
				Question: memory.FirstMessageID(s.discord.Now()) + memory.MessageID(at%1000), Tokens: 6000}}
	}
	s.apply(t, elsewhere(other)...)
	s.toEmbed(other, 5)
	if m := s.use(t, s.guild.Owner, "hark status"); strings.Contains(m.Content, "⏳") ||
		strings.Contains(m.Content, "6,000") {
		t.Errorf("told of another server: %q", m.Content)
	}
	s.apply(t, elsewhere(guild)...)
	s.toEmbed(guild, 2)
	s.use(t, s.ana, "model", opt("model", "large"))
	s.use(t, s.ana, "hark pause", opt("state", "on"))
	shown = s.use(t, s.guild.Owner, "hark status")
	s.says(t, shown)
	if strings.Contains(shown.Content, s.bo.Mention()) {
		t.Error("it names who spends most")
	}
}

func TestStatusTellsWhatIsAmiss(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.says(t, s.use(t, s.ana, "hark status"))
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.Ignore})
	s.says(t, s.use(t, s.ana, "hark status"))
	s.log.fail(errDown)
	s.discord.Say(s.channel, s.bo.ID, "not heard")
	s.addChannel("more")
	s.discord.WaitFor("the log to fail", func() bool { return s.bot.writer.Failing() })
	s.says(t, s.use(t, s.ana, "hark status"))
	s.log.fail(nil)
	s.commitNothing(t)
	s.breakReading(errDown)
	s.says(t, s.use(t, s.ana, "hark status"))
}
