package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
	"hark/memory/sqlite"
)

// newPresent is a world whose clock is ahead of Hark's, so that everything there is said after Hark came.
func newPresent(t *testing.T) *world {
	return newWorld(t, discordtest.WithTime(time.Now().Add(time.Minute)))
}

// said returns the texts in Hark's store by channel, without Hark's own, once Hark has stopped.
func (w *world) said(channels ...discordtest.ID) []string {
	w.Helper()
	var lines []string
	opened(w, w.env["HARK_DATA"], func(store *sqlite.Store) error {
		gaps, err := store.Gaps(w.Context(), memory.Everywhere, false)
		if len(gaps) != 0 {
			w.Errorf("missing: %+v", gaps)
		}
		for _, c := range channels {
			messages, failed := store.Log(w.Context(), memory.ChannelID(c), 0, 1<<62, 1<<20)
			for _, m := range messages {
				if m.Kind != memory.FromHark {
					lines = append(lines, fmt.Sprintf("%d/%d by %d edited %v: %s", c, m.ID, m.Author,
						!m.Edited.IsZero(), m.Content))
				}
			}
			err = errors.Join(err, failed)
		}
		return err
	})
	return lines
}

func (w *world) truth(channels ...discordtest.ID) []string {
	var lines []string
	for _, c := range channels {
		for _, m := range w.discord.Messages(c) {
			if m.Author.ID != w.discord.Bot.ID {
				lines = append(lines, fmt.Sprintf("%d/%d by %d edited %v: %s", c, m.ID, m.Author.ID,
					m.EditedTimestamp != nil, m.Content))
			}
		}
	}
	return lines
}

func (w *world) mirrors(channels ...discordtest.ID) {
	w.Helper()
	got, want := w.said(channels...), w.truth(channels...)
	for _, line := range want {
		if !slices.Contains(got, line) {
			w.Errorf("not in memory: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			w.Errorf("in memory, and not in Discord: %s", line)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%d messages in memory, %d in Discord", len(got), len(want))
	}
}

// caughtUp waits until Hark has logged n times that it caught up.
func (w *world) caughtUp(n int) {
	w.Helper()
	w.discord.WaitFor("Hark to catch up", func() bool {
		return len(regexp.MustCompile(`"gaps":\d+,"edited"`).FindAllString(w.log.String(), -1)) >= n
	})
}

// chatter says n things in channels by turns.
func (w *world) chatter(n int, what string, channels ...discordtest.ID) map[discordtest.ID][]discordtest.ID {
	said := map[discordtest.ID][]discordtest.ID{}
	for i := range n {
		c := channels[i%len(channels)]
		said[c] = append(said[c], w.discord.Say(c, w.jane.ID, fmt.Sprintf("%s %d", what, i)).ID)
	}
	return said
}

func TestConnectionLostAndResumeRefused(t *testing.T) {
	t.Parallel()
	w := newPresent(t)
	thread := w.discord.AddChannel(w.guild.ID,
		discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &w.general.ID}).ID
	quiet := w.discord.AddChannel(w.guild.ID, discordtest.Channel{Name: "quiet"}).ID
	channels := []discordtest.ID{w.general.ID, w.staff.ID, thread}
	all := append(slices.Clone(channels), quiet)
	w.start()
	old := w.chatter(80, "before", all...)
	w.ask(w.general, w.ana, "did you hear that?") // then all before is logged
	sessions := w.discord.Identifies()

	w.discord.RefuseResumes(1)
	w.discord.Drop()
	w.discord.Advance(time.Minute)
	w.chatter(500, "missed", channels...)
	for i := range 20 {
		c := all[i%len(all)]
		w.discord.Edit(c, old[c][i/len(all)], fmt.Sprintf("edited %d", i))
	}
	for i := range 20 {
		c := all[i%len(all)]
		w.discord.Delete(c, old[c][10+i/len(all)])
	}
	w.waitSession(sessions + 1)
	live := w.chatter(12, "live", all...)
	w.discord.Edit(quiet, live[quiet][0], "live, and edited")
	w.caughtUp(1)
	w.ask(w.general, w.ana, "and that?")
	w.stopWell()
	w.mirrors(all...)
	for _, text := range []string{"missed", "before", "live, and"} {
		w.lacks(w.log.String(), text+" 1")
	}
	// A slow machine may hear the last of it live.
	for _, fetched := range []string{`"messages":([1-9][0-9]*),"gaps":3`, `"deleted":([1-9][0-9]*)`} {
		w.waitLog(fetched)
	}
}

// TestKilledInTheMiddleOfAFill kills one Hark while it fetches what it missed, and stops the next.
func TestKilledInTheMiddleOfAFill(t *testing.T) {
	t.Parallel()
	w := newPresent(t)
	kill := w.child()
	w.waitSession(1)
	w.chatter(5, "before", w.general.ID)
	w.ask(w.general, w.ana, "did you hear that?")
	kill()
	w.discord.Advance(time.Hour)
	w.chatter(450, "missed", w.general.ID)

	kill = w.child()
	w.interruptFill(w.general.ID, func() { w.waitSession(2) }, kill)
	w.discord.Delete(w.general.ID, w.discord.Messages(w.general.ID)[1].ID)
	w.chatter(5, "missed as well", w.general.ID)
	w.interruptFill(w.general.ID, w.start, func() {
		w.stopWell()
	})
	w.start()
	w.caughtUp(1)
	w.stopWell()
	w.mirrors(w.general.ID)
}

// interruptFill starts a Hark, and stops it while it fetches the second page.
func (w *world) interruptFill(channel discordtest.ID, start, stop func()) {
	w.Helper()
	messages := fmt.Sprintf("GET /channels/%d/messages", channel)
	first := w.discord.Inject(messages, 1, discordtest.Hang())
	start()
	first.WaitHits(1)
	rest := w.discord.Inject(messages, 1, discordtest.Hang())
	w.chatter(3, "live", channel)
	first.Release()
	rest.WaitHits(1)
	stop()
	rest.Release()
}

// TestThisMachinesClockIsAhead lets Hark join by a clock that is ten minutes ahead of Discord's. What it misses right
// afterwards is older than its own clock's moment of joining.
func TestThisMachinesClockIsAhead(t *testing.T) {
	t.Parallel()
	const behind = -10 * time.Minute
	w := newWorld(t, discordtest.WithTime(time.Now().Add(behind)), discordtest.WithDateOff(behind))
	w.start()
	w.discord.Advance(time.Minute)
	w.chatter(4, "heard", w.general.ID)
	w.ask(w.general, w.ana, "did you hear that?")
	sessions := w.discord.Identifies()

	w.discord.RefuseResumes(1)
	w.discord.Drop()
	w.discord.Advance(time.Second)
	w.chatter(20, "missed", w.general.ID, w.staff.ID)
	w.waitSession(sessions + 1)
	w.caughtUp(1)
	w.stopWell()
	w.mirrors(w.general.ID, w.staff.ID)
	w.waitLog(`"ahead":"(10m0s|9m59s)"`)
}
