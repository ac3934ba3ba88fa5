package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// forgottenEach is how many messages a round posts in each of its two ways. Forgetting them takes several
// steps.
const forgottenEach = 520

// Each round posts canaries in its own channel and in one that stays, among messages of others. Then it
// forgets them by opt-out, by deleting the channel, or in other ways.
func roundUser(n int) memory.UserID       { return memory.UserID(5000 + n) }
func roundChannel(n int) memory.ChannelID { return memory.ChannelID(70_000 + n) }
func canaryOf(n, i int) string            { return fmt.Sprintf("canary%dx%dq", n, i) }
func staysOf(n, i int) string             { return fmt.Sprintf("stays%dx%dq", n, i) }

func roundEvents(n int) []memory.Event {
	base := n * 2 * forgottenEach
	var events []memory.Event
	for i := range forgottenEach {
		gone, stays := posted(roundChannel(n), base+2*i, canaryOf(n, i)+" common words"),
			posted(general, base+2*i+1, staysOf(n, i)+" common words")
		gone.Message.Author, stays.Message.Author = roundUser(n), 7
		if n%3 != 1 && i%2 == 0 { // also among what others said
			gone.Message.Channel = general
		}
		events = append(events, gone, stays)
	}
	return append(events,
		memory.PersonSeen{Person: memory.Person{Guild: guild, ID: roundUser(n), Username: canaryOf(n, 9001)}},
		memory.FactTold{Guild: guild, User: roundUser(n),
			Fact: memory.Fact{ID: int64(n + 1), Text: canaryOf(n, 9002), By: 1, Channel: roundChannel(n),
				Message: id(base + 2)}},
		memory.LoreTold{Lore: memory.Lore{ID: int64(2*n + 1), Guild: guild, Name: canaryOf(n, 9005),
			Text: canaryOf(n, 9006), Own: []string{canaryOf(n, 9007)}, By: roundUser(n), At: idAt(base)}},
		memory.LoreTold{Lore: memory.Lore{ID: int64(2*n + 2), Guild: guild, Name: canaryOf(n, 9008),
			Text: canaryOf(n, 9009), By: 7, At: idAt(base),
			Sources: []memory.MessageRef{{Channel: roundChannel(n), Message: id(base + 2)}}}},
		summedAs(roundChannel(n), base+2, canaryOf(n, 9010)), summedAs(general, base+1, staysOf(n, 9010)),
		memory.Recorded{Record: memory.Record{CallID: fmt.Sprintf("round%d", n), Timestamp: idAt(base + 2),
			Speaker: memory.SpeakerTool, Method: "search", Guild: guild,
			Channel: roundChannel(n), Question: id(base + 2), Asker: roundUser(n), Outcome: canaryOf(n, 9011)}},
		memory.ExternalIDSeen{Channel: roundChannel(n), ID: id(base + 2), ExternalID: canaryOf(n, 9003)},
		memory.Edited{Guild: guild, Channel: roundChannel(n), ID: id(base + 6), Content: canaryOf(n, 9004) +
			" after an edit", At: id(base + 900).Time()})
}

func summedAs(channel memory.ChannelID, n int, text string) memory.Event {
	e := summed(channel, n)
	e.Summary.Text, e.Summary.Topics = text, []string{text + "t"}
	return e
}

// TestForgetCrashChild is the process that TestCrashWhileForgetting kills.
func TestForgetCrashChild(t *testing.T) {
	s, first := childStore(t)
	for n := first; ; n++ {
		apply(t, s, roundEvents(n)...)
		fmt.Printf("said %d\n", n)
		at := id((n + 1) * 2 * forgottenEach).Time()
		step := func(done, _ int) { fmt.Printf("begun %d after %d\n", n, done) }
		var err error
		switch n % 3 {
		case 0:
			_, err = s.Forget(bg, memory.Forgetting{Guild: guild, User: roundUser(n), Why: memory.WhyMember,
				At: at}, step)
		case 1: // everything of the round is in its own channel
			apply(t, s, memory.ChannelDeleted{Guild: guild, Channel: roundChannel(n), At: at},
				memory.FactGone{Guild: guild, User: roundUser(n), Fact: int64(n + 1)})
			_, err = s.Forget(bg, memory.Forgetting{Guild: guild, User: roundUser(n), Why: memory.WhyMember,
				At: at}, step)
		case 2:
			apply(t, s, memory.Opted{Guild: guild, User: roundUser(n), Out: true, At: at})
			fmt.Printf("begun %d after 0\n", n)
			var unfinished []memory.DeletionReport
			if unfinished, err = s.Forgettings(bg, memory.Everywhere, 0); err == nil {
				_, err = s.Forget(bg, unfinished[len(unfinished)-1].Forgetting, step)
			}
		}
		must(t, err)
		fmt.Printf("receipt %d\n", n)
	}
}

// After a kill at any point, also during a forgetting, no read returns what was to be forgotten, and once
// the forgetting is complete the files hold nothing of it. Everything else stays.
func TestCrashWhileForgetting(t *testing.T) {
	t.Parallel()
	kills := 2
	if long {
		kills = 40
	}
	dir, next, inside := "", 0, 0
	for kill := range kills {
		if kill%2 == 0 { // for what stays is looked through each time
			dir = emptyDir(t)
		}
		said, begun, receipts := crashForgetting(t, dir, next, 1+rand.IntN(7))
		s := openOnce(t, dir)
		unfinished, err := s.Forgettings(bg, memory.Everywhere, 0)
		must(t, err)
		inside += len(unfinished)
		for n := next; n <= said; n++ {
			if n <= begun {
				checkUnread(t, s, n)
			}
			checkStays(t, s, n)
		}
		for _, f := range unfinished {
			if _, err := s.Forget(bg, f.Forgetting, nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := said; n > begun { // nothing had been begun yet, or nobody was told
			forgetRound(t, s, n)
		}
		checkSound(t, s)
		drain(t, s)
		closed(t, s)
		for n := next; n <= said; n++ {
			checkGone(t, dir, n)
		}
		if t.Failed() {
			t.Fatalf("killed after round %d was said, %d begun, %d had its receipt", said, begun, receipts)
		}
		next = said + 1
	}
	t.Logf("%d kills, %d in the midst of forgetting", kills, inside)
}

func forgetRound(t *testing.T, s *Store, n int) {
	t.Helper()
	f := memory.Forgetting{Guild: guild, User: roundUser(n), Why: memory.WhyMember,
		At: id((n + 1) * 2 * forgottenEach).Time()}
	forget(t, s, f)
}

func crashForgetting(t *testing.T, dir string, first, after int) (said, begun, receipts int) {
	t.Helper()
	said, begun, receipts = first-1, first-1, first-1
	killChild(t, "TestForgetCrashChild", dir, first, after, func(line string) bool {
		var n, done int
		switch {
		case scanned(line, "said %d", &n):
			said = n
		case scanned(line, "begun %d after %d", &n, &done):
			begun = n
		case scanned(line, "receipt %d", &n):
			begun, receipts = n, n
		default:
			return false
		}
		return true
	})
	if said < first {
		t.Fatal("the child said nothing")
	}
	return said, begun, receipts
}

func checkUnread(t *testing.T, s *Store, n int) {
	t.Helper()
	for _, i := range []int{0, 1, forgottenEach / 2, forgottenEach - 1, 9004} {
		if got := find(t, s, in(general, roundChannel(n)), canaryOf(n, i)); len(got) > 0 {
			t.Errorf("%q finds %v", canaryOf(n, i), got)
		}
	}
	for _, channel := range []memory.ChannelID{general, roundChannel(n)} {
		log, err := s.Log(bg, channel, id(n*2*forgottenEach)-1, id((n+1)*2*forgottenEach), 10_000)
		must(t, err)
		if slices.ContainsFunc(log, func(m memory.Message) bool { return m.Author == roundUser(n) }) {
			t.Errorf("round %d is still in the log", n)
		}
	}
	lore, err := s.Lore(bg, guild)
	if err != nil || slices.ContainsFunc(lore, func(l memory.Lore) bool {
		return strings.HasPrefix(l.Text, fmt.Sprintf("canary%dx", n))
	}) {
		t.Errorf("lore of round %d is still known, %v", n, err)
	}
	if all, err := s.Summaries(bg, roundChannel(n)); err != nil || len(all) > 0 {
		t.Errorf("the summary of round %d is still known, %v", n, err)
	}
	if all := records(t, s, roundChannel(n)); len(all) > 0 {
		t.Errorf("records of round %d are still known: %+v", n, all)
	}
	people, err := s.People(bg, guild)
	if err != nil || slices.ContainsFunc(people, func(p memory.Person) bool { return p.ID == roundUser(n) }) {
		t.Errorf("user %d is still known, %v", roundUser(n), err)
	}
}

func checkStays(t *testing.T, s *Store, n int) {
	t.Helper()
	log, err := s.Log(bg, general, id(n*2*forgottenEach)-1, id((n+1)*2*forgottenEach), 10_000)
	must(t, err)
	stay := 0
	for _, m := range log {
		if m.Author == 7 {
			stay++
		}
	}
	if stay != forgottenEach {
		t.Errorf("of round %d %d messages that stay are there, not %d", n, stay, forgottenEach)
	}
	all, err := s.Summaries(bg, general)
	if err != nil || !slices.ContainsFunc(all, func(s memory.Summary) bool { return s.Text == staysOf(n, 9010) }) {
		t.Errorf("of round %d the summary that stays isn't there, %v", n, err)
	}
	if got := find(t, s, in(general), staysOf(n, forgottenEach-1)); len(got) != 1 {
		t.Errorf("%q finds %v", staysOf(n, forgottenEach-1), got)
	}
}

// checkGone fails the test if the files hold anything of a round's person, as text or as full-text hashes.
func checkGone(t *testing.T, dir string, n int) {
	t.Helper()
	wantNowhere(t, dir, fmt.Sprintf("canary%dx", n))
	var batch text.Batch
	for _, i := range []int{0, 1, 2, forgottenEach / 2, forgottenEach - 1, 9004} {
		for _, hash := range strings.Fields(sqlstore.Hashes(batch.Terms(canaryOf(n, i)))) {
			wantNowhere(t, dir, hash[1:]) // full text leaves out of a term what it shares with the one before it
		}
	}
}
