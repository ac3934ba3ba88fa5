package bot

import (
	"fmt"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

func TestRetentionIsShownAndDecided(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.bot.cfg.Retention = 400 * 24 * time.Hour
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Choice: memory.RememberPublic})
	s.run(t).ready(t)
	s.waitRegistered()
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "other"})
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &s.channel, Type: discordtest.PublicThread, Name: "more"})
	for _, at := range []discordtest.ID{s.channel, thread.ID, other.ID} {
		s.discord.Say(at, s.bo.ID, fmt.Sprint("old in ", at))
		s.log.waitSaid(t, fmt.Sprint("them: old in ", at))
	}
	s.discord.Advance(100 * 24 * time.Hour)
	s.posts(t, s.channel, s.bo.ID, "new")

	s.says(t, s.use(t, s.ana, "hark retention"))
	for _, bad := range []string{"soon", "0", "40000d", "1m", "12h"} {
		s.says(t, s.use(t, s.ana, "hark retention", opt("keep", bad)))
	}
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "9d"), opt("channel", other.ID), opt("server", true)))
	s.chose(t, 0, "", "")
	// A longer time, though it holds no longer than the operator's, needs no question.
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "forever")))
	s.chose(t, s.channel, memory.SettingRetention, "forever")
	// A shorter one asks, with what goes; from a thread it is its channel's.
	i := s.discord.Slash(thread.ID, s.ana.ID, "hark retention", opt("keep", "30"))
	ask := i.WaitMessage()
	s.says(t, ask)
	s.chose(t, s.channel, memory.SettingRetention, "forever")
	button := fmt.Sprintf("%s:%d:30d", keepsFor, s.channel)
	s.says(t, s.discord.Click(ask.Message, s.bo.ID, button).WaitMessage())
	s.turns(t, s.discord.Click(ask.Message, s.ana.ID, button))
	s.chose(t, s.channel, memory.SettingRetention, "30d")
	// The server's leaves out those that have their own.
	ask = s.use(t, s.ana, "hark retention", opt("keep", "1d"), opt("server", true))
	s.says(t, ask)
	s.turns(t, s.discord.Click(ask.Message, s.ana.ID, keepsFor+":0:1d"))
	s.says(t, s.use(t, s.ana, "hark retention", opt("server", true)))
	s.says(t, s.use(t, s.ana, "hark retention", opt("channel", other.ID)))
	// Taking a channel's back may shorten it too, and asks then.
	ask = s.use(t, s.ana, "hark retention", opt("keep", "default"))
	s.says(t, ask)
	s.turns(t, s.discord.Click(ask.Message, s.ana.ID, fmt.Sprintf("%s:%d:default", keepsFor, s.channel)))
	s.chose(t, s.channel, memory.SettingRetention, "")
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "default"), opt("server", true)))
}

// What waits because of its age is shown to admins, who can have it forgotten.
func TestStatusTellsWhatWaitsToBeForgotten(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	guild := memory.GuildID(s.guild.ID)
	waits := memory.SettingChosen{Guild: guild, Key: memory.SettingExpiring, Value: fmt.Sprintf("%d 20000 21000", s.discord.Now().UnixMilli()), At: s.discord.Now()}
	s.apply(t, waits)
	s.knowsOwner(t)
	shown := s.use(t, s.guild.Owner, "hark status")
	s.says(t, shown)
	s.says(t, s.discord.Click(shown.Message, s.bo.ID, expires).WaitMessage())
	if e := s.lastSetting(); e != waits {
		t.Errorf("somebody else had it forgotten: %+v", e)
	}
	s.turns(t, s.discord.Click(shown.Message, s.guild.Owner.ID, expires))
	if e := s.lastSetting(); e.Value != memory.AgreeToExpiring(guild, e.At).Value || e.Key != memory.SettingExpiring {
		t.Errorf("logged %+v", e)
	}
}
