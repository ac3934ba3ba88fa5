package bot

import (
	"fmt"
	"strings"
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
		asks    []string
		button  string
		want    memory.Forgetting
		told    string
	}{
		{"hark purge member", []discordtest.Opt{opt("member", s.bo.ID)}, []string{"**Forget all that " + s.bo.Mention() + " wrote in this server?**", "- 1 message in 1 channel", "- 2 things I was told about them", "`/memory optout` is theirs alone"},
			fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID), memory.Forgetting{Guild: guild, User: memory.UserID(s.bo.ID)}, "**Forgotten: what " + s.bo.Mention() + " wrote here**"},
		{"hark purge channel", nil, []string{fmt.Sprintf("**Forget all that was said in <#%d>, with its threads?**", here), "- 2 messages in 1 channel", "What was set for it goes too", "how long stay as they are", "can't be undone"},
			fmt.Sprintf("%s:%s:%d", purges, purgesChannel, here), memory.Forgetting{Guild: guild, Channel: here}, fmt.Sprintf("**Forgotten: what was said in <#%d>**", here)},
		{"hark purge before", []discordtest.Opt{opt("before", "5d")}, []string{"**Forget all that was said in this server before <t:", "- 1 message in 1 channel"},
			fmt.Sprintf("%s:%s:%d:0", purges, purgesBefore, cut.Unix()), memory.Forgetting{Guild: guild, Before: cut.Truncate(time.Second)}, "**Forgotten: what was said in this server before <t:"},
		{"hark purge before", []discordtest.Opt{opt("before", "5d"), opt("channel", s.channel)}, []string{fmt.Sprintf("**Forget all that was said in <#%d> before <t:", here)},
			fmt.Sprintf("%s:%s:%d:%d", purges, purgesBefore, cut.Unix(), here), memory.Forgetting{Guild: guild, Channel: here, Before: cut.Truncate(time.Second)}, fmt.Sprintf("**Forgotten: what was said in <#%d> before <t:", here)},
	} {
		begun := len(s.log.forgetting.begun)
		ask := s.use(t, s.ana, tt.command, tt.options...)
		s.says(t, ask, tt.asks...)
		button := tt.button
		if !tt.want.Before.IsZero() { // which is counted from when the command was used
			for at := cut.Unix() - 5; at < cut.Unix()+60; at++ {
				id := strings.Replace(button, fmt.Sprint(cut.Unix()), fmt.Sprint(at), 1)
				if strings.Contains(string(ask.Components[0]), `"`+id+`"`) {
					button, tt.want.Before = id, time.Unix(at, 0)
					break
				}
			}
		}
		if len(s.log.forgetting.begun) != begun {
			t.Fatalf("%s: forgot before it was confirmed", tt.command)
		}
		s.says(t, s.discord.Click(ask.Message, s.bo.ID, button).WaitMessage(), "I can't tell any more whether you may decide that.")
		i := s.discord.Click(ask.Message, s.ana.ID, button)
		m := s.lately(t, i, tt.told, "- 7 messages", "- 1 answer of mine that used it", "-# Receipt 0, <t:", "I can't reach: backups")
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
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "3000-01-01")), "isn't said yet I can't forget")
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "2015-01-01")), "nothing to forget")
	s.says(t, s.use(t, s.ana, "hark purge before", opt("before", "then")), "I don't understand “then” as a time.")
}

func TestPurgeShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	ask := s.use(t, s.ana, "hark purge member", opt("member", s.bo.ID))
	s.log.mu.Lock()
	s.log.forgetting.steps = make(chan int)
	s.log.mu.Unlock()
	i := s.discord.Click(ask.Message, s.ana.ID, fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID))
	s.log.forgetting.steps <- 40
	s.lately(t, i, "40 of 100 messages are gone")
	close(s.log.forgetting.steps)
	s.lately(t, i, "**Forgotten: what "+s.bo.Mention()+" wrote here**")
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
