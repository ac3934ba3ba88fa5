package main

import (
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
)

// stage is a server with a channel for questions and one with a secret.
type stage struct {
	*world
	guild     discordtest.Guild
	hall, den discordtest.Channel
	garden    discordtest.Channel // the den's parent, if the den is a thread
	readers   discordtest.Role
	eve       discordtest.User // a reader
}

func (w *world) newStage() *stage {
	w.Helper()
	s := &stage{world: w, guild: w.discord.AddGuild("Castle")}
	s.readers = w.discord.AddRole(s.guild.ID, "readers", 0)
	s.hall = w.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "hall"})
	s.den = w.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "den"})
	s.eve = w.discord.AddMember(s.guild.ID, discordtest.User{}, s.readers.ID)
	return s
}

func (s *stage) hidden(roles ...discordtest.ID) []discordtest.Overwrite {
	all := []discordtest.Overwrite{discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel)}
	for _, r := range append(roles, s.guild.BotRole.ID) {
		all = append(all, discordtest.ForRole(r, discordtest.ViewChannel, 0))
	}
	return all
}

func (s *stage) hide(c discordtest.Channel, roles ...discordtest.ID) {
	s.discord.UpdateChannel(c.ID, func(c *discordtest.Channel) { c.Overwrites = s.hidden(roles...) })
}

func (s *stage) threaded() {
	s.garden = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "garden"})
	s.den = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Type: discordtest.PublicThread,
		ParentID: &s.garden.ID, Name: "in the garden"})
}

// aloud returns the prompt of an answer in the hall.
func (s *stage) aloud(who discordtest.User) string {
	s.Helper()
	s.ask(s.hall, who, when)
	return s.prompt()
}

// whispered returns what /context shows in the hall.
func (s *stage) whispered(who discordtest.User) string {
	s.Helper()
	return s.discord.Slash(s.hall.ID, who.ID, "context",
		discordtest.Opt{Name: "question", Value: when}).WaitMessage().Content
}

func TestTheVeryNextAnswerObeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[memory]\nage_restricted = true\n")
	w.start()
	w.discord.WaitFor("/context to be registered", func() bool { return len(w.discord.Commands(0)) > 0 })
	byOwner := func(s *stage) string { return s.whispered(s.guild.Owner) }
	byReader := func(s *stage) string { return s.whispered(s.eve) }
	byAll := func(s *stage) string { return s.aloud(s.eve) }
	for _, tt := range []struct {
		name   string
		before func(s *stage) // makes the den readable; may be nil
		change func(s *stage)
		heard  func(s *stage) string
	}{
		{"a channel is closed", nil, func(s *stage) { s.hide(s.den) }, byAll},
		{"the place is opened to more people", func(s *stage) {
			s.hide(s.den, s.readers.ID)
			s.hide(s.hall, s.readers.ID)
		}, func(s *stage) {
			guests := s.discord.AddRole(s.guild.ID, "guests", 0)
			s.hide(s.hall, s.readers.ID, guests.ID)
		}, byAll},
		{"the place is opened to one person more", func(s *stage) {
			s.hide(s.den, s.readers.ID)
			s.hide(s.hall, s.readers.ID)
		}, func(s *stage) {
			guest := s.discord.AddMember(s.guild.ID, discordtest.User{})
			s.discord.SetOverwrite(s.hall.ID, discordtest.ForMember(guest.ID, discordtest.ViewChannel, 0))
		}, byAll},
		{"a channel's past is closed", nil, func(s *stage) {
			s.discord.SetOverwrite(s.den.ID, discordtest.ForRole(s.guild.ID, 0, discordtest.ReadMessageHistory))
		}, byAll},
		{"@everyone may do less", func(s *stage) {
			s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.ID, discordtest.ViewChannel, 0))
		}, func(s *stage) {
			s.discord.UpdateRole(s.guild.ID, s.guild.ID, func(r *discordtest.Role) {
				r.Permissions &^= discordtest.ViewChannel
			})
		}, byAll},
		{"a role may do more, so that others see the place", func(s *stage) {
			s.discord.UpdateRole(s.guild.ID, s.guild.ID, func(r *discordtest.Role) {
				r.Permissions &^= discordtest.ViewChannel
			})
			s.hide(s.den, s.readers.ID)
			s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.readers.ID, discordtest.ViewChannel, 0))
		}, func(s *stage) {
			guests := s.discord.AddRole(s.guild.ID, "guests", 0)
			s.discord.UpdateRole(s.guild.ID, guests.ID, func(r *discordtest.Role) {
				r.Permissions |= discordtest.ViewChannel
			})
		}, byAll},
		{"a role is deleted", func(s *stage) { s.hide(s.den, s.readers.ID) }, func(s *stage) {
			s.discord.RemoveRole(s.guild.ID, s.readers.ID)
		}, byReader},
		{"the asker's role is taken", func(s *stage) { s.hide(s.den, s.readers.ID) }, func(s *stage) {
			s.discord.UpdateMember(s.guild.ID, s.eve.ID, func(m *discordtest.Member) { m.Roles = m.Roles[:0] })
		}, byReader},
		{"Discord doesn't tell the asker's roles", func(s *stage) { s.hide(s.den, s.readers.ID) }, func(s *stage) {
			s.discord.UpdateMember(s.guild.ID, s.eve.ID, func(m *discordtest.Member) { m.Roles = nil })
		}, byReader},
		{"a guest by name, who may have lost a role", func(s *stage) {
			s.hide(s.den, s.readers.ID)
			s.hide(s.hall, s.readers.ID)
		}, func(s *stage) {
			s.discord.SetOverwrite(s.hall.ID, discordtest.ForMember(s.eve.ID, discordtest.ViewChannel, 0))
		}, byAll},
		{"an administrator is one no more", func(s *stage) {
			s.hide(s.den)
			s.discord.UpdateRole(s.guild.ID, s.readers.ID, func(r *discordtest.Role) {
				r.Permissions = discordtest.Administrator
			})
		}, func(s *stage) {
			s.discord.UpdateRole(s.guild.ID, s.readers.ID, func(r *discordtest.Role) { r.Permissions = 0 })
		}, byReader},
		{"the server is handed over", func(s *stage) { s.hide(s.den) }, func(s *stage) {
			s.discord.SetOwner(s.guild.ID, s.eve.ID)
		}, byOwner},
		{"a channel is moved to a category with permissions of its own", nil, func(s *stage) {
			closed := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Type: discordtest.Category,
				Name: "closed", Overwrites: s.hidden()})
			s.discord.UpdateChannel(s.den.ID, func(c *discordtest.Channel) {
				c.ParentID, c.Overwrites = &closed.ID, slices.Clone(closed.Overwrites)
			})
		}, byAll},
		{"a channel becomes age-restricted", nil, func(s *stage) {
			s.discord.UpdateChannel(s.den.ID, func(c *discordtest.Channel) { c.NSFW = true })
		}, byAll},
		{"the place is age-restricted no more", func(s *stage) {
			for _, c := range []discordtest.Channel{s.hall, s.den} {
				s.discord.UpdateChannel(c.ID, func(c *discordtest.Channel) { c.NSFW = true })
			}
		}, func(s *stage) {
			s.discord.UpdateChannel(s.hall.ID, func(c *discordtest.Channel) { c.NSFW = false })
		}, byAll},
		{"a thread's channel is closed", (*stage).threaded, func(s *stage) { s.hide(s.garden) }, byAll},
		{"a thread's channel is deleted", (*stage).threaded, func(s *stage) {
			s.discord.RemoveChannel(s.garden.ID)
		}, byAll},
		{"a thread comes to lie in another channel", (*stage).threaded, func(s *stage) {
			closed := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "closed", Overwrites: s.hidden()})
			s.discord.UpdateChannel(s.den.ID, func(c *discordtest.Channel) { c.ParentID = &closed.ID })
		}, byAll},
	} {
		s := w.newStage()
		if tt.before != nil {
			tt.before(s)
		}
		w.discord.Say(s.den.ID, s.guild.Owner.ID, privateWords)
		w.holds(tt.heard(s), "lighthouse")
		tt.change(s)
		w.lacks(tt.heard(s), "lighthouse")
		if t.Failed() {
			t.Fatalf("when %s", tt.name)
		}
	}
}

// In a channel without read history, the session is what everybody there heard.
func TestSessionIsWhatAllCouldHear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.newStage()
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.ID, 0, discordtest.ReadMessageHistory))
	// needed to reply
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.BotRole.ID, discordtest.ReadMessageHistory, 0))
	w.start()
	w.discord.Advance(past + time.Minute)
	says := func(text string) { w.discord.Advance(time.Second); s.discord.Say(s.hall.ID, s.eve.ID, text) }
	says("The meeting is in the lighthouse.")
	w.holds(s.aloud(s.eve), "lighthouse")
	w.discord.Advance(time.Second)
	guest := s.discord.AddMember(s.guild.ID, discordtest.User{})
	says("No, it is in the greenhouse.")
	got := s.aloud(guest)
	w.holds(got, "greenhouse")
	w.lacks(got, "lighthouse")
	w.lacks(s.aloud(s.eve), "lighthouse") // the guest hears it too

	says("It is on Monday.")
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.readers.ID, discordtest.ViewChannel, 0))
	says("It is on Tuesday.")
	got = s.aloud(s.eve)
	w.holds(got, "Tuesday")
	w.lacks(got, "Monday")

	w.stopWell()
	w.start()
	w.lacks(s.aloud(s.eve), "Tuesday") // somebody may have joined
	says("It is on Wednesday.")
	w.holds(s.aloud(s.eve), "Wednesday")
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.ID, discordtest.ReadMessageHistory, 0))
	w.holds(s.aloud(s.eve), "lighthouse") // readable for all now
}
