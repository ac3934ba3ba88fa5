package bot

import (
	"fmt"
	"strings"
	"testing"

	"hark/bot/markdown"
	"hark/internal/discordtest"
	"hark/memory"
)

// remembering is a scene whose guild is remembered. ana manages it.
func remembering(t *testing.T) *scene {
	t.Helper()
	s := asking(t)
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.run(t).ready(t)
	return s
}

// use uses a command, and is what is shown.
func (s *scene) use(t *testing.T, who discordtest.User, name string, options ...discordtest.Opt) discordtest.Sent {
	t.Helper()
	m := s.discord.Slash(s.channel, who.ID, name, options...).WaitMessage()
	if m.Flags&discordtest.Ephemeral == 0 {
		t.Errorf("everybody sees what /%s shows", name)
	}
	did := who.Username + ": /" + name
	for _, o := range options {
		did += fmt.Sprintf(" %s:%v", o.Name, o.Value)
	}
	s.did[m.ID] = markdown.Clip(did, 200)
	return m
}

func opt(name string, value any) discordtest.Opt { return discordtest.Opt{Name: name, Value: value} }

func TestForgettingShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.log.forgetting.steps = make(chan int)
	dm := s.discord.DM(s.bo.ID, "hello")
	ask := s.discord.Slash(dm.ChannelID, s.bo.ID, "memory forget").WaitMessage()
	s.says(t, ask)
	i := s.discord.Click(ask.Message, s.bo.ID, confirmForget)
	s.log.forgetting.steps <- 30
	s.lately(t, i, "30")
	close(s.log.forgetting.steps)
	s.turns(t, i)
	if got := s.log.forgetting.begun; len(got) != 1 || got[0].Guild != memory.DirectGuild ||
		got[0].Why != memory.WhyMember || got[0].User != s.boID {
		t.Errorf("forgets %+v", got)
	}
	if _, out := find(s.log, func(memory.Opted) bool { return true }); out {
		t.Error("opted out")
	}
}

// After 14 minutes the message says that the forgetting goes on, which it does.
func TestForgettingGoesOnWithoutBeingWatched(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.log.forgetting.steps, s.log.forgetting.fails = make(chan int), errDown
	ask := s.use(t, s.bo, "memory forget")
	i := s.discord.Click(ask.Message, s.bo.ID, confirmForget)
	s.log.forgetting.steps <- 30
	s.discord.Advance(s.bot.timing.commands.Use)
	last := func() string {
		all := s.edits(i)
		return all[len(all)-1]
	}
	s.discord.WaitFor("the last word", func() bool { return len(s.edits(i)) > 0 && strings.Contains(last(), goesOn) })
	shown := len(s.edits(i))
	for step := range 20 { // it is still at it
		s.log.forgetting.steps <- 40 + step
	}
	close(s.log.forgetting.steps)
	s.commandsEnd()
	if told := s.edits(i); len(told) != shown {
		t.Errorf("told %q", told)
	}
	if !strings.Contains(s.out.String(), errDown.Error()) { // it is over for the member
		t.Errorf("logged %s", s.out)
	}
}

// Facts from a channel that their subject can't read don't name it.
func TestFactsFromHiddenChannelsNameNone(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	hidden := s.hiddenChannel(t)
	s.discord.Say(hidden.ID, s.bo.ID, "said before I lost the right")
	s.discord.Say(s.channel, s.bo.ID, "hello")
	for _, f := range []memory.Fact{{ID: 1, Text: "was praised by the staff", By: s.anaID,
		Channel: memory.ChannelID(hidden.ID)},
		{ID: 2, Text: "knew the staff", By: s.boID, Channel: memory.ChannelID(hidden.ID), Message: 3}} {
		s.apply(t, memory.FactTold{Guild: s.guildID, User: s.boID, Fact: f})
	}
	for _, m := range []discordtest.Sent{s.use(t, s.bo, "memory show"),
		s.use(t, s.bo, "memory edit", opt("fact", "2"), opt("text", "knows the staff"))} {
		s.says(t, m)
		if strings.Contains(m.Content, hidden.ID.String()) {
			t.Errorf("a channel is named that bo can't read: %q", m.Content)
		}
	}
}
