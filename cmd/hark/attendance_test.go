package main

import (
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// What somebody tells by a command in a private channel is told to those who may read that.
func TestFactsStayWhereTheyWereTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.WaitFor("/memory to be registered", func() bool { return len(w.discord.Commands(0)) > 0 })
	w.discord.Say(w.general.ID, w.jane.ID, "hello") // so that it is known who she is
	w.discord.Slash(w.staff.ID, w.jane.ID, "memory add", discordtest.Opt{Name: "text", Value: "looks for another job"}).WaitMessage()
	w.discord.Slash(w.general.ID, w.jane.ID, "memory add", discordtest.Opt{Name: "text", Value: "sails on Sundays"}).WaitMessage()
	w.ask(w.general, w.ana, "what do you know of "+w.jane.Mention()+"?")
	w.holds(w.prompt(), "sails on Sundays")
	w.lacks(w.prompt(), "another job")
	w.ask(w.staff, w.jane, "what do you know of me?")
	w.holds(w.prompt(), "looks for another job")
	w.holds(w.prompt(), "sails on Sundays")
}

// Where not all may read what was said before they came, the session is what all could hear.
func TestSessionIsWhatAllCouldHear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.newStage()
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.ID, 0, discordtest.ReadMessageHistory))
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.BotRole.ID, discordtest.ReadMessageHistory, 0)) // which it takes to reply
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
	w.lacks(s.aloud(s.eve), "lighthouse") // whom the guest hears as well

	says("It is on Monday.")
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.readers.ID, discordtest.ViewChannel, 0))
	says("It is on Tuesday.")
	got = s.aloud(s.eve)
	w.holds(got, "Tuesday")
	w.lacks(got, "Monday")

	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.start()
	w.lacks(s.aloud(s.eve), "Tuesday") // somebody may have come meanwhile
	says("It is on Wednesday.")
	w.holds(s.aloud(s.eve), "Wednesday")
	s.discord.SetOverwrite(s.hall.ID, discordtest.ForRole(s.guild.ID, discordtest.ReadMessageHistory, 0))
	w.holds(s.aloud(s.eve), "lighthouse") // which all may read now
}

// An answer goes with the edit of what it was made from, in Discord as well.
func TestAnswersGoWithAnEditOfTheirSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	source := w.discord.Say(w.general.ID, w.jane.ID, "The shed's password is petunia.")
	w.later()
	w.model.Queue(llmtest.Say("It is petunia [1]."))
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" what is the password of the shed?")
	answer := w.reply(w.general.ID, q.ID, "petunia")
	w.traced(answer)
	w.discord.Edit(w.general.ID, source.ID, "The shed's password isn't for you.")
	shown := w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return m.ID == answer.ID && !strings.Contains(m.Content, "petunia") })
	w.sees(shown.Content)
}
