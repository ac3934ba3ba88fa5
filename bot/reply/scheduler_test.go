package reply

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hark/bot/ingest"
	"hark/memory"
)

// job is a question in a guild's channel.
type job struct {
	guild   memory.GuildID
	channel memory.ChannelID
	id      int
}

// testScheduler is a scheduler whose jobs take a second each, or until they are let go.
type testScheduler struct {
	*scheduler[job]
	ran   []int
	until map[int]chan struct{} // by the job's id
}

func newTestScheduler() *testScheduler {
	d := &testScheduler{until: map[int]chan struct{}{}}
	d.scheduler = newScheduler(func(j job) {
		d.mu.Lock()
		d.ran = append(d.ran, j.id)
		until := d.until[j.id]
		d.mu.Unlock()
		if until == nil {
			time.Sleep(time.Second)
			return
		}
		<-until
	}, func() {})
	return d
}

// asks puts a job, and tells how it was refused.
func (d *testScheduler) asks(guild memory.GuildID, channel memory.ChannelID, who memory.UserID, id int) error {
	defer synctest.Wait()
	return d.put(guild, channel, who, false, job{guild, channel, id})
}

// holds has a job go on until lets ends it.
func (d *testScheduler) holds(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until[id] = make(chan struct{})
}

func (d *testScheduler) lets(id int) {
	defer synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.until[id])
}

// isEmpty reports whether nothing is left of what was put.
func (d *testScheduler) isEmpty() bool {
	return len(d.queues) == 0 && d.busy == 0 && d.active == 0
}

// What is put runs once and in its channel's order, one at a time, or is refused; as much at a time as there
// is room for.
func TestSchedulerIsFairAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			busy, guilds, last := map[memory.ChannelID]bool{}, map[memory.GuildID]int{}, map[memory.ChannelID]int{}
			ran, taken := 0, 0
			d := &testScheduler{}
			d.scheduler = newScheduler(func(j job) {
				d.mu.Lock()
				switch {
				case busy[j.channel]:
					t.Error("two at a time in a channel")
				case j.id <= last[j.channel]:
					t.Error("out of order")
				case guilds[j.guild] >= maxGuildRunning || len(busy) >= maxRunning:
					t.Error("too many at a time")
				}
				busy[j.channel], last[j.channel] = true, j.id
				guilds[j.guild]++
				d.mu.Unlock()
				time.Sleep(time.Duration(j.id%7+1) * time.Second)
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(busy, j.channel)
				guilds[j.guild]--
				ran++
			}, func() {})
			for id := range rapid.IntRange(1, 150).Draw(rt, "questions") {
				guild := rapid.IntRange(1, 3).Draw(rt, "guild")
				channel := memory.ChannelID(100*guild + rapid.IntRange(1, 12).Draw(rt, "channel"))
				if d.put(memory.GuildID(guild), channel, 1, false, job{memory.GuildID(guild), channel, id + 1}) == nil {
					taken++
				}
				if rapid.IntRange(0, 9).Draw(rt, "later?") == 0 {
					time.Sleep(time.Second)
				}
			}
			d.wait(t.Context())
			if ran != taken || !d.isEmpty() {
				t.Errorf("ran %d of %d, %+v", ran, taken, d.scheduler)
			}
		})
	})
}

// Each member is told once in a burst that there are too many, but for those who see it where they pressed.
func TestSchedulerTellsEachMemberOnceThatItIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTestScheduler()
		for range 2 { // a burst, and another when it is over
			for id := range 1 + maxWaiting {
				if err := d.asks(1, 1, memory.UserID(id%2), id); err != nil {
					t.Errorf("question %d: %v", id, err)
				}
			}
			told := []memory.UserID{}
			for _, who := range []memory.UserID{0, 1, 2, 1, 0, 3, 2} {
				full, is := errors.AsType[*fullError](d.asks(1, 1, who, 9))
				if !is || full.waiting != maxWaiting || full.guild {
					t.Errorf("refused by %+v", full)
				} else if full.first {
					told = append(told, who)
				}
			}
			if !slices.Equal(told, []memory.UserID{1, 2, 3}) {
				t.Errorf("told %v", told)
			}
			d.wait(t.Context())
		}
		if !slices.Equal(d.ran, []int{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}) || !d.isEmpty() {
			t.Errorf("ran %v; left %+v", d.ran, d.scheduler)
		}
	})
}

func TestSchedulerKeepsTurnsForOtherGuilds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTestScheduler()
		id, refused := 0, 0
		ask := func(guild memory.GuildID, channels int) {
			for channel := range channels {
				id++
				d.holds(id)
				err := d.asks(guild, memory.ChannelID(100*int(guild)+channel), 1, id)
				if full, is := errors.AsType[*fullError](err); is && *full == (fullError{maxGuildWaiting, true, true}) {
					refused++
				} else if err != nil {
					t.Errorf("refused by %v", err)
				}
			}
		}
		ask(1, 100)
		if waiting, busy, _ := d.counts(); busy != maxGuildRunning || waiting != maxGuildWaiting ||
			refused != 100-maxGuildRunning-maxGuildWaiting {
			t.Errorf("of one guild %d run, %d wait and %d are refused", busy, waiting, refused)
		}
		ask(2, maxGuildRunning)
		ask(3, 1)
		ask(memory.DirectGuild, 2) // each has a turn of its own
		if _, busy, _ := d.counts(); busy != maxRunning {
			t.Errorf("%d run at the same time", busy)
		}
		for id := range 5 { // one ends after the other
			d.lets(id + 1)
		}
		if rest := d.ran[maxRunning:]; !slices.Equal(rest,
			[]int{maxGuildRunning + 1, 109, 110, 111, maxGuildRunning + 2}) {
			t.Errorf("then ran %v", rest)
		}
		for left := range id - 5 {
			d.lets(left + 6)
		}
		d.wait(t.Context())
		if len(d.ran) != maxRunning+maxGuildWaiting+3 {
			t.Errorf("ran %v", d.ran)
		}
	})
}

func TestSchedulerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTestScheduler()
		d.holds(0)
		for id := range 4 {
			_ = d.asks(1, 1, 1, id)
		}
		if left := d.close(); !slices.Equal(left, []job{{1, 1, 1}, {1, 1, 2}, {1, 1, 3}}) ||
			d.asks(1, 2, 1, 9) != ingest.ErrStopped {
			t.Errorf("left %v", left)
		}
		told := false
		d.start(func() { told = true })
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.wait(short) // no longer than it may
		d.start(func() { t.Error("started after the end") })
		if _, busy, active := d.counts(); !told || busy != 1 || active != 1 {
			t.Errorf("%d run, told: %t", busy, told)
		}
		d.lets(0)
		if !slices.Equal(d.ran, []int{0}) {
			t.Errorf("ran %v", d.ran)
		}
	})
}

// A job that pauses keeps its channel, and others run beside it. Then it is the next to go on.
func TestSchedulerPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTestScheduler()
		const many = maxGuildRunning + 2
		for id := range many { // all in one guild; the last two wait
			d.holds(id)
			_ = d.asks(1, memory.ChannelID(id), 1, id)
		}
		paused, back := make(chan struct{}), false
		go func() {
			d.pause(t.Context(), 0, func() { <-paused })
			back = true
		}()
		synctest.Wait()
		_ = d.asks(1, 0, 1, many) // behind the paused job
		if !slices.Contains(d.ran, maxGuildRunning) || slices.Contains(d.ran, maxGuildRunning+1) || d.busy != maxGuildRunning {
			t.Errorf("%d run, ran %v", d.busy, d.ran)
		}
		close(paused)
		synctest.Wait()
		if back {
			t.Error("it goes on beyond the limit")
		}
		d.lets(1)
		if !back || d.busy != maxGuildRunning || len(d.ran) != maxGuildRunning+1 {
			t.Errorf("it goes on: %t, %d run, ran %v", back, d.busy, d.ran)
		}
		for id := range many {
			if id != 1 {
				d.lets(id)
			}
		}
		d.wait(t.Context())
		if !d.isEmpty() || len(d.ran) != many+1 {
			t.Errorf("ran %v", d.ran)
		}
	})
}

// A job that ends while it is paused, or when its context has ended, leaves no slot taken.
func TestSchedulerEndsPausedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newTestScheduler()
		for id := range maxGuildRunning + 2 {
			d.holds(id)
			_ = d.asks(1, memory.ChannelID(id), 1, id)
		}
		ended, cancel := context.WithCancel(t.Context())
		paused, done := make(chan struct{}), 0
		for channel, ctx := range []context.Context{t.Context(), ended} {
			go func() {
				d.pause(ctx, memory.ChannelID(channel), func() { <-paused })
				done++
			}()
			synctest.Wait()
		}
		d.lets(0)
		close(paused)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if done != 2 || d.busy != maxGuildRunning+1 {
			t.Errorf("%d are done, %d run", done, d.busy)
		}
		for id := range maxGuildRunning + 1 {
			d.lets(id + 1)
		}
		d.wait(t.Context())
		if !d.isEmpty() {
			t.Errorf("%d run", d.busy)
		}
	})
}
