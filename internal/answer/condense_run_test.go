package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// Questions at the same time in one channel condense it once.
func TestSessionIsCondensedOnce(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	w.engine.now = func() time.Time { return noon }
	w.chats(lobby, 50)
	w.chats(harbor, 50)
	w.chats(vault, 20)
	var asked sync.WaitGroup
	for i := range 12 {
		q := w.asksAt(time.Duration(i)*time.Second, []memory.ChannelID{lobby, harbor, vault}[i%3], "And?")
		asked.Go(func() {
			if _, err := w.engine.Answer(t.Context(), q, nil); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan memory.Condensed, 20)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w.engine.options.Condensing.Now = func() time.Time { return noon.Add(time.Minute) }
	ran := make(chan error)
	go func() {
		ran <- w.engine.Run(ctx, func(c memory.Condensed) { done <- c }, func(_ memory.ChannelID, err error) { t.Error(err) })
	}()
	asked.Wait()
	got := []memory.ChannelID{(<-done).Channel, (<-done).Channel}
	if slices.Sort(got); !slices.Equal(got, []memory.ChannelID{lobby, harbor}) {
		t.Errorf("condensed %v", got)
	}
	stop()
	if err := <-ran; err != nil || model.asked != 2 || len(done) != 0 {
		t.Errorf("asked %d times, %d more made, %v", model.asked, len(done), err)
	}
	if made, failed := w.condensings(); made != 2 || failed != 0 {
		t.Errorf("condensed %d times, failed %d times", made, failed)
	}
	// It is on the guild's account, and on nobody else's.
	spent, err := w.store.Spending(t.Context(), guild, w.engine.now())
	if err != nil || len(spent) != 1 || spent[0] < 500 {
		t.Errorf("spent %v, %v", spent, err)
	}
}

// What a session was condensed to is taken away once the session is over, and isn't told in the next.
func TestWhatIsOverIsDropped(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	w.chats(lobby, 50)
	w.condensesNow(lobby)
	now := noon.Add(20 * time.Minute)
	w.engine.options.Condensing.Now = func() time.Time { return now }
	drop := func() {
		t.Helper()
		if err := w.engine.dropOver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if drop(); w.condensedIn(lobby) == nil {
		t.Error("it is gone while the session goes on")
	}
	now = noon.Add(40 * time.Minute)
	if p := w.prompt(w.asksAt(40*time.Minute, lobby, "Where were we?")); strings.Contains(p, condensedTitle) {
		t.Errorf("told in the next session:\n%s", p)
	}
	if drop(); w.condensedIn(lobby) != nil {
		t.Error("it outlives the session")
	}
	now = noon
	w.chats(harbor, 50)
	w.condensesNow(harbor)
	for i := range sessionMessages { // more than is read
		w.says(-time.Duration(i)*time.Second, harbor, ben, "so")
	}
	now = noon.Add(3 * time.Minute)
	if drop(); w.condensedIn(harbor) != nil {
		t.Error("what nobody will read is kept")
	}
}

// A session that is longer than a summary may have sources is condensed anew, from what isn't told of yet.
func TestVeryLongSessions(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	last := memory.Condensed{}
	for i := range 16 {
		for j := range 15 {
			w.says(-time.Duration(15*i+j)*time.Second*20, lobby, []memory.UserID{ben, cleo}[j%2], fmt.Sprintf("the number %d of round %d", j, i))
		}
		c, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon.Add(time.Duration(15*i+15) * time.Second * 20)})
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		if len(c.Sources) > memory.MaxCondensedSources || c.Until <= last.Until || !c.Made.After(last.Made) {
			t.Errorf("condensed to %+v after %+v", c, last)
		}
		last = *c
	}
	if n := len(last.Sources); n == 0 || n > 120 || strings.Contains(last.Text, "of round 0") {
		t.Errorf("%d sources of %q", n, last.Text)
	}
}

// Of a burst of messages the oldest aren't left out: they are condensed in two goes.
func TestBurstsAreCondensedWhole(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	said := w.chats(lobby, sessionMessages-1)
	w.answer(w.asksAt(0, lobby, "And?"))
	made := w.drain()
	if counted, failed := w.condensings(); len(made) != 1 || model.asked != 2 || counted != 2 || failed != 0 {
		t.Fatalf("made %d, asked %d times, counted %d and %d failures", len(made), model.asked, counted, failed)
	}
	r, err := w.engine.recall(t.Context(), w.asksAt(time.Second, lobby, "And?"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[memory.MessageID]bool{}
	for _, s := range made[0].Sources {
		told[s.Message] = true
	}
	for _, m := range r.session {
		told[m.ID] = true
	}
	for i, id := range said {
		if !told[id] {
			t.Errorf("message %d of %d is neither summed up nor shown", i+1, len(said))
		}
	}
	has(t, r.Prompt.String(), "480 euros")
}

// A few long messages are as much as many short ones, but two or three are left as they are, however long.
func TestFewLongTurnsAreCondensed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ turns, gone int }{{3, 0}, {4, 1}, {7, 2}, {9, 3}} {
		w := newWorld(t, nil)
		w.engine = w.over(w.store, &keeper{}, builder.Options{MaxTokens: 8000 * tt.turns / 7}, Options{Condensing: &Condensing{}})
		var said []memory.MessageID
		for i := range tt.turns {
			text := fmt.Sprintf("Part %d of the plan. ", i) + strings.Repeat("The island has a harbour and a tower. ", 50)
			said = append(said, w.says(time.Duration(tt.turns-i)*time.Minute, lobby, []memory.UserID{ben, cleo}[i%2], text))
		}
		c, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon})
		switch {
		case err != nil || (c == nil) != (tt.gone == 0):
			t.Errorf("%d turns: condensed to %+v, %v", tt.turns, c, err)
		case c != nil && (len(c.Sources) != tt.gone || c.Until != said[tt.gone-1]):
			t.Errorf("%d turns: condensed %+v", tt.turns, c.Sources)
		}
	}
}

// A session that the model fails at is condensed again only after a while, which doubles, whatever is answered there meanwhile.
func TestCondensingBacksOff(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]chat.Reply{"a refusal": {Text: "I'm sorry, but I can't help with that."}, "nothing": {}, "a failure": {Model: "down"}} {
		model := &keeper{condense: func(context.Context, []string) (chat.Reply, error) {
			if reply.Model != "" {
				return chat.Reply{}, errDisk
			}
			return reply, nil
		}}
		w := condensing(t, model)
		w.chats(lobby, 50)
		var later time.Duration
		w.engine.now = func() time.Time { return noon.Add(later) }
		var asked []time.Duration
		for later < 24*time.Hour {
			before := model.asked
			_, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon})
			if (err != nil) != (model.asked > before) {
				t.Errorf("%s: %v, asked %d times", name, err, model.asked-before)
			}
			if err != nil {
				asked = append(asked, later)
			}
			later += time.Minute
		}
		if want := []time.Duration{0, 5 * time.Minute, 15 * time.Minute, 35 * time.Minute, 75 * time.Minute}; !slices.Equal(asked[:5], want) || len(asked) > 11 {
			t.Errorf("%s: asked after %v", name, asked)
		}
		model.condense = nil
		if later += backoffMost; w.condensesNow(lobby).Text == "" || w.engine.condensing.waits(lobby, noon.Add(later)) {
			t.Errorf("%s: it isn't condensed once the model can", name)
		}
	}
}

// What can't be said any more once the model has written isn't kept, and no failure of the store goes unnoticed.
func TestCondensingLooksAgain(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	said := w.chats(lobby, 50)
	a := w.alter(model, Options{Condensing: &Condensing{}})
	for name, gone := range map[string]func(){
		"deleted":     func() { w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: said[:1]}) },
		"opted out":   func() { a.out[ben] = true },
		"not to know": func() { a.guild = choose(lobby, memory.Ignore) },
	} {
		model.condense = func(_ context.Context, lines []string) (chat.Reply, error) {
			gone()
			return chat.Reply{Text: lines[0]}, nil
		}
		if _, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon}); err != nil {
			t.Error(err)
		}
		clear(a.out)
		a.guild = nil
		if c := w.condensedIn(lobby); c != nil {
			t.Errorf("%s: condensed to %+v", name, c)
		}
	}
	model.condense = nil
	calls := &faulty{Log: w.store, n: 1 << 20}
	w.engine = w.over(calls, model, builder.Options{}, Options{Condensing: &Condensing{}})
	w.condensesNow(lobby)
	all := 1<<20 - calls.n
	now := time.Now()
	w.engine.now = func() time.Time { return now }
	for n := 1; n <= all; n++ {
		w.apply(memory.CondensedGone{Guild: guild, Channel: lobby, Until: 1 << 62})
		calls.n, now = n, now.Add(backoffMost)
		if c, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon}); !errors.Is(err, errDisk) || c != nil {
			t.Errorf("call %d failed: %+v, %v", n, c, err)
		}
		if made, failed := w.condensings(); made != 1 || failed != n { // before, while and after the model was asked
			t.Errorf("call %d failed: counted %d and %d failures", n, made, failed)
		}
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	now = now.Add(backoffMost)
	if _, err := w.engine.condense(gone, Question{Guild: guild, Channel: lobby, Now: noon}); err == nil {
		t.Error("no error at the end")
	}
	if _, failed := w.condensings(); failed != all {
		t.Errorf("counted %d failures, want %d", failed, all)
	}
	w.condensesNow(lobby)
	for n := 1; n <= 3; n++ {
		calls.n = n
		if err := w.engine.dropOver(t.Context()); !errors.Is(err, errDisk) {
			t.Errorf("call %d failed: %v", n, err)
		}
	}
}

// An answer that was made from a summary is taken back if one of its sources goes while it is written.
func TestAnswerFromASummaryIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*altered, memory.MessageID){
		"deleted": func(a *altered, id memory.MessageID) {
			_ = a.Apply(context.Background(), memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{id}})
		},
		"somebody mentioned opts out": func(a *altered, _ memory.MessageID) { a.out[oracle] = true },
		"the channel isn't to be known": func(a *altered, _ memory.MessageID) {
			a.guild = choose(lobby, memory.Ignore)
		},
		"nothing": func(*altered, memory.MessageID) {},
	} {
		model := &keeper{}
		w := condensing(t, model)
		said := w.chats(lobby, 50)
		w.posts(49*time.Minute-time.Second, memory.Message{Guild: guild, Channel: lobby, Author: ben, Content: "See 4", Mentions: []memory.UserID{oracle}})
		w.condensesNow(lobby)
		a := w.alter(model, Options{Condensing: &Condensing{}})
		model.before = func() { change(a, said[3]) }
		if got := w.answer(w.asks(lobby, "And?")); (got.Text == withdrawn) != (name != "nothing") {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
}

// Nothing is condensed where nothing is logged, without a model, or where it isn't wanted.
func TestWhatIsNeverCondensed(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	w.chats(lobby, 50)
	var said []memory.Message
	for i := range 50 {
		said = append(said, before(time.Duration(50-i)*20*time.Second, []memory.UserID{ben, cleo}[i%2], "so"))
	}
	w.answer(unlogged("And?", said...))
	if made := w.drain(); made != nil {
		t.Errorf("condensed to %+v", made)
	}
	w.engine.options.Condensing = nil
	w.answer(w.asks(lobby, "And?"))
	w.engine.options.Condensing, w.engine.model = &Condensing{}, nil
	w.answer(w.asks(lobby, "And?"))
	if n := len(w.engine.queue.next); n != 0 {
		t.Errorf("%d sessions wait", n)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []*Condensing{nil, {Every: time.Hour}} {
		w.engine.options.Condensing = c
		if err := w.engine.Run(ctx, nil, nil); err != nil {
			t.Error(err)
		}
	}
}

// localKeeper is a keeper of another name.
type localKeeper struct{ keeper }

func (*localKeeper) Name() string { return "local" }

// A session is condensed by the model, and measured by the builder, that answer where it is; by nobody else, for what was said
// there may not be for others.
func TestPlacesModelCondenses(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]*keeper{"beside another": {}, "alone": nil} {
		local := &localKeeper{}
		var model Model
		if own != nil {
			model = own
		}
		w := newWorld(t, model)
		built, err := builder.New(builder.Options{Citations: true, MaxTokens: 1000}, tokenstest.For(""))
		if err != nil {
			t.Fatal(err)
		}
		w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{
			Condensing: &Condensing{Now: func() time.Time { return noon.Add(time.Minute) }}, Models: map[string]Model{"local": local},
			Builder: func(model, _ string) *builder.Builder { return map[string]*builder.Builder{"local": built}[model] },
		})
		w.engine.now = func() time.Time { return noon }
		w.apply(sets(lobby, memory.SettingModel, "local"))
		w.chats(lobby, 25)  // long for a small prompt
		w.chats(harbor, 25) // not for a usual one
		w.answer(w.asks(lobby, "And?"))
		w.answer(w.asks(harbor, "And?"))
		ctx, stop := context.WithCancel(t.Context())
		made := make(chan memory.Condensed, 2)
		ran := make(chan error)
		go func() {
			ran <- w.engine.Run(ctx, func(c memory.Condensed) { made <- c }, func(_ memory.ChannelID, err error) { t.Error(err) })
		}()
		c := <-made
		stop()
		if err := <-ran; err != nil || c.Channel != lobby || c.Model != "local" || local.asked != 1 || own != nil && own.asked != 0 || len(made) != 0 {
			t.Errorf("%s: condensed %d by %q, %v; local was asked %d times, %+v", name, c.Channel, c.Model, err, local.asked, own)
		}
		spent, err := w.store.Spending(t.Context(), guild, w.engine.now())
		if err != nil || spent[0] < 100 {
			t.Errorf("%s: spent %v, %v", name, spent, err)
		}
		// Another was set while the session waited.
		w.apply(memory.SettingChosen{Guild: guild, Channel: lobby, Key: memory.SettingModel, At: noon.Add(time.Second)}, memory.CondensedGone{Guild: guild, Channel: lobby, Until: 1 << 62})
		if c, err := w.engine.condense(t.Context(), Question{Guild: guild, Channel: lobby, Now: noon}); c != nil || err != nil {
			t.Errorf("%s: condensed to %+v, %v", name, c, err)
		}
	}
}

// Where there are no tokens left, nothing is condensed either.
func TestNothingIsCondensedWithoutTokens(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	w.chats(lobby, 50)
	q := w.asks(lobby, "And?")
	for _, none := range []bool{true, false} {
		q.NoModel = none
		if _, err := w.engine.Answer(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		if waits := len(w.engine.queue.next) > 0; waits == none {
			t.Errorf("without tokens: %t, waits to be condensed: %t", none, waits)
		}
	}
}
