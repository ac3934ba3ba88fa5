package bot

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

// clerk notes what a desk has done. An answer takes a second, or as long as until is open.
type clerk struct {
	*desk
	answered, refused, missed, ended []memory.MessageID
	bursts                           []burst
	until                            chan struct{}
	left                             map[memory.MessageID]chan struct{}
}

// leaves ends an answer before the others.
func (c *clerk) leaves(id memory.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.left[id])
}

func newClerk() *clerk {
	c := &clerk{desk: newDesk(), left: map[memory.MessageID]chan struct{}{}}
	c.answer = func(a *ask) {
		c.mu.Lock()
		c.answered = append(c.answered, a.id)
		until, left := c.until, make(chan struct{})
		c.left[a.id] = left
		c.mu.Unlock()
		if until == nil {
			until = make(chan struct{})
			time.AfterFunc(time.Second, func() { close(until) })
		}
		select {
		case <-until:
		case <-left:
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = append(c.ended, a.id)
	}
	c.busy = func(a *ask, b burst) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused, c.bursts = append(c.refused, a.id), append(c.bursts, b)
	}
	c.desk.missed = func(a *ask) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.missed = append(c.missed, a.id)
	}
	return c
}

func in(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) *ask {
	return &ask{id: id, guild: guild, channel: channel}
}

func TestDeskAnswersAChannelInOrderAndRefusesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk()
		for id := range memory.MessageID(10) {
			if !c.isNew(id+1) || c.isNew(id+1) {
				t.Errorf("question %d is told twice", id)
			}
			c.put(in(1, 1, id+1))
			synctest.Wait()
		}
		c.wait(t.Context())
		if !slices.Equal(c.answered, []memory.MessageID{1, 2, 3, 4, 5, 6}) || !slices.Equal(c.refused, []memory.MessageID{7}) || c.bursts[0] != (burst{5, false}) {
			t.Errorf("answered %v, refused %v, %v", c.answered, c.refused, c.bursts)
		}
		c.put(in(1, 1, 11))
		c.wait(t.Context())
		if len(c.answered) != 7 || len(c.queues) != 0 || len(c.turns) != 0 || c.free != parallelAnswers {
			t.Errorf("a line stays when it is empty: %+v", c.desk)
		}
	})
}

// Each member is told once that there are too many, and who pressed a button, who sees it there, isn't.
func TestDeskTellsEachMemberThatItIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk()
		put := func(id memory.MessageID, asker memory.UserID, quiet bool) error {
			a := in(1, 1, id)
			a.asker, a.quiet = asker, quiet
			err := c.put(a)
			synctest.Wait()
			return err
		}
		for id := range memory.MessageID(1 + waitingQuestions) {
			if err := put(id+1, 1, id%2 == 0); err != nil {
				t.Errorf("question %d: %v", id+1, err)
			}
		}
		for i, a := range []struct {
			asker memory.UserID
			quiet bool
		}{{1, true}, {1, false}, {2, false}, {1, false}, {2, true}, {3, true}, {3, false}, {2, false}} {
			if err := put(memory.MessageID(11+i), a.asker, a.quiet); err != errFull {
				t.Errorf("question %d: %v", 11+i, err)
			}
		}
		if !slices.Equal(c.refused, []memory.MessageID{12, 13, 17}) {
			t.Errorf("told of %v", c.refused)
		}
		c.wait(t.Context()) // the burst is over
		for id := range memory.MessageID(1 + waitingQuestions) {
			_ = put(id+21, 1, false)
		}
		if err := put(31, 2, false); err != errFull || c.refused[len(c.refused)-1] != 31 {
			t.Errorf("%v; told of %v", err, c.refused)
		}
		c.close()
		if put(41, 3, true) != errStopped || put(42, 3, false) != errStopped {
			t.Error("taken when it is closed")
		}
		c.wait(t.Context())
		if !slices.Contains(c.missed, 42) || slices.Contains(c.missed, 41) {
			t.Errorf("missed %v", c.missed)
		}
	})
}

func TestDeskKeepsSeatsForOtherGuilds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk()
		c.until = make(chan struct{})
		id := memory.MessageID(0)
		ask := func(guild memory.GuildID, channels int) {
			for channel := range channels {
				id++
				c.put(in(guild, memory.ChannelID(100*int(guild)+channel), id))
			}
		}
		ask(1, 100)
		synctest.Wait()
		if waiting, busy := c.counts(); busy != guildAnswers || waiting != guildQuestions {
			t.Errorf("of one guild %d are answered and %d wait", busy, waiting)
		}
		if len(c.refused) != 100-guildAnswers-guildQuestions || c.bursts[0] != (burst{guildQuestions, true}) {
			t.Errorf("refused %v, %v", c.refused, c.bursts)
		}
		ask(2, guildAnswers)
		ask(3, 1)
		for channel := range memory.ChannelID(2) { // each a party of its own
			id++
			c.put(in(memory.DirectGuild, 900+channel, id))
		}
		synctest.Wait()
		if _, busy := c.counts(); busy != parallelAnswers {
			t.Errorf("%d answers at the same time", busy)
		}
		for id := range memory.MessageID(5) { // one seat after the other
			c.leaves(id + 1)
			synctest.Wait()
		}
		if rest := c.answered[parallelAnswers:]; !slices.Equal(rest, []memory.MessageID{guildAnswers + 1, 109, 110, 111, guildAnswers + 2}) {
			t.Errorf("then answered %v", rest)
		}
		close(c.until)
		c.wait(t.Context())
		if len(c.answered) != parallelAnswers+guildQuestions+3 {
			t.Errorf("answered %v", c.answered)
		}
	})
}

// What is put is answered once and in its channel's order, one at a time, or refused; as much at a time as there are seats.
func TestDeskIsFairAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			busy, guilds, last := map[memory.ChannelID]bool{}, map[memory.GuildID]int{}, map[memory.ChannelID]memory.MessageID{}
			answered := 0
			d.answer = func(a *ask) {
				d.mu.Lock()
				switch {
				case busy[a.channel]:
					t.Error("two answers at a time in a channel")
				case a.id <= last[a.channel]:
					t.Error("out of order")
				case guilds[a.guild] >= guildAnswers || len(busy) >= parallelAnswers:
					t.Error("too many at a time")
				}
				busy[a.channel], last[a.channel] = true, a.id
				guilds[a.guild]++
				d.mu.Unlock()
				time.Sleep(time.Duration(a.id%7+1) * time.Second)
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(busy, a.channel)
				guilds[a.guild]--
				answered++
			}
			d.busy = func(*ask, burst) {}
			taken := 0
			for id := range memory.MessageID(rapid.IntRange(1, 150).Draw(rt, "questions")) {
				guild := rapid.IntRange(1, 3).Draw(rt, "guild")
				channel := memory.ChannelID(100*guild + rapid.IntRange(1, 12).Draw(rt, "channel"))
				if d.put(in(memory.GuildID(guild), channel, id+1)) == nil {
					taken++
				}
				if rapid.IntRange(0, 9).Draw(rt, "later?") == 0 {
					time.Sleep(time.Second)
				}
			}
			d.wait(t.Context())
			if answered != taken || len(d.queues) != 0 || d.free != parallelAnswers || len(d.turns) != 0 {
				t.Errorf("answered %d of %d, %+v", answered, taken, d)
			}
		})
	})
}

func TestDeskTellsWhatWaitsWhenItCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk()
		for id := range memory.MessageID(4) {
			c.put(in(1, 1, id+1))
		}
		synctest.Wait()
		if waiting := c.close(); waiting != 3 {
			t.Errorf("%d wait, want 3", waiting)
		}
		c.put(in(1, 2, 9)) // which came before, and is logged now
		c.wait(t.Context())
		slices.Sort(c.missed)
		if !slices.Equal(c.answered, []memory.MessageID{1}) || !slices.Equal(c.missed, []memory.MessageID{2, 3, 4, 9}) {
			t.Errorf("answered %v, want the one begun; missed %v", c.answered, c.missed)
		}
		c.put(in(1, 2, 10))
		c.tell(func() { t.Error("told after the end") })
		synctest.Wait()
		if len(c.missed) != 4 || c.active != 0 {
			t.Errorf("missed %v after the end", c.missed)
		}
	})
}

func TestDeskWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClerk()
		c.until = make(chan struct{})
		c.put(in(1, 1, 1))
		c.close()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.wait(short)
		if len(c.ended) != 0 {
			t.Error("it has ended")
		}
		close(c.until)
		synctest.Wait()
	})
}
