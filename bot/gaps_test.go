package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/discordtest"
	"hark/memory"
)

const month = 30 * 24 * time.Hour

// catching is a scene whose bot fetches what it missed.
func catching(t *testing.T) *scene {
	t.Helper()
	s := set(t)
	return s.with(t, Config{Token: s.discord.Token, CatchUp: month, Reconcile: true})
}

// resume runs another bot over the same log.
func (s *scene) resume(t *testing.T, cfg Config) *scene {
	t.Helper()
	cfg.Token = s.discord.Token
	return s.with(t, cfg).run(t)
}

// mirrors waits until the log has a channel's messages as Discord has them.
func (s *scene) mirrors(t *testing.T, channel discordtest.ID) {
	t.Helper()
	var theirs []string
	for _, m := range s.discord.Messages(channel) {
		theirs = append(theirs, fmt.Sprintf("%d %s", m.ID, m.Content))
	}
	var ours []string
	s.log.wait(t, "what Discord has", func() bool {
		ours = nil
		for _, m := range s.log.state(t, memory.ChannelID(channel)) {
			ours = append(ours, fmt.Sprintf("%d %s", m.ID, m.Content))
		}
		return slices.Equal(ours, theirs)
	})
}

// missedSome is a scene that heard three messages, and missed three.
func missedSome(t *testing.T) *scene {
	t.Helper()
	s := catching(t).run(t).ready(t)
	s.say(s.channel, 3, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.say(s.channel, 3, "missed")
	return s
}

func (s *scene) say(channel discordtest.ID, n int, what string) []discordtest.ID {
	var ids []discordtest.ID
	for i := range n {
		ids = append(ids, s.discord.Say(channel, s.ana.ID, fmt.Sprint(what, " ", i)).ID)
	}
	return ids
}

// filled waits until there are no gaps.
func (s *scene) filled(t *testing.T) {
	t.Helper()
	s.log.wait(t, "all gaps to be filled", func() bool {
		gaps, _ := s.log.Gaps(t.Context(), memory.Everywhere, false)
		return len(gaps) == 0
	})
}

// fetches counts requests for a channel's messages.
func (s *scene) fetches(channel discordtest.ID) int {
	n := 0
	for _, r := range s.discord.Requests() {
		if r.Method == "GET" && r.Path == fmt.Sprintf("/channels/%d/messages", channel) {
			n++
		}
	}
	return n
}

// Whatever changed during downtime, the log becomes as Discord is, and nothing is fetched twice.
func TestTheLogIsAsDiscordAfterDowntime(t *testing.T) {
	t.Parallel()
	thread := func(s *scene, name string, kind discordtest.ChannelType) discordtest.ID {
		return s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: name, Type: kind, ParentID: &s.channel,
			Invited: []discordtest.ID{s.discord.Bot.ID}}).ID
	}
	for name, tt := range map[string]struct {
		before int // messages of each channel
		away   func(s *scene, quiet, public, private discordtest.ID)
	}{
		"much is said": {5, func(s *scene, quiet, _, _ discordtest.ID) {
			s.say(s.channel, 250, "missed")
			for _, channel := range []discordtest.ID{s.channel, quiet} { // in one of which nothing else is missing
				said := s.discord.Messages(channel)
				s.discord.Edit(channel, said[1].ID, "edited")
				s.discord.Delete(channel, said[2].ID)
			}
		}},
		"there are new places": {1, func(s *scene, _, _, _ discordtest.ID) {
			s.say(s.addChannel("fresh").ID, 2, "fresh")
			s.say(thread(s, "thread", discordtest.PublicThread), 2, "thread")
		}},
		"Discord is late to tell the newest": {1, func(s *scene, quiet, _, _ discordtest.ID) {
			s.say(s.channel, 2, "missed")
			s.discord.FreezeLastMessage(s.channel)
			s.discord.FreezeLastMessage(quiet)
			s.say(s.channel, 120, "told late")
			s.say(quiet, 2, "told late")
		}},
		"threads are archived": {2, func(s *scene, _, public, private discordtest.ID) {
			for _, id := range []discordtest.ID{public, private, thread(s, "unknown", discordtest.PublicThread)} {
				s.say(id, 3, "missed")
				s.archive(id)
			}
			s.discord.Delete(public, s.discord.Messages(public)[0].ID)
		}},
		"all of a channel is deleted": {3, func(s *scene, _, _, _ discordtest.ID) {
			for _, m := range s.discord.Messages(s.channel) {
				s.discord.Delete(s.channel, m.ID)
			}
		}},
		// also where a page holds nothing that is remembered
		"old messages are changed": {400, func(s *scene, _, _, _ discordtest.ID) {
			said := s.discord.Messages(s.channel)
			s.discord.Edit(s.channel, said[1].ID, "edited")
			gone := []discordtest.ID{said[0].ID, said[399].ID}
			for _, m := range said[100:350] {
				gone = append(gone, m.ID)
			}
			s.discord.BulkDelete(s.channel, gone...)
			s.discord.Inject("GET /channels/*/messages", 1, discordtest.ServerError())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := catching(t)
			quiet := s.addChannel("quiet").ID
			public, private := thread(s, "public", discordtest.PublicThread),
				thread(s, "private", discordtest.PrivateThread)
			s.run(t).ready(t)
			for _, id := range []discordtest.ID{s.channel, quiet, public, private} {
				s.say(id, tt.before, "before")
				s.mirrors(t, id)
			}
			s.stop(t)
			s.discord.Advance(time.Hour)
			tt.away(s, quiet, public, private)
			s.resume(t, Config{CatchUp: month, Reconcile: true})
			s.discord.WaitReady()
			s.say(s.channel, 3, "live")
			for _, id := range s.discord.Channels(s.guild.ID) {
				s.mirrors(t, id)
			}
			s.out.wait(t, "caught up with Discord")
			if strings.Contains(s.out.String(), "missed 1") {
				t.Error("what was said is in the journal")
			}
			s.stop(t)
			was := s.fetches(quiet)
			s.resume(t, Config{CatchUp: month})
			s.discord.WaitReady()
			s.say(s.channel, 1, "later")
			s.mirrors(t, s.channel)
			s.stop(t)
			if s.fetches(quiet) != was {
				t.Error("what was fetched is fetched again")
			}
		})
	}
}

// The gap is logged before the first live message, which would hide it.
func TestGapIsKeptBeforeWhatComesLive(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	s.say(s.channel, 1, "before")
	s.mirrors(t, s.channel)
	fetch := s.discord.Inject("GET /channels/*/messages", 1, discordtest.Hang())
	s.discord.RefuseResumes(1)
	s.discord.Drop()
	s.say(s.channel, 10, "missed")
	s.discord.WaitFor("a session", func() bool { return s.discord.Identifies() == 2 })
	s.discord.WaitReady()
	s.say(s.channel, 1, "live")
	s.log.waitSaid(t, "them: live 0")
	fetch.WaitHits(1)
	s.stop(t) // in the middle of the fill: what is missing must be known
	if gaps, _ := s.log.Gaps(t.Context(), memory.Everywhere, false); len(gaps) != 1 || gaps[0].Fetched != 0 {
		t.Errorf("missing: %+v", gaps)
	}
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	s.mirrors(t, s.channel)
}

func TestFillGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := catching(t).run(t).ready(t)
	s.say(s.channel, 1, "before")
	s.mirrors(t, s.channel)
	s.stop(t)
	s.say(s.channel, 350, "missed")
	s.resume(t, Config{CatchUp: month})
	s.log.wait(t, "the second page", func() bool {
		e, ok := find(s.log, func(memory.GapFilled) bool { return true })
		return ok && e.Gap.Fetched >= 200
	})
	s.stop(t)
	e, _ := find(s.log, func(e memory.GapFilled) bool { return e.Gap.Fetched >= 200 })
	s.resume(t, Config{CatchUp: month})
	s.mirrors(t, s.channel)
	s.filled(t)
	first := 0
	for _, p := range eventsOf[memory.Posted](s.log) {
		if p.Message.ID <= e.Through && strings.HasPrefix(p.Message.Content, "missed") {
			first++
		}
	}
	if first != e.Gap.Fetched {
		t.Errorf("%d messages up to where the first fill came, which fetched %d", first, e.Gap.Fetched)
	}
}

func TestWhatIsntToBeFetched(t *testing.T) {
	t.Parallel()
	s := catching(t)
	closed := s.addChannel("closed", discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory)).ID
	s.run(t).ready(t)
	s.say(s.channel, 3, "before")
	s.say(closed, 3, "closed")
	s.mirrors(t, closed)
	s.stop(t)

	s.say(closed, 3, "unread")
	s.say(s.channel, 2, "too old")
	s.discord.Advance(2 * time.Hour)
	s.say(s.channel, 2, "young")
	s.resume(t, Config{CatchUp: time.Hour, Reconcile: true})
	s.log.waitSaid(t, "them: young 1")
	s.say(s.channel, 1, "live")
	s.log.waitSaid(t, "them: live 0")
	s.filled(t)
	for _, line := range s.log.said() {
		if strings.Contains(line, "too old") || strings.Contains(line, "unread") || strings.Contains(line, "delete") {
			t.Errorf("logged %q", line)
		}
	}
	if s.fetches(closed) != 0 {
		t.Error("a channel was fetched whose past may not be read")
	}
}

// Discord shows an empty past to those who may not read it.
func TestEmptyPastIsDoubted(t *testing.T) {
	t.Parallel()
	s := missedSome(t)
	hang := s.discord.Inject("GET /channels/*/messages", 1, discordtest.Hang())
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	hang.WaitHits(1)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory))
	hang.Release()
	s.out.wait(t, discord.ErrUnreadable.Error())
	waitLogged(t, s.log, "that Hark is shut out", func(memory.ShutOut) bool { return true })
	if gaps, _ := s.log.Gaps(t.Context(), memory.Everywhere, false); len(gaps) != 1 {
		t.Errorf("missing: %+v", gaps)
	}
	s.stop(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, discordtest.ReadMessageHistory, 0))
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	s.mirrors(t, s.channel)
}

// Discord may tell of a channel's newest message before it lists it.
func TestEmptyPageOfANewMessageIsDoubted(t *testing.T) {
	t.Parallel()
	s := missedSome(t)
	empty := s.discord.Inject("GET /channels/*/messages", 1, discordtest.Untold("[]"))
	s.with(t, Config{CatchUp: month, Token: s.discord.Token})
	s.bot.timing.ingest.Aside = 0
	s.bot.timing.ingest.Fill = 5 * time.Millisecond
	s.run(t)
	empty.WaitHits(1)
	s.mirrors(t, s.channel)
}

// A message in a thread that wakes doesn't hide what was missed there.
func TestThreadThatWakesTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := set(t)
	cfg := Config{CatchUp: month} // the archive is searched too late for this test
	thread := s.addThread("thread", s.channel).ID
	cfg.Token = s.discord.Token
	s.with(t, cfg).run(t).ready(t)
	s.say(thread, 1, "before")
	s.mirrors(t, thread)
	s.stop(t)
	s.say(thread, 3, "missed")
	set := func(archived bool) {
		s.discord.UpdateChannel(thread, func(c *discordtest.Channel) {
			meta := *c.Thread
			meta.Archived = archived
			c.Thread = &meta
		})
	}
	set(true)
	search := s.discord.Inject("GET /channels/*/threads/archived/*", 10, discordtest.Forbidden())
	s.resume(t, cfg)
	search.WaitHits(1)
	set(false)
	s.say(thread, 1, "live")
	s.mirrors(t, thread)
}

func TestGapThatIsRefusedEnds(t *testing.T) {
	t.Parallel()
	s := catching(t)
	s.bot.timing.ingest.Fill = 5 * time.Millisecond
	s.run(t).ready(t)
	gap := memory.Gap{Guild: s.guildID, Channel: 12345, Until: 99999, Past: true}
	s.apply(t, memory.GapFound{Gap: gap})
	s.filled(t)
	s.discord.Inject("GET /channels/*/messages", 1, discordtest.RateLimited(10*time.Millisecond))
	s.discord.Inject("GET /channels/*/messages", 1, discordtest.BadGateway())
	id := s.say(s.channel, 1, "one")[0]
	gap.Channel, gap.Until = s.channelID, memory.MessageID(id)
	s.apply(t, memory.GapFound{Gap: gap})
	s.filled(t)
	if n := s.fetches(s.channel); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestGuildThatRemovedHarkMeanwhileIsLeft(t *testing.T) {
	t.Parallel()
	s := catching(t)
	other := s.discord.AddGuild("Other")
	s.run(t).ready(t)
	waitLogged(t, s.log, "the other guild", func(e memory.GuildSeen) bool {
		return e.Guild.ID == memory.GuildID(other.ID)
	})
	s.discord.Outage(other.ID, false)
	s.say(s.channel, 1, "outage")
	s.log.waitSaid(t, "them: outage 0")
	left := func(id discordtest.ID) bool {
		_, ok := find(s.log, func(e memory.GuildLeft) bool { return e.Guild == memory.GuildID(id) })
		return ok
	}
	if left(other.ID) {
		t.Error("a guild in an outage counts as left")
	}
	s.stop(t)
	s.discord.Outage(other.ID, true)
	s.discord.RemoveGuild(other.ID)
	s.resume(t, Config{CatchUp: month})
	s.log.wait(t, "the guild's end", func() bool { return left(other.ID) })
	if left(s.guild.ID) {
		t.Error("a guild that is there counts as left")
	}
	s.discord.RemoveGuild(s.guild.ID)
	s.log.wait(t, "the removal", func() bool { return left(s.guild.ID) })
}

func TestDirectMessagesAreCaughtUp(t *testing.T) {
	t.Parallel()
	s := set(t)
	cfg := Config{Token: s.discord.Token, CatchUp: month, Reconcile: true, Policy: memory.Policy{Direct: true}}
	s.with(t, cfg).run(t).ready(t)
	first := s.discord.DM(s.ana.ID, "hello")
	s.answered(t, first.ChannelID, "Friday")
	s.stop(t)
	s.discord.Advance(time.Minute)
	s.discord.DM(s.ana.ID, "are you there?")
	s.discord.Edit(first.ChannelID, first.ID, "hello!")
	s.resume(t, cfg)
	s.log.waitSaid(t, "them: are you there?")
	s.log.waitSaid(t, "them: hello!")
}

// A channel that is closed for a while keeps its gap.
func TestGapOfAChannelThatIsClosedForAWhile(t *testing.T) {
	t.Parallel()
	s := missedSome(t)
	fetch := s.discord.Inject("GET /channels/*/messages", 1, discordtest.Forbidden())
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	fetch.WaitHits(1)
	s.logs(t, "403")
	s.say(s.channel, 1, "live")
	s.stop(t)
	if gaps, _ := s.log.Gaps(t.Context(), memory.Everywhere, false); len(gaps) != 1 {
		t.Fatalf("gaps are %v", gaps)
	}
	s.resume(t, Config{CatchUp: month, Reconcile: true})
	s.mirrors(t, s.channel)
	s.filled(t)
}
