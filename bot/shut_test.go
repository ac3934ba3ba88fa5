package bot

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// texts are a channel's texts in a store, oldest first.
func texts(t *testing.T, store *notebook, channel discordtest.ID) (said []string) {
	all, err := store.Log(t.Context(), memory.ChannelID(channel), 0,
		memory.FirstMessageID(noon.AddDate(10, 0, 0)), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Kind != memory.FromHark {
			said = append(said, m.Content)
		}
	}
	return said
}

// Nothing is used from a channel, or its threads, that Hark can't read any more, and admins are told. Once it can read
// it again, all is compared before anything is used.
func TestShutOut(t *testing.T) {
	t.Parallel()
	bot := func(s *scene) discordtest.ID { return s.discord.Bot.ID }
	for name, tt := range map[string]struct {
		shut, open func(s *scene, channel discordtest.ID)
	}{
		"View Channel is denied": {func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForMember(bot(s), 0, discordtest.ViewChannel))
		}, func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForMember(bot(s), 0, 0))
		}},
		"Read Message History is denied": {func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForMember(bot(s), 0, discordtest.ReadMessageHistory))
		}, func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForMember(bot(s), 0, 0))
		}},
		"its role may nothing": {func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
		}, func(s *scene, _ discordtest.ID) {
			s.discord.UpdateRole(s.guild.ID, s.guild.BotRole.ID, func(r *discordtest.Role) {
				r.Permissions |= discordtest.Administrator
			})
		}},
		"it loses a role": {func(s *scene, channel discordtest.ID) {
			role := s.discord.AddRole(s.guild.ID, "readers", 0)
			s.discord.SetOverwrite(channel, discordtest.ForRole(role.ID, discordtest.ViewChannel, 0))
			s.discord.UpdateMember(s.guild.ID, bot(s), func(m *discordtest.Member) {
				m.Roles = append(m.Roles, role.ID)
			})
			s.discord.SetOverwrite(channel, discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel))
			s.discord.UpdateMember(s.guild.ID, bot(s), func(m *discordtest.Member) { m.Roles = m.Roles[:1] })
		}, func(s *scene, channel discordtest.ID) {
			s.discord.SetOverwrite(channel, discordtest.ForRole(s.guild.ID, discordtest.ViewChannel, 0))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			room := s.addChannel("room").ID
			thread := s.addThread("thread", room).ID
			s.discord.SetCommandPermission(s.guild.ID, s.ana.ID, "hark", true)
			store := s.overStore(t)
			readable := func(id discordtest.ID) bool { return readableIn(t, store, s.guild.ID, id, id) }
			s.discord.WaitFor("the room to be known", func() bool { return readable(room) && readable(thread) })
			ids := append(s.say(room, 3, "room"), s.say(thread, 1, "thread")...)
			s.discord.WaitFor("what was said", func() bool {
				return len(texts(t, store, room)) == 3 && len(texts(t, store, thread)) == 1
			})
			tt.shut(s, room)
			s.discord.WaitFor("the room to be shut", func() bool { return !readable(room) && !readable(thread) })
			s.discord.Edit(room, ids[1], "edited")
			s.discord.Delete(room, ids[0])
			s.discord.Delete(thread, ids[3])
			s.discord.Advance(time.Minute)
			s.say(room, 1, "unheard")
			if name == "View Channel is denied" {
				s.use(t, s.guild.Owner, "help") // so that status counts them
				s.discord.WaitFor("the owner to be known", func() bool {
					people, err := store.People(t.Context(), s.guildID, memory.UserID(s.guild.Owner.ID))
					return len(people) > 0 && err == nil
				})
				s.says(t, s.use(t, s.guild.Owner, "hark status"))
			}
			comparing := s.discord.Inject("GET /channels/*/messages", 1000, discordtest.Hang())
			tt.open(s, room)
			comparing.WaitHits(1)
			if readable(room) || readable(thread) && len(texts(t, store, thread)) > 0 {
				t.Error("what was known is used before it is compared")
			}
			comparing.Release()
			s.discord.WaitFor("the room to be open", func() bool { return readable(room) && readable(thread) })
			s.discord.WaitFor("what Discord has", func() bool {
				return slices.Equal(texts(t, store, room), []string{"edited", "room 2", "unheard 0"}) &&
					len(texts(t, store, thread)) == 0
			})
			if g, _ := store.Guild(t.Context(), s.guildID); g != nil {
				for _, c := range g.Channels {
					if c.Name == "___hidden___" {
						t.Errorf("channel %d has lost its name", c.ID)
					}
				}
			}
		})
	}
}

// What was logged before a channel was ignored is there once it is remembered again, and nothing twice.
func TestAChannelIsIgnoredAndLoggedAgain(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.discord.SetCommandPermission(s.guild.ID, s.ana.ID, "hark", true)
	store := s.overStore(t)
	ids := s.say(s.channel, 4, "before")
	s.discord.WaitFor("what was said", func() bool { return len(texts(t, store, s.channel)) == 4 })
	readable := func() bool { return readableIn(t, store, s.guild.ID, s.channel, s.channel) }
	g := func() *memory.Guild {
		g, err := store.Guild(t.Context(), s.guildID)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	remembers := func() bool { return s.bot.cfg.Policy.Remembers(g(), s.channelID) }
	s.use(t, s.ana, "hark channel ignore")
	if remembers() {
		t.Error("it is remembered still")
	}
	s.say(s.channel, 2, "ignored")
	s.discord.Edit(s.channel, ids[1], "edited meanwhile")
	s.discord.Delete(s.channel, ids[0])
	s.discord.WaitTakenIn()
	s.discord.Advance(time.Minute)
	s.use(t, s.ana, "hark channel log")
	if !remembers() || !readable() {
		t.Errorf("it isn't remembered again: %t, %t: %+v", remembers(), readable(), g())
	}
	s.say(s.channel, 1, "after")
	want := []string{"edited meanwhile", "before 2", "before 3", "after 0"}
	s.discord.WaitFor(fmt.Sprintf("%q", want), func() bool { return slices.Equal(texts(t, store, s.channel), want) })
}

// What is missed in a channel that Hark can read again, but hasn't compared yet, is fetched.
func TestNothingIsLostWhereHarkIsLetInAgain(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := s.overStore(t)
	s.say(s.channel, 3, "before")
	s.discord.WaitFor("what was said", func() bool { return len(texts(t, store, s.channel)) == 3 })
	shut := func() bool {
		g, err := store.Guild(t.Context(), s.guildID)
		return err == nil && slices.ContainsFunc(g.Channels, func(c memory.Channel) bool {
			return c.ID == s.channelID && c.Shut
		})
	}
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory))
	s.discord.WaitFor("the channel to be shut", shut)
	s.stops(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, 0))
	again := func(cfg Config) {
		s.with(t, cfg)
		s.bot.timing.interval = time.Millisecond
		s.begins(t)
		waitLogged(t, s.log, "the guild", func(e memory.GuildSeen) bool {
			return e.Guild.ID == s.guildID
		})
	}
	cfg := s.bot.cfg
	hang := s.discord.Inject("GET /channels/*/messages", 1000, discordtest.Hang())
	again(cfg)
	s.discord.WaitTakenIn()
	if !shut() {
		t.Error("the channel is open before it is compared")
	}
	s.stops(t)
	s.discord.Advance(time.Minute)
	s.say(s.channel, 2, "missed")
	again(cfg)
	s.say(s.channel, 1, "live")
	s.discord.WaitFor("what was said live", func() bool {
		return slices.Contains(texts(t, store, s.channel), "live 0")
	})
	s.stops(t)
	hang.Release()
	again(cfg)
	want := []string{"before 0", "before 1", "before 2", "missed 0", "missed 1", "live 0"}
	s.discord.WaitFor(fmt.Sprintf("%q", want), func() bool {
		return slices.Equal(texts(t, store, s.channel), want) && !shut()
	})
}
