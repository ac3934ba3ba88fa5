package bot

import (
	"fmt"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

func TestPurgesAskFirstAndGiveAReceipt(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	here, guild := memory.ChannelID(s.channel), memory.GuildID(s.guild.ID)
	s.discord.Say(s.channel, s.bo.ID, "old")
	s.log.waitSaid(t, "them: old")
	s.discord.Advance(10 * 24 * time.Hour)
	s.discord.Say(s.channel, s.ana.ID, "new")
	s.log.waitSaid(t, "them: new")
	cut := s.discord.Now().AddDate(0, 0, -5)
	for _, tt := range []struct {
		command string
		options []discordtest.Opt
		button  string
		want    memory.Forgetting
	}{
		{"hark purge member", []discordtest.Opt{opt("member", s.bo.ID)}, fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID), memory.Forgetting{Guild: guild, User: memory.UserID(s.bo.ID)}},
		{"hark purge channel", nil, fmt.Sprintf("%s:%s:%d", purges, purgesChannel, here), memory.Forgetting{Guild: guild, Channel: here}},
		{"hark purge before", []discordtest.Opt{opt("before", "5d")}, fmt.Sprintf("%s:%s:%d:0", purges, purgesBefore, cut.Unix()), memory.Forgetting{Guild: guild, Before: cut}},
		{"hark purge before", []discordtest.Opt{opt("before", "5d"), opt("channel", s.channel)}, fmt.Sprintf("%s:%s:%d:%d", purges, purgesBefore, cut.Unix(), here), memory.Forgetting{Guild: guild, Channel: here, Before: cut}},
	} {
		begun := len(s.log.forgetting.begun)
		ask := s.use(t, s.ana, tt.command, tt.options...)
		s.says(t, ask)
		if len(s.log.forgetting.begun) != begun {
			t.Fatalf("%s: forgot before it was confirmed", tt.command)
		}
		s.says(t, s.discord.Click(ask.Message, s.bo.ID, tt.button).WaitMessage())
		m := s.turns(t, s.discord.Click(ask.Message, s.ana.ID, tt.button))
		if len(m.Components) > 0 {
			t.Errorf("%s: in the end there are buttons", tt.command)
		}
		s.log.mu.Lock()
		f := s.log.forgetting.begun[begun]
		s.log.mu.Unlock()
		if f.Guild != tt.want.Guild || f.Channel != tt.want.Channel || f.User != tt.want.User || !f.Before.Equal(tt.want.Before) || f.Why != memory.WhyPurge || f.At.IsZero() {
			t.Errorf("%s: forgot %+v, want %+v", tt.command, f, tt.want)
		}
	}
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "3000-01-01")))
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "2015-01-01")))
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "then")))
}

func TestPurgeShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	ask := s.use(t, s.guild.Owner, "hark purge member", opt("member", s.bo.ID))
	s.log.mu.Lock()
	s.log.forgetting.steps = make(chan int)
	s.log.mu.Unlock()
	i := s.discord.Click(ask.Message, s.guild.Owner.ID, fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID))
	s.log.forgetting.steps <- 40
	s.lately(t, i, "40")
	close(s.log.forgetting.steps)
	s.turns(t, i)
}

// What is said where nothing is logged is forgotten as well.
func TestPurgeForgetsSessionsThatArentLogged(t *testing.T) {
	t.Parallel()
	for name, button := range map[string]func(s *scene) string{
		"member":  func(s *scene) string { return fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID) },
		"channel": func(s *scene) string { return fmt.Sprintf("%s:%s:%d", purges, purgesChannel, s.channel) },
		"before":  func(s *scene) string { return fmt.Sprintf("%s:%s:%d:0", purges, purgesBefore, s.discord.Now().Unix()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remembering(t)
			guild, here := memory.GuildID(s.guild.ID), memory.ChannelID(s.channel)
			s.bot.recent.add(memory.Message{ID: memory.FirstMessageID(s.discord.Now()), Guild: guild, Channel: here, Author: memory.UserID(s.bo.ID), Content: "of a session"})
			x := &exchange{}
			x.Guild, x.Data.CustomID = snowflake(guild), button(s)
			c := newCommands(s.bot)
			f, ok := c.purged(x)
			if !ok || len(s.bot.recent.before(here, 1<<62)) != 1 {
				t.Fatal("there is nothing to purge")
			}
			c.forgetSessions(t.Context(), f)
			if left := s.bot.recent.before(here, 1<<62); len(left) != 0 {
				t.Errorf("left %+v", left)
			}
		})
	}
}
