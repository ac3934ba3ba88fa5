package bot

import (
	"context"
	"regexp"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// Unlogged sessions are forgotten too.
func TestPurgeForgetsSessionsThatArentLogged(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]func(s *scene) []discordtest.Opt{
		"member":  func(s *scene) []discordtest.Opt { return []discordtest.Opt{opt("member", s.bo.ID)} },
		"channel": func(s *scene) []discordtest.Opt { return []discordtest.Opt{opt("channel", s.channel)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remembering(t)
			guild, here := s.guildID, s.channelID
			s.bot.buffer.Add(memory.Message{ID: memory.FirstMessageID(s.discord.Now()), Guild: guild,
				Channel: here, Author: s.boID, Content: "of a session"})
			ask := s.use(t, s.ana, "hark purge "+name, what(s)...)
			s.discord.Click(ask.Message, s.ana.ID, buttonOf(t, ask.Message, purges)).WaitMessage()
			s.idle(t)
			if left := s.bot.buffer.Before(here, 1<<62); len(left) != 0 {
				t.Errorf("left %+v", left)
			}
		})
	}
}

// What is too old waits until somebody agrees. A purge and a shorter retention delete what they said.
func TestForgettingOverAStore(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	s := set(t, discordtest.WithTime(time.Now().Add(-100*day)))
	store := s.overStore(t)
	guild, here := s.guildID, s.channelID
	// what comes later isn't compared
	waitLogged(t, s.log, "that Hark was away", func(memory.Absent) bool { return true })
	var old []memory.Event
	for i := range 1100 {
		old = append(old, memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(s.discord.Now()) +
			memory.MessageID(i), Guild: guild, Channel: here, Author: s.boID, Content: "old"}})
	}
	if err := store.Apply(t.Context(), old...); err != nil {
		t.Fatal(err)
	}
	kept := func(want int) {
		t.Helper()
		got, err := store.Log(t.Context(), here, 0, 1<<62, 2000)
		if err != nil || len(got) != want {
			t.Errorf("%d messages are kept, want %d; %v", len(got), want, err)
		}
	}
	say := func(after time.Duration, texts ...string) {
		s.discord.Advance(after)
		for _, text := range texts {
			s.discord.Say(s.channel, s.bo.ID, text)
		}
		s.discord.WaitFor("what was said", func() bool {
			said, err := store.Log(t.Context(), here, memory.FirstMessageID(s.discord.Now())-1, 1<<62, 9)
			return err == nil && len(said) == len(texts)
		})
	}
	say(90*day, "ten", "ten", "ten")
	say(10*day+time.Hour, "new", "new") // later than all that the house keeps
	clean := func() {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		house := memory.Janitor{Store: store, Retention: 30 * day, Progress: cancel,
			Failed: func(err error, _ time.Duration) { t.Error(err) }}
		if err := house.Run(ctx); err != nil {
			t.Error(err)
		}
	}
	owner := s.guild.Owner
	page := func(m discordtest.Sent) {
		golden.Seen(t, regexp.MustCompile(`<\d+ [^>]*>`).ReplaceAllString(s.looks(m), "<when>"))
	}
	press := func(m discordtest.Sent, does string) {
		t.Helper()
		s.discord.Advance(time.Second)
		i := s.discord.Click(m.Message, owner.ID, buttonOf(t, m.Message, does))
		i.Wait()
		s.idle(t)
		page(i.WaitMessage())
	}
	clean()
	kept(1105)
	s.use(t, owner, "limits") // status doesn't wait until the log knows the owner, and counts people
	m := s.use(t, owner, "hark status")
	page(m)
	s.says(t, s.discord.Click(m.Message, s.bo.ID, buttonOf(t, m.Message, expires)).WaitMessage())
	clean()
	kept(1105)
	press(m, expires)
	clean()
	kept(5)
	page(s.use(t, owner, "hark status"))
	m = s.use(t, owner, "hark purge before", opt("before", "5d"))
	page(m)
	press(m, purges)
	kept(2)
	m = s.use(t, owner, "hark retention", opt("keep", "7d"), opt("server", true))
	page(m)
	press(m, keepsFor)
	s.discord.Advance(time.Second)
	page(s.use(t, owner, "hark retention", opt("keep", "forever"), opt("server", true)))
	clean()
	kept(2)
}
