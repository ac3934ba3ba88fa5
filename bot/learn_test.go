package bot

import (
	"testing"

	"hark/memory"
)

func TestLearningIsSwitchedByGuildAndMember(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	last := func() memory.Learn {
		e, _ := find(s.log, func(memory.Learn) bool { return true })
		return e
	}
	guild, bo := memory.GuildID(s.guild.ID), memory.UserID(s.bo.ID)
	s.hides(t, s.bo, "hark")
	s.says(t, s.use(t, s.bo, "memory learn", opt("on", true)))
	if e := last(); e.Guild != guild || e.User != bo || !e.On || e.At.IsZero() {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.bo, "memory show"))
	s.says(t, s.use(t, s.ana, "hark learn", opt("on", true)))
	if e := last(); e.Guild != guild || e.User != 0 || !e.On {
		t.Errorf("logged %+v", e)
	}
	s.settings(t)
	s.says(t, s.use(t, s.bo, "memory learn", opt("on", true)))
	said := s.discord.Say(s.channel, s.bo.ID, "I play the tuba")
	learned := memory.Fact{ID: 5, Text: "plays the tuba", By: bo, Channel: memory.ChannelID(s.channel), Message: memory.MessageID(said.ID)}
	s.apply(t, memory.FactTold{Guild: guild, User: bo, Fact: learned})
	s.says(t, s.use(t, s.bo, "memory show"))
	s.says(t, s.use(t, s.bo, "memory learn", opt("on", false)))
	if e := last(); e.On || e.User != bo {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.ana, "hark learn", opt("on", false)))
	dm := s.discord.DM(s.bo.ID, "hello")
	s.says(t, s.discord.Slash(dm.ChannelID, s.bo.ID, "memory learn", opt("on", true)).WaitMessage())
	s.apply(t, memory.Opted{Guild: guild, User: bo, Out: true})
	s.says(t, s.use(t, s.bo, "memory learn", opt("on", true)))
	if e := last(); e.On {
		t.Error("it is learned about somebody who has opted out")
	}
}
