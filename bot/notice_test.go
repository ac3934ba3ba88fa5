package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/command"
	"hark/bot/discord"
	"hark/internal/discordtest"
	"hark/memory"
)

// notice waits until the guild was asked, and that is logged.
func (s *scene) notice(t *testing.T, channel discordtest.ID) discordtest.Sent {
	t.Helper()
	m := s.discord.WaitSent(channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, noticeText) })
	waitLogged(t, s.log, "the notice", func(a memory.Asked) bool {
		return a.Guild == s.guildID && a.Channel == memory.ChannelID(channel) &&
			a.Message == memory.MessageID(m.ID)
	})
	return m
}

// chosen are the choices, in order: "channel choice".
func (s *scene) chosen() (all []string) {
	for _, e := range eventsOf[memory.Chose](s.log) {
		if e.Guild == s.guildID && !e.At.IsZero() {
			all = append(all, fmt.Sprintf("%d %d", e.Channel, e.Choice))
		}
	}
	return all
}

func choiceOf(channel discordtest.ID, c memory.Choice) string {
	return fmt.Sprintf("%d %d", channel, c)
}

func TestGuildIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	notice := s.notice(t, s.channel)
	if len(notice.Pinged) > 0 || !strings.Contains(notice.Content, "I keep nothing") {
		t.Errorf("asked by %+v", notice.Message)
	}
	s.discord.Outage(s.guild.ID, false)
	s.discord.Outage(s.guild.ID, true)
	s.again(t)
	s.ask("when?")
	s.waitText("Friday")
	if n := len(s.discord.Sent(s.channel)); n != 2 {
		t.Errorf("%d messages, want the notice and the answer", n)
	}
	if said := s.log.said(); len(said) > 0 {
		t.Errorf("logged %q before anybody has decided", said)
	}
}

func TestGuildThatWasAskedUnloggedIsntAskedAgain(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.log.fail(errDown)
	s.run(t)
	s.discord.WaitReady()
	s.log.fail(nil)
	s.notice(t, s.channel)
	// The process died before that was logged, and came back after the nonce expired.
	s.stops(t)
	s.log = newNotebook(t)
	s.discord.Advance(time.Hour)
	s.withPolicy(t).run(t).ready(t)
	s.notice(t, s.channel)
	if n := len(s.discord.Sent(s.channel)); n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestNobodyIsAskedWhereItIsDecided(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.run(t).ready(t)
	other := s.discord.AddGuild("Elsewhere")
	place := s.discord.AddChannel(other.ID, discordtest.Channel{Name: "lobby"})
	s.discord.Outage(other.ID, false)
	s.discord.Outage(other.ID, true)
	direct := s.directWith(other.Owner.ID) // where the notice goes if it is due before there is a lobby
	s.discord.WaitFor("the other server to be asked", func() bool {
		return len(s.discord.Sent(place.ID))+len(s.discord.Sent(direct)) > 0
	})
	if n := len(s.discord.Sent(s.channel)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestNoticeGoesWhereItMay(t *testing.T) {
	t.Parallel()
	hide := func(s *scene, c discordtest.Channel) {
		s.discord.SetOverwrite(c.ID, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	}
	for name, tt := range map[string]struct {
		at    int // of the three channels
		close func(s *scene, top, middle discordtest.Channel)
	}{
		"the first": {0, func(*scene, discordtest.Channel, discordtest.Channel) {}},
		"hidden from everybody, and closed to bots' role": {2, func(s *scene, top, middle discordtest.Channel) {
			hide(s, top)
			s.discord.SetOverwrite(middle.ID, discordtest.ForRole(s.guild.BotRole.ID, 0, discordtest.SendMessages))
		}},
		"hidden, but not from Hark": {1, func(s *scene, top, _ discordtest.Channel) {
			hide(s, top)
			s.discord.SetOverwrite(top.ID, discordtest.ForMember(s.discord.Bot.ID, discordtest.ViewChannel, 0))
		}},
		"for adults only": {1, func(s *scene, top, _ discordtest.Channel) {
			s.discord.UpdateChannel(top.ID, func(c *discordtest.Channel) { c.NSFW = true })
		}},
		"refused nevertheless": {1, func(s *scene, top, _ discordtest.Channel) {
			s.discord.Inject("POST /channels/"+top.ID.String()+"/messages", 1, discordtest.Forbidden())
		}},
		"as administrator": {1, func(s *scene, top, _ discordtest.Channel) {
			hide(s, top)
			s.discord.UpdateRole(s.guild.ID, s.guild.BotRole.ID, func(r *discordtest.Role) {
				r.Permissions = discordtest.Administrator
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := asking(t)
			s.discord.RemoveChannel(s.channel)
			s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "talk", Type: discordtest.Voice})
			var channels []discordtest.Channel
			for _, name := range []string{"top", "middle", "bottom"} {
				channels = append(channels, s.addChannel(name))
			}
			tt.close(s, channels[0], channels[1])
			s.run(t).ready(t)
			s.notice(t, channels[tt.at].ID)
		})
	}
}

func TestNoticeWithoutAPlace(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.discord.RemoveChannel(s.channel)
	s.discord.Inject("POST /users/@me/channels", 1, discordtest.Closed())
	s.run(t).ready(t)
	s.logs(t, discord.ErrGone.Error())
}

// calmly leaves it to the test to update notices.
func calmly(s *scene) *scene {
	s.bot.timing.interval = time.Hour
	return s
}

// looksAtNotices updates the notices n times.
func (s *scene) looksAtNotices(t *testing.T, n int) {
	t.Helper()
	for range n {
		s.bot.notices.UpdateAll(t.Context())
	}
}

// Without a channel that everybody can read, the owner is told.
func TestOwnersAreToldWhereNobodyElseCanBe(t *testing.T) {
	t.Parallel()
	s := calmly(asking(t))
	s.discord.SetOverwrite(s.channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, discordtest.ViewChannel, 0))
	s.run(t).ready(t)
	direct := s.directWith(s.guild.Owner.ID)
	m := s.discord.WaitSent(direct, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "Garden") })
	s.says(t, m)
	s.log.wait(t, "the notice", func() bool {
		_, asked := find(s.log, func(memory.Asked) bool { return true })
		return asked
	})
	s.apply(t, memory.Chose{Guild: s.guildID, Channel: s.channelID, Choice: memory.Remember})
	s.looksAtNotices(t, 2)
	s.says(t, s.now(m.Message))
	if n := len(s.discord.Sent(s.channel)); n > 0 {
		t.Errorf("%d messages where not everybody reads", n)
	}
}

func (s *scene) directWith(user discordtest.ID) discordtest.ID {
	return s.discord.DM(user, "hi").ChannelID
}

// The notice always says what holds, is edited once a change, and is sent again if it was deleted.
func TestNoticeSaysWhatHolds(t *testing.T) {
	t.Parallel()
	s := calmly(asking(t)).run(t).ready(t)
	guild := s.guildID
	hidden := s.addChannel("hidden", discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	waitLogged(t, s.log, "the channel", func(e memory.ChannelSeen) bool {
		return e.Channel.ID == memory.ChannelID(hidden.ID)
	})
	notice := s.notice(t, s.channel)
	changed := func(versions int, events ...memory.Event) {
		t.Helper()
		before := len(s.now(notice.Message).Versions)
		for _, e := range events {
			s.apply(t, e)
			s.looksAtNotices(t, 1) // which waits for what else is changed
		}
		s.looksAtNotices(t, 3)
		if n := len(s.now(notice.Message).Versions) - before; n != versions {
			t.Errorf("edited %d times for %+v", n, events)
		}
	}
	changed(0)
	changed(1, memory.Chose{Guild: guild, Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember})
	s.says(t, s.now(notice.Message))
	changed(1, memory.Chose{Guild: guild, Choice: memory.RememberPublic},
		memory.Chose{Guild: guild, Channel: s.channelID, Choice: memory.Remember},
		memory.SettingChosen{Guild: guild, Key: memory.SettingRetention,
			Value: "30d"}, memory.Learn{Guild: guild, On: true, At: noon})
	s.says(t, s.now(notice.Message))
	if strings.Contains(s.now(notice.Message).Content, hidden.ID.String()) {
		t.Error("it names a channel that not everybody can see")
	}
	changed(0, memory.SettingChosen{Guild: guild, Channel: s.channelID,
		Key: memory.SettingMode, Value: "search"})
	changed(1, memory.SettingChosen{Guild: guild, Key: memory.SettingLanguage, Value: "de", At: noon})
	changed(1, memory.SettingChosen{Guild: guild, Key: memory.SettingLanguage, At: noon.Add(time.Second)})

	cfg := s.bot.cfg
	cfg.Privacy, cfg.Retention = command.Privacy{Models: []string{"llm.example"}}, 90*24*time.Hour
	s.stops(t)
	seen := len(eventsOf[memory.GuildSeen](s.log))
	calmly(s.with(t, cfg)).run(t)
	s.log.wait(t, "the guild", func() bool { return len(eventsOf[memory.GuildSeen](s.log)) > seen })
	s.idle(t)
	s.looksAtNotices(t, 3)
	s.says(t, s.now(notice.Message))

	s.discord.Delete(s.channel, notice.ID)
	s.apply(t, memory.Chose{Guild: guild, Choice: memory.Ignore, At: noon},
		memory.Chose{Guild: guild, Channel: s.channelID, At: noon},
		memory.Chose{Guild: guild, Channel: memory.ChannelID(hidden.ID), At: noon})
	s.looksAtNotices(t, 5)
	sent := s.discord.Sent(s.channel)
	s.says(t, sent[len(sent)-1])
	if len(sent) != 2 {
		t.Errorf("%d messages", len(sent))
	}
	// If nobody can be told, that is tried once a change.
	s.discord.RemoveChannel(s.channel)
	closed := s.discord.Inject("POST /users/@me/channels", 9, discordtest.Closed())
	s.apply(t, memory.Chose{Guild: guild, Choice: memory.Remember, At: noon.Add(time.Second)})
	s.looksAtNotices(t, 5)
	if n := closed.Hits(); n != 1 {
		t.Errorf("tried %d times", n)
	}
}

// A notice that not everybody can read any more moves, once, to where they can, or to the owner. If Hark can't delete
// the old one, its buttons still work, but it is no longer updated.
func TestNoticeMovesWhereItIsRead(t *testing.T) {
	t.Parallel()
	hide := func(s *scene, channel discordtest.ID) {
		s.discord.SetOverwrite(channel, discordtest.ForMember(s.discord.Bot.ID, discordtest.ViewChannel, 0))
		s.discord.SetOverwrite(channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
	}
	for name, tt := range map[string]struct {
		close func(s *scene, first, second discordtest.ID)
		owner bool // who is told it then
		left  bool // whether the old one is
	}{
		"hidden": {close: func(s *scene, first, _ discordtest.ID) { hide(s, first) }},
		"for adults only": {close: func(s *scene, first, _ discordtest.ID) {
			s.discord.UpdateChannel(first, func(c *discordtest.Channel) { c.NSFW = true })
		}},
		"hidden, from Hark too": {close: func(s *scene, first, _ discordtest.ID) {
			s.discord.SetOverwrite(first, discordtest.ForMember(s.ana.ID, discordtest.ViewChannel, 0))
			s.discord.SetOverwrite(first, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
		}, left: true},
		"all hidden": {close: func(s *scene, first, second discordtest.ID) {
			hide(s, second)
			hide(s, first)
		}, owner: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := calmly(asking(t))
			second := s.addChannel("second").ID
			s.run(t).ready(t)
			old := s.notice(t, s.channel)
			guild := s.guildID
			tt.close(s, s.channel, second)
			s.log.wait(t, "the channel to be closed", func() bool {
				g, err := s.log.Guild(t.Context(), guild)
				return err == nil && !(g.IsPublic(s.channelID) && !g.Channel(s.channelID).AgeLimited)
			})
			place := second
			if tt.owner {
				place = s.directWith(s.guild.Owner.ID)
			}
			s.apply(t, memory.Chose{Guild: guild, Choice: memory.Remember})
			s.looksAtNotices(t, 5)
			notices := func() []discordtest.Sent { // without what is answered there
				return slices.DeleteFunc(s.discord.Sent(place), func(m discordtest.Sent) bool {
					return !strings.Contains(m.Content, "`/hark memory`")
				})
			}
			sent := notices()
			if len(sent) != 1 || len(s.discord.Sent(s.channel)) != 1 {
				t.Fatalf("%d notices, and %d where not everybody reads", len(sent), len(s.discord.Sent(s.channel)))
			}
			s.says(t, sent[0])
			if was := s.now(old.Message); was.Deleted == tt.left || len(was.Versions) != len(old.Versions) {
				t.Errorf("the old one is %+v", was)
			}
			if !tt.left {
				return
			}
			s.turns(t, s.discord.Click(old.Message, s.ana.ID, chooseNothing))
			s.looksAtNotices(t, 5)
			s.says(t, s.now(sent[0].Message))
			if n := len(notices()); n != 1 {
				t.Errorf("%d notices", n)
			}
		})
	}
}

// A notice's buttons are for those who manage the server, whoever else may use /hark.
func TestDecisionsByButton(t *testing.T) {
	t.Parallel()
	for button, tt := range map[string]struct {
		who    func(*scene) discordtest.User
		choice memory.Choice
	}{
		choosePublic:  {func(s *scene) discordtest.User { return s.guild.Owner }, memory.RememberPublic},
		chooseNothing: {func(s *scene) discordtest.User { return s.ana }, memory.Ignore},
	} {
		t.Run(button, func(t *testing.T) {
			t.Parallel()
			s := asking(t).run(t).ready(t)
			notice := s.notice(t, s.channel)
			s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "hark", true)
			shown := s.use(t, s.bo, "hark memory")
			for _, id := range []string{button, chooseChannels} {
				s.hears(t, s.discord.Click(notice.Message, s.bo.ID, id))
			}
			if len(s.chosen()) > 0 {
				t.Errorf("somebody without the right chose %q", s.chosen())
			}
			s.again(t) // buttons outlive a restart
			s.discord.Click(notice.Message, tt.who(s).ID, button).Wait()
			s.becomes(t, notice.Message)
			if got := s.chosen(); !slices.Equal(got, []string{choiceOf(0, tt.choice)}) {
				t.Errorf("chosen %q", got)
			}
			s.turns(t, s.discord.Click(shown.Message, s.bo.ID, chooseNothing))
		})
	}
}

func TestChannelsAreChosen(t *testing.T) {
	t.Parallel()
	s := asking(t)
	second := s.addChannel("second")
	s.run(t).ready(t)
	notice := s.notice(t, s.channel)
	ask := s.discord.Click(notice.Message, s.ana.ID, chooseChannels).WaitMessage()
	if ask.Flags&discordtest.Ephemeral == 0 || len(s.chosen()) > 0 {
		t.Errorf("asked openly with %q; chosen %q", ask.Content, s.chosen())
	}
	menu := fmt.Sprintf("%s:%d:%d", chosenChannels, notice.ChannelID, notice.ID)
	s.discord.Click(ask.Message, s.ana.ID, menu, second.ID.String())
	s.becomes(t, notice.Message)
	if got := s.chosen(); !slices.Equal(got, []string{choiceOf(second.ID, memory.Remember),
		choiceOf(0, memory.RememberChosen)}) {
		t.Errorf("chosen %q", got)
	}
	s.discord.Say(s.channel, s.bo.ID, "not here")
	s.posts(t, second.ID, s.bo.ID, "but here")
	if slices.Contains(s.log.said(), "them: not here") {
		t.Error("a channel is logged that wasn't chosen")
	}
}
