package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// Who manages a server without being its administrator, and may not read a channel, is told neither its name
// nor any number that it makes a difference to.
func TestWhatAdminsMayNotReadMakesNoDifference(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	guild := memory.GuildID(s.guild.ID)
	staff := s.discord.AddRole(s.guild.ID, "staff", 0)
	hidden := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "hidden", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel), discordtest.ForRole(staff.ID,
			discordtest.ViewChannel, 0),
		discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0)}})
	open := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "open"})
	cleo := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cleo"}, staff.ID)
	apply := func(events ...memory.Event) {
		t.Helper()
		s.apply(t, events...)
	}
	set := func(channel discordtest.ID, key memory.Setting, value string) memory.Event {
		return memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(channel), Key: key, Value: value,
			At: s.discord.Now()}
	}
	apply(memory.Chose{Guild: guild, Channel: memory.ChannelID(open.ID), Choice: memory.Remember},
		memory.Chose{Guild: guild, Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember},
		set(open.ID, memory.SettingRetention, "40d"), set(open.ID, memory.SettingModel, "x"), set(open.ID,
			memory.SettingAnswers, "off"))
	s.posts(t, s.channel, s.bo.ID, "one")
	s.discord.Advance(10 * 24 * time.Hour)
	server, before := opt("server", true), opt("before", "5d")
	screens := func(who discordtest.User) string {
		var all []string
		for _, use := range []struct {
			name    string
			options []discordtest.Opt
		}{
			{"hark status", nil}, {"hark memory", nil}, {"hark purge member",
				[]discordtest.Opt{opt("member", s.bo.ID)}}, {"hark purge before", []discordtest.Opt{before}},
			{"hark purge before", []discordtest.Opt{opt("before", "2d"),
				opt("channel", open.ID)}}, {"hark retention", []discordtest.Opt{opt("keep", "1d"), server}},
			{"hark retention", []discordtest.Opt{server}}, {"hark channel answer",
				[]discordtest.Opt{server}}, {"model", nil},
		} {
			m := s.use(t, who, use.name, use.options...)
			all = append(all, m.Content, fmt.Sprintf("%s", m.Components))
		}
		return strings.ReplaceAll(strings.Join(all, "\n"), "events wait", "event waits")
	}
	s.toEmbed(guild, 0)
	was, all := screens(s.ana), screens(s.guild.Owner)

	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &hidden.ID,
		Type: discordtest.PublicThread, Name: "more"})
	s.discord.Say(hidden.ID, s.bo.ID, "two")
	s.posts(t, thread.ID, cleo.ID, "three")
	apply(set(hidden.ID, memory.SettingRetention, "30d"), set(hidden.ID, memory.SettingModel, "x"),
		set(hidden.ID, memory.SettingAnswers, "off"),
		memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: memory.ChannelID(hidden.ID), After: 1, Until: 2}},
		memory.Forgetting{Guild: guild, Channel: memory.ChannelID(hidden.ID),
			Before: s.discord.Now().AddDate(-1, 0, 0), Why: memory.WhyPurge, At: s.discord.Now()})
	s.toEmbed(guild, 5)
	s.commitNothing(t)
	if now := screens(s.ana); now != was || strings.Contains(now, hidden.ID.String()) {
		t.Errorf("told\n%s\nwhere it was\n%s", now, was)
	}
	if now := screens(s.guild.Owner); now == all || !strings.Contains(now, hidden.ID.String()) {
		t.Errorf("the owner isn't told of it:\n%s", now)
	}
	// What is waited with because of its age, and what a purge took, has no numbers for them.
	apply(memory.SettingChosen{Guild: guild, Key: memory.SettingExpiring,
		Value: fmt.Sprintf("%d 20000 21000", s.discord.Now().UnixMilli()), At: s.discord.Now()})
	s.says(t, s.use(t, s.ana, "hark status"))
	m := s.use(t, s.ana, "hark purge member", opt("member", s.bo.ID))
	s.turns(t, s.discord.Click(m.Message, s.ana.ID, fmt.Sprintf("%s:%d:0:0", purges, s.bo.ID)))
	// What they chose not to be told of stays as it is when they choose anew.
	m = s.use(t, s.ana, "hark memory")
	s.discord.Click(m.Message, s.ana.ID, chosenChannels, s.channel.String()).Wait()
	s.idle(t)
	if g, err := s.log.Guild(t.Context(), guild); err != nil ||
		g.Channel(memory.ChannelID(hidden.ID)).Choice != memory.Remember ||
		g.Channel(memory.ChannelID(open.ID)).Choice != memory.Undecided {
		t.Errorf("after another choice: %+v, %v", g, err)
	}
}
