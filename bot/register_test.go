package bot

import (
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// writes are the paths of written command lists, in order.
func (s *scene) writes() (paths []string) {
	for _, r := range s.discord.Requests() {
		if strings.HasSuffix(r.Path, "/commands") && r.Method != "GET" {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// looked counts requests for a guild's commands, or at 0 the global ones.
func (s *scene) looked(guild discordtest.ID) (n int) {
	for _, r := range s.discord.Requests() {
		if strings.HasSuffix(r.Path, "/commands") && r.Method == "GET" && r.Status != 0 &&
			(guild != 0) == strings.Contains(r.Path, "/guilds/"+guild.String()+"/") {
			n++
		}
	}
	return n
}

// Commands of a development guild are nobody else's. Without one they are global, and no guild keeps its own.
func TestDevGuild(t *testing.T) {
	t.Parallel()
	s := set(t)
	lawn := s.discord.AddGuild("Lawn")
	s.run(t).ready(t)
	all := len(s.discord.Commands(0))

	dev := Config{DevGuild: memory.GuildID(lawn.ID)}
	s.restartWith(t, dev)
	s.discord.WaitFor("the commands of one server", func() bool { return len(s.discord.Commands(0)) == 0 })
	if n := len(s.discord.Commands(lawn.ID)); n != all || len(s.discord.Commands(s.guild.ID)) != 0 {
		t.Errorf("%d of %d commands are that server's own", n, all)
	}
	before, looked := len(s.writes()), s.looked(0)
	s.restartWith(t, dev)
	s.discord.WaitFor("a look at all lists", func() bool { return s.looked(0) > looked })
	s.ready(t)
	if got := s.writes()[before:]; len(got) > 0 {
		t.Errorf("a restart writes %v", got)
	}

	s.restartWith(t, Config{DevGuild: s.guildID})
	s.discord.WaitFor("the commands of another server", func() bool {
		return len(s.discord.Commands(s.guild.ID)) == all && len(s.discord.Commands(lawn.ID)) == 0
	})
	s.restartWith(t, dev)
	s.discord.WaitFor("those of the first again", func() bool {
		return len(s.discord.Commands(lawn.ID)) == all && len(s.discord.Commands(s.guild.ID)) == 0
	})

	s.restartWith(t, Config{})
	s.discord.WaitFor("everybody's commands", func() bool {
		return len(s.discord.Commands(0)) == all && len(s.discord.Commands(lawn.ID)) == 0
	})
	before, looked = len(s.writes()), s.looked(lawn.ID)
	s.restartWith(t, Config{})
	s.discord.WaitFor("a look at all lists", func() bool { return s.looked(lawn.ID) > looked })
	s.ready(t)
	if got := s.writes()[before:]; len(got) > 0 {
		t.Errorf("another restart writes %v", got)
	}
}

func TestDevGuildWithoutHark(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.discord.DenyCommands(s.guild.ID)
	s.with(t, Config{Token: s.discord.Token, DevGuild: s.guildID}).run(t).ready(t)
	s.logs(t, "guild_id="+s.guild.ID.String())
	if got := s.writes(); len(got) > 0 {
		t.Errorf("writes %v", got)
	}
}

// In a server without the commands scope nothing is removed.
func TestRegistrationWhereCommandsAreDenied(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.discord.DenyCommands(s.guild.ID)
	s.run(t).ready(t)
	s.discord.WaitFor("a look at the server's commands", func() bool { return s.looked(s.guild.ID) > 0 })
	s.stops(t)
	if said := s.out.String(); strings.Contains(said, "register") || len(s.writes()) != 1 {
		t.Errorf("wrote %v and says %s", s.writes(), said)
	}
}
