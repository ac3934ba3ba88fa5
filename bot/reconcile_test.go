package bot

import (
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

func TestAllOfAChannelDeletedUnheard(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	ids := s.say(s.channel, 3, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.discord.BulkDelete(s.channel, ids...)
	s.resume(t, Config{CatchUp: month, Reconcile: 500})
	s.mirrors(t, s.channel)
	s.log.waitSaid(t, "delete 3")
}

func TestOnlyWhatWasComparedIsDeleted(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	ids := s.say(s.channel, 150, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.discord.BulkDelete(s.channel, ids[0], ids[120], ids[149])
	s.resume(t, Config{CatchUp: month, Reconcile: 100})
	s.log.waitSaid(t, "delete 2")
	s.out.wait(t, caughtUp)
	s.stop(t)
	gone, _ := find(s.log, func(memory.Deleted) bool { return true })
	if !slices.Equal(gone.IDs, []memory.MessageID{memory.MessageID(ids[120]), memory.MessageID(ids[149])}) {
		t.Errorf("deleted %v", gone.IDs)
	}
}

// What Discord wasn't asked for isn't gone: bots may have written much since that isn't logged.
func TestWhatLiesFurtherBackIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	s.say(s.channel, 2, "before")
	for range 250 {
		s.discord.Say(s.channel, s.ana.ID, "beep", discordtest.ViaWebhook("beeper"))
	}
	last := s.say(s.channel, 1, "last")[0]
	s.log.waitSaid(t, "them: last 0")
	s.stop(t)
	s.discord.Delete(s.channel, last)
	s.resume(t, Config{CatchUp: month, Reconcile: 100})
	s.log.waitSaid(t, "delete 1")
	s.out.wait(t, caughtUp)
	s.stop(t)
	if gone, _ := find(s.log, func(memory.Deleted) bool { return true }); !slices.Equal(gone.IDs, []memory.MessageID{memory.MessageID(last)}) {
		t.Errorf("deleted %v", gone.IDs)
	}
}

// What was deleted while nobody listened isn't told: whoever asks finds that it is gone, and not what is merely out of
// sight or in the archive.
func TestChannelsDeletedUnheard(t *testing.T) {
	t.Parallel()
	s := catching(t)
	make := func(name string, kind discordtest.ChannelType) discordtest.ID {
		c := discordtest.Channel{Name: name, Type: kind}
		if kind == discordtest.PublicThread {
			c.ParentID = &s.channel
		}
		return s.discord.AddChannel(s.guild.ID, c).ID
	}
	deleted, hidden := make("deleted", discordtest.Text), make("hidden", discordtest.Text)
	thread, archived := make("thread", discordtest.PublicThread), make("archived", discordtest.PublicThread)
	s.run(t).ready(t)
	for _, id := range []discordtest.ID{deleted, hidden, thread, archived} {
		s.say(id, 1, "before")
		s.mirrors(t, id)
	}
	s.stop(t)
	s.discord.RemoveChannel(deleted)
	s.discord.RemoveChannel(thread)
	s.discord.SetOverwrite(hidden, discordtest.ForMember(s.discord.Bot.ID, discordtest.ViewChannel, 0))
	s.discord.UpdateChannel(archived, func(c *discordtest.Channel) {
		meta := *c.Thread
		meta.Archived = true
		c.Thread = &meta
	})
	s.discord.Inject("GET /channels/*", 1, discordtest.ServerError())
	s.resume(t, Config{CatchUp: month, Reconcile: 500})
	gone := func() (ids []discordtest.ID) {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		for _, e := range s.log.events {
			if e, ok := e.(memory.ChannelDeleted); ok {
				ids = append(ids, discordtest.ID(e.Channel))
			}
		}
		return ids
	}
	s.log.wait(t, "both deletions", func() bool { return len(gone()) == 2 })
	s.out.wait(t, caughtUp)
	s.stop(t)
	if got := gone(); !slices.Equal(got, []discordtest.ID{deleted, thread}) {
		t.Errorf("deleted were %v, want %v", got, []discordtest.ID{deleted, thread})
	}
}

func TestDeletedInTheArchive(t *testing.T) {
	t.Parallel()
	s := catching(t)
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &s.channel}).ID
	s.run(t).ready(t)
	ids := s.say(thread, 3, "before")
	s.discord.UpdateChannel(thread, func(c *discordtest.Channel) {
		meta := *c.Thread
		meta.Archived = true
		c.Thread = &meta
	})
	s.discord.Advance(time.Minute)
	s.say(s.channel, 1, "after that")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.discord.Delete(thread, ids[1])
	s.resume(t, Config{CatchUp: month, Reconcile: 500})
	s.mirrors(t, thread)
}
