package bot

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/discordtest"
	"hark/memory"
)

// gate holds up requests for messages after the first few.
type gate struct {
	next http.RoundTripper
	mu   sync.Mutex
	left int
	open chan struct{}
	held chan struct{} // closed when one is held up
	once sync.Once
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/messages") {
		g.mu.Lock()
		g.left--
		waits := g.left < 0
		g.mu.Unlock()
		if waits {
			g.once.Do(func() { close(g.held) })
			select {
			case <-g.open:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
	}
	return g.next.RoundTrip(r)
}

// gated puts a gate before a bot that isn't running yet, which lets so many pages pass.
func (s *scene) gated(t *testing.T, pages int) *gate {
	t.Helper()
	g := &gate{next: s.discord.Client().Transport, left: pages, open: make(chan struct{}), held: make(chan struct{})}
	s.bot.cfg.Client = &http.Client{Transport: g}
	rest, err := discord.NewClient(s.bot.cfg.discord())
	if err != nil {
		t.Fatal(err)
	}
	*s.bot.ingest.Client = *rest
	return g
}

// beginning is a scene, not running yet, with messages from before Hark came. Its guild is remembered.
func beginning(t *testing.T, messages int) *scene {
	t.Helper()
	s := asking(t)
	s.bot.timing.commands.Backfill = time.Millisecond
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.say(s.channel, messages, "past")
	s.discord.Advance(24 * time.Hour)
	return s
}

func TestThePastOfAChannelIsFetched(t *testing.T) {
	t.Parallel()
	s := beginning(t, 250)
	thread := s.addThread("more", s.channel)
	s.say(thread.ID, 3, "in the thread")
	g := s.gated(t, 3) // of which one is the thread's
	s.run(t).ready(t)
	i := s.discord.Slash(s.channel, s.ana.ID, "hark backfill")
	<-g.held
	s.lately(t, i, "203")
	// Others who ask are shown the same.
	again := s.discord.Slash(s.channel, s.ana.ID, "hark backfill", opt("since", "1d"))
	s.lately(t, again, "203")
	s.lately(t, s.discord.Slash(s.channel, s.ana.ID, "hark backfill", opt("since", "2000d")), "203")
	close(g.open)
	for _, i := range []*discordtest.Interaction{i, again} {
		if m := s.turns(t, i); len(m.Components) > 0 {
			t.Errorf("in the end there are buttons: %s", m.Components)
		}
	}
	s.filled(t)
	s.mirrors(t, s.channel)
	s.mirrors(t, thread.ID)
	if _, heard := find(s.log, func(h memory.Heard) bool { return true }); heard {
		t.Error("what was asked for counts as heard")
	}
	s.discord.WaitFor("nobody to watch any more", func() bool {
		return s.bot.filler.Watchers() == 0
	})
}

func TestBackfillIsCancelledAndBegunAgain(t *testing.T) {
	t.Parallel()
	s := beginning(t, 350)
	g := s.gated(t, 2)
	s.run(t).ready(t)
	live := s.say(s.channel, 1, "live")
	s.log.waitSaid(t, "them: live 0")
	i := s.discord.Slash(s.channel, s.ana.ID, "hark backfill")
	<-g.held
	m := s.lately(t, i, "200")
	id := fmt.Sprintf("%s:%d", stopsBackfill, s.channel)
	s.says(t, s.discord.Click(m.Message, s.bo.ID, id).WaitMessage())
	stop := s.discord.Click(m.Message, s.ana.ID, id)
	s.discord.WaitFor("the end of it", func() bool { return len(stop.WaitMessage().Components) == 0 })
	s.filled(t) // nothing is left to do
	close(g.open)
	s.turns(t, stop)
	s.turns(t, i)
	// The rest can be asked for again.
	s.discord.Advance(time.Minute)
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark backfill"))
	s.mirrors(t, s.channel)
	if all := s.discord.Messages(s.channel); len(all) != 351 || all[350].ID != live[0] {
		t.Errorf("%d messages", len(all))
	}
}

func TestBackfillGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	s := beginning(t, 350)
	g := s.gated(t, 2)
	s.run(t).ready(t)
	s.discord.Slash(s.channel, s.ana.ID, "hark backfill").Wait()
	<-g.held
	s.stops(t)
	gaps, err := s.log.Gaps(t.Context(), memory.Everywhere, false)
	if err != nil || len(gaps) != 1 || gaps[0].Fetched != 200 {
		t.Fatalf("left: %+v, %v", gaps, err)
	}
	s.withPolicy(t)
	s.bot.timing.commands.Backfill, s.bot.timing.ingest.Fill = time.Millisecond, time.Millisecond
	g = s.gated(t, 1)
	s.begins(t)
	<-g.held
	i := s.discord.Slash(s.channel, s.ana.ID, "hark backfill")
	s.lately(t, i, "300")
	close(g.open)
	s.turns(t, i)
	s.mirrors(t, s.channel)
}

func TestWhatIsntBackfilled(t *testing.T) {
	t.Parallel()
	s := beginning(t, 2)
	s.bot.cfg.Retention = 12 * time.Hour
	closed := s.addChannel("closed", discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory))
	forum := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "forum", Type: discordtest.Forum})
	s.run(t).ready(t)
	s.says(t, s.use(t, s.ana, "hark backfill", opt("since", "long ago")))
	s.says(t, s.use(t, s.ana, "hark backfill", opt("channel", closed.ID)))
	s.says(t, s.use(t, s.ana, "hark backfill", opt("channel", forum.ID)))
	s.use(t, s.ana, "hark channel ignore")
	s.says(t, s.use(t, s.ana, "hark backfill"))
	s.use(t, s.ana, "hark channel log")
	// all of it is too old to be remembered
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark backfill"))
	s.say(s.channel, 1, "live")
	s.log.waitSaid(t, "them: live 0")
	s.says(t, s.use(t, s.ana, "hark backfill", opt("since", "0d")))
	if gaps, err := s.log.Gaps(t.Context(), memory.Everywhere, false); err != nil || len(gaps) > 0 {
		t.Errorf("left: %+v, %v", gaps, err)
	}
	s.says(t, s.discord.Click(s.use(t, s.ana, "hark channel ignore").Message, s.ana.ID,
		fmt.Sprintf("%s:%d", asksPurge, s.channel)).WaitMessage())
}

// The past of a channel and its threads includes what was said while it was ignored.
func TestTheHoleOfAnIgnoredChannelIsFetched(t *testing.T) {
	t.Parallel()
	s := beginning(t, 2)
	thread := s.addThread("more", s.channel)
	other := s.addChannel("other")
	s.run(t).ready(t)
	for _, id := range []discordtest.ID{s.channel, thread.ID} {
		s.say(id, 1, fmt.Sprint("before in ", id))
		s.log.waitSaid(t, fmt.Sprintf("them: before in %d 0", id))
	}
	s.use(t, s.ana, "hark channel ignore")
	for _, id := range []discordtest.ID{s.channel, thread.ID} {
		s.say(id, 3, "meanwhile")
	}
	s.say(other.ID, 1, "heard by then")
	s.log.waitSaid(t, "them: heard by then 0")
	s.discord.Advance(time.Hour)
	s.use(t, s.ana, "hark channel log")
	s.use(t, s.ana, "hark channel log") // which changes nothing
	s.discord.Advance(time.Hour)
	for _, id := range []discordtest.ID{s.channel, thread.ID} {
		s.say(id, 1, fmt.Sprint("after in ", id))
		s.log.waitSaid(t, fmt.Sprintf("them: after in %d 0", id))
	}
	set := 0
	find(s.log, func(e memory.SettingChosen) bool {
		if e.Key == memory.SettingPast {
			set++
		}
		return false
	})
	if set != 2 {
		t.Errorf("that there is a past was kept %d times", set)
	}
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark backfill"))
	s.mirrors(t, s.channel)
	s.mirrors(t, thread.ID)
}

// A past that Hark may no longer read is given up, and the answer says what is missing.
func TestAPastThatMayNotBeReadIsGivenUp(t *testing.T) {
	t.Parallel()
	s := beginning(t, 250)
	g := s.gated(t, 1)
	s.run(t).ready(t)
	i := s.discord.Slash(s.channel, s.ana.ID, "hark backfill")
	<-g.held
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.ReadMessageHistory))
	close(g.open)
	s.turns(t, i)
	s.filled(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, discordtest.ReadMessageHistory, 0))
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark backfill"))
	s.mirrors(t, s.channel)
}

// After 14 minutes Discord takes no more edits. The fetching goes on without.
func TestBackfillThatTakesLongGoesOnSilently(t *testing.T) {
	t.Parallel()
	s := beginning(t, 150)
	g := s.gated(t, 1)
	s.run(t).ready(t)
	i := s.discord.Slash(s.channel, s.ana.ID, "hark backfill")
	<-g.held
	s.discord.WaitFor("what was fetched to be shown", func() bool {
		return slices.ContainsFunc(s.edits(i), func(text string) bool { return strings.Contains(text, `\n100 `) })
	})
	s.discord.Advance(s.bot.timing.commands.Use)
	s.commandsEnd()
	s.discord.Advance(20 * time.Minute) // the fake refuses what comes now
	close(g.open)
	s.filled(t)
	s.mirrors(t, s.channel)
}

// edits are the requests that changed what an interaction shows.
func (s *scene) edits(i *discordtest.Interaction) (texts []string) {
	for _, r := range s.discord.Requests() {
		if r.Method == "PATCH" && strings.Contains(r.Path, i.Token) {
			texts = append(texts, string(r.Body))
		}
	}
	return texts
}

func (s *scene) commandsEnd() {
	s.discord.WaitFor("the end of all commands", s.bot.commands.Idle)
}

// isToCompare reports whether something of a channel is to be compared.
func (s *scene) isToCompare(id discordtest.ID) bool {
	all, _ := s.log.Gaps(context.Background(), s.guildID, true)
	return slices.ContainsFunc(all, func(g memory.Gap) bool { return g.Channel == memory.ChannelID(id) })
}

// A long backfill doesn't delay comparing what was deleted during downtime.
func TestDeletionsAreNoticedDuringABackfill(t *testing.T) {
	t.Parallel()
	s := beginning(t, 0)
	long := s.addChannel("long")
	s.say(long.ID, 1000, "past")
	s.discord.Advance(24 * time.Hour)
	g := s.gated(t, 2)
	s.run(t).ready(t)
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
