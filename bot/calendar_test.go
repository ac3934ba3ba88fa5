package bot

import (
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// calendar is what is kept of the guild's scheduled events: their names, and in brackets where they are told of.
func (s *scene) calendar(t *testing.T) (kept []string) {
	t.Helper()
	all, err := s.log.Store.Lore(t.Context(), s.guildID)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Scheduled {
			kept = append(kept, l.Name+": "+l.Text)
		}
	}
	slices.Sort(kept)
	return kept
}

func (s *scene) waitCalendar(t *testing.T, want ...string) {
	t.Helper()
	s.discord.WaitFor("the calendar", func() bool { return slices.Equal(s.calendar(t), want) })
}

// regatta is an event outside Discord.
func (s *scene) regatta() discordtest.ScheduledEvent {
	about := "Boats meet at 07:30."
	return discordtest.ScheduledEvent{
		Name:        "Regatta",
		Description: &about,
		CreatorID:   &s.bo.ID,
		Start:       time.Unix(1_797_102_000, 0).UTC(),
		End:         time.Unix(1_797_109_200, 0).UTC(),
		Metadata:    discordtest.Location{Location: "Pier five"},
	}
}

const regatta = "Regatta: <t:1797102000:F> – <t:1797109200:F>, Pier five\nBoats meet at 07:30."

func TestScheduledEventsAreHeard(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	e := s.discord.Schedule(s.guild.ID, s.regatta())
	s.waitCalendar(t, regatta)

	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "Regatta"), opt("text", "Sunk.")))
	s.says(t, s.use(t, s.bo, "lore show", opt("name", "Regatta")))
	e.Name = "Great regatta"
	e.Description = nil
	e.Metadata.Location = "Pier six"
	s.discord.Schedule(s.guild.ID, e)
	s.waitCalendar(t, "Great regatta: <t:1797102000:F> – <t:1797109200:F>, Pier six")

	e.Status = discordtest.Completed
	s.discord.Schedule(s.guild.ID, e)
	s.waitCalendar(t)

	canceled := s.discord.Schedule(s.guild.ID, s.regatta())
	s.waitCalendar(t, regatta)
	canceled.Status = discordtest.Canceled
	s.discord.Schedule(s.guild.ID, canceled)
	s.waitCalendar(t)

	deleted := s.discord.Schedule(s.guild.ID, s.regatta())
	s.waitCalendar(t, regatta)
	s.discord.Unschedule(s.guild.ID, deleted.ID)
	s.waitCalendar(t)
}

// TestScheduledEventsOfAnAbsence ends one event and makes another while Hark is away. Nothing changes for the third,
// so nothing of it is told again.
func TestScheduledEventsOfAnAbsence(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	gone := s.discord.Schedule(s.guild.ID, s.regatta())
	stays := s.regatta()
	stays.Name = "Club night"
	s.discord.Schedule(s.guild.ID, stays)
	const night = "Club night: <t:1797102000:F> – <t:1797109200:F>, Pier five\nBoats meet at 07:30."
	s.waitCalendar(t, night, regatta)
	s.stops(t)
	s.discord.Unschedule(s.guild.ID, gone.ID)
	made := s.regatta()
	made.Name = "Autumn regatta"
	s.discord.Schedule(s.guild.ID, made)
	told := len(s.lore())

	s.withPolicy(t).run(t).ready(t)
	s.waitCalendar(t, "Autumn "+"regatta"+regatta[len("Regatta"):], night)
	if n := len(s.lore()) - told; n != 1 {
		t.Errorf("%d events were told again", n)
	}
}

// TestScheduledEventsAreKeptWhereTheyMayBe makes events in channels and guilds that aren't remembered, and in a voice
// channel that is: only its readers may hear of that.
func TestScheduledEventsAreKeptWhereTheyMayBe(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.run(t).ready(t)
	s.discord.Schedule(s.guild.ID, s.regatta()) // the guild hasn't chosen
	s.use(t, s.bo, "memory show")               // answered once all before is logged
	if kept := s.calendar(t); len(kept) != 0 {
		t.Errorf("kept before anybody agreed: %q", kept)
	}

	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	hidden := s.secret("backstage")
	stage := s.regatta()
	stage.Name = "Rehearsal"
	stage.ChannelID = &hidden.ID
	s.discord.Schedule(s.guild.ID, stage)
	open := s.addChannel("lounge")
	talk := s.regatta()
	talk.Name = "Talk"
	talk.ChannelID = &open.ID
	talk.Description = nil
	talk = s.discord.Schedule(s.guild.ID, talk)
	s.waitCalendar(t, "Talk: <t:1797102000:F> – <t:1797109200:F>, <#"+open.ID.String()+">")
	for _, l := range s.lore() {
		if l.Channel != memory.ChannelID(open.ID) {
			t.Errorf("%q may be told in channel %d", l.Name, l.Channel)
		}
	}
	talk.ChannelID = &hidden.ID
	s.discord.Schedule(s.guild.ID, talk)
	s.waitCalendar(t)
}
