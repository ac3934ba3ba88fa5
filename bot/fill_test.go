package bot

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// isToCompare reports whether something of a channel is to be compared.
func (s *scene) isToCompare(id discordtest.ID) bool {
	all, _ := s.log.Gaps(context.Background(), memory.GuildID(s.guild.ID), true)
	return slices.ContainsFunc(all, func(g memory.Gap) bool { return g.Channel == memory.ChannelID(id) })
}

// A long backfill doesn't put off the look whether what is remembered was deleted during downtime.
func TestDeletionsAreNoticedDuringABackfill(t *testing.T) {
	t.Parallel()
	s := beginning(t, 0)
	long := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "long"}) // whose turn is after the other's
	s.say(long.ID, 1000, "past")
	s.discord.Advance(24 * time.Hour)
	g := s.gated(t, 2)
	s.run(t).ready(t)
	s.waitRegistered()
	said := s.posts(t, s.channel, s.bo.ID, "secret")
	s.discord.Slash(long.ID, s.ana.ID, "hark backfill").Wait()
	<-g.held
	s.stops(t)
	s.discord.Delete(s.channel, said.ID) // while it is away
	s.withPolicy(t)
	s.bot.ingest.Reconcile, s.bot.ingest.CatchUp = true, month
	s.bot.timing.commands.Backfill, s.bot.timing.ingest.Fill = time.Millisecond, time.Millisecond
	again, before := s.gated(t, 0), len(s.discord.Requests())
	s.run(t)
	<-again.held
	s.discord.WaitFor("what is to be compared", func() bool { return s.isToCompare(s.channel) })
	close(again.open)
	s.log.waitSaid(t, "delete 1")
	s.filled(t)
	compared, pages := -1, 0
	for _, r := range s.discord.Requests()[before:] {
		switch r.Path {
		case fmt.Sprintf("/channels/%d/messages", s.channel):
			compared = max(compared, pages)
		case fmt.Sprintf("/channels/%d/messages", long.ID):
			pages++
		}
	}
	if compared < 0 || compared > pages/2 {
		t.Errorf("the channel was compared after %d of %d pages of the other's past", compared, pages)
	}
}
