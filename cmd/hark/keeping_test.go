package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
)

// What admins have forgotten is gone from every byte of Hark's files when the receipt is there.
func TestPurgesReachEveryByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.guild.Owner.ID
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings")
	w.later()
	for who, text := range map[discordtest.ID]string{w.jane.ID: "canary-jane sings", w.ana.ID: "canary-ana sings"} {
		w.discord.Say(w.general.ID, who, text)
	}
	w.discord.Say(w.staff.ID, w.ana.ID, "canary-staff sings")
	w.ask(w.general, w.ana, "who sings?")
	w.settled()
	there := func(want string) {
		t.Helper()
		var left []string
		for _, canary := range []string{"canary-old", "canary-jane", "canary-ana", "canary-staff"} {
			if w.onDisk(canary) {
				left = append(left, strings.TrimPrefix(canary, "canary-"))
			}
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("left are %q, not %q", got, want)
		}
	}
	purge := func(m discordtest.Sent) {
		t.Helper()
		var id string
		for _, raw := range m.Components {
			if _, rest, found := strings.Cut(string(raw), `"custom_id":"`); found {
				id, _, _ = strings.Cut(rest, `"`)
			}
		}
		receipt := w.shown(w.discord.Click(m.Message, owner, id), "**Forgotten: ")
		if strings.Contains(receipt.Content, "Receipt 0,") {
			t.Errorf("the receipt has no number: %s", receipt.Content)
		}
	}
	there("old jane ana staff")
	purge(w.use(owner, "hark purge before", "- 1 ", given("before", "1h")))
	there("jane ana staff")
	purge(w.use(owner, "hark purge member", "- 1 ", given("member", w.jane.ID)))
	there("ana staff")
	purge(w.use(owner, "hark purge channel", "- 1 ", given("channel", w.staff.ID)))
	there("ana")
	w.restart()
	w.settled()
	there("ana")
	w.lacks(w.log.String(), "canary")
}

// A retention that is set holds within seconds, for that channel alone, and what comes in later is too old at once.
func TestRetentionOfAChannelHoldsSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithTime(time.Now().Add(-2*24*time.Hour)))
	owner := w.guild.Owner.ID
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings")
	w.discord.Say(w.staff.ID, w.jane.ID, "canary-staff sings")
	w.discord.Advance(47 * time.Hour)
	w.discord.Say(w.general.ID, w.jane.ID, "canary-young sings")
	w.settled()
	ask := w.use(owner, "hark retention", "- 1 ", given("keep", "1d"))
	if !w.onDisk("canary-old") {
		t.Error("it went before it was confirmed")
	}
	w.shown(w.discord.Click(ask.Message, owner, fmt.Sprintf("keep:%d:1d", w.general.ID)), "is remembered for")
	w.waitLog(`"why":"age","messages":(1),`)
	if w.onDisk("canary-old") || !w.onDisk("canary-young") || !w.onDisk("canary-staff") {
		t.Errorf("the old is there: %t, the young: %t, the other channel's: %t", w.onDisk("canary-old"), w.onDisk("canary-young"), w.onDisk("canary-staff"))
	}
	// What is fetched isn't older than that either.
	w.shown(w.discord.Slash(w.general.ID, owner, "hark backfill"), "Done")
	w.settled()
	if w.onDisk("canary-old") {
		t.Error("it was fetched again")
	}
}
