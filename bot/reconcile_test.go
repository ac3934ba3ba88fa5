package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// What is used before it is compared is looked up: deleted or unreadable messages aren't used, edited ones are fresh.
func TestWhatIsUsedBeforeItIsComparedIsLookedUp(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	s.say(s.channel, 1, "first")
	old := s.addChannel("old").ID
	ids := s.say(old, 3, "old")
	closed := s.addChannel("closed").ID
	s.say(closed, 1, "closed")
	s.mirrors(t, old)
	s.mirrors(t, closed)
	var known []memory.Message
	for _, c := range []discordtest.ID{s.channel, old, closed} {
		known = append(known, s.log.state(t, memory.ChannelID(c))...)
	}
	s.stop(t)
	s.discord.Delete(old, ids[0])
	s.discord.Edit(old, ids[1], "edited")
	s.discord.SetOverwrite(closed, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ViewChannel))
	s.with(t, Config{Token: s.discord.Token, CatchUp: month, Reconcile: true})
	s.bot.timing.ingest.Sweep = time.Hour
	s.run(t)
	s.log.wait(t, "the first channel to be compared", func() bool {
		return !s.isToCompare(s.channel) && s.isToCompare(old) && s.isToCompare(closed)
	})
	for range 2 {
		before := s.fetches(old)
		found, err := s.bot.LookUp(t.Context(), known, time.Minute)
		var said []string
		for _, m := range found {
			said = append(said, m.Content)
		}
		if want := []string{"first 0", "edited", "old 2"}; !slices.Equal(said, want) || err != nil {
			t.Errorf("may be used: %q, %v", said, err)
		}
		known = found
		if before > 0 && s.fetches(old) != before {
			t.Error("what was looked up is looked up again")
		}
	}
	s.mirrors(t, old)
}

// Messages before the fetched page aren't taken for deleted.
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
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	s.log.waitSaid(t, "delete 1")
	s.out.wait(t, "caught up with Discord")
	s.stop(t)
	if gone, _ := find(s.log, func(memory.Deleted) bool { return true }); !slices.Equal(gone.IDs,
		[]memory.MessageID{memory.MessageID(last)}) {
		t.Errorf("deleted %v", gone.IDs)
	}
}

// Channels deleted during downtime are found to be gone, but not hidden or archived ones.
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
	s.archive(archived)
	s.discord.Inject("GET /channels/*", 1, discordtest.ServerError())
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	gone := func() (ids []discordtest.ID) {
		for _, e := range eventsOf[memory.ChannelDeleted](s.log) {
			ids = append(ids, discordtest.ID(e.Channel))
		}
		return ids
	}
	s.log.wait(t, "both deletions", func() bool { return len(gone()) >= 2 })
	s.out.wait(t, "caught up with Discord")
	s.stop(t)
	if got := slices.Compact(slices.Sorted(slices.Values(gone()))); !slices.Equal(got,
		[]discordtest.ID{deleted, thread}) {
		t.Errorf("deleted were %v, want %v", got, []discordtest.ID{deleted, thread})
	}
}

// One refusal doesn't shut a channel that Hark may read.
func TestARefusalShutsNoChannelThatMayBeRead(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	ids := s.say(s.channel, 3, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.discord.Delete(s.channel, ids[0])
	refused := s.discord.Inject("GET /channels/*/messages", 1, discordtest.Forbidden())
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	refused.WaitHits(1)
	s.discord.WaitFor("the channel to be set aside, or shut", func() bool {
		_, shut := find(s.log, func(memory.ShutOut) bool { return true })
		return shut || strings.Contains(s.out.String(), "couldn't compare")
	})
	if e, shut := find(s.log, func(memory.ShutOut) bool { return true }); shut {
		t.Errorf("shut: %+v", e)
	}
}
