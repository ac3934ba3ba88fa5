package digest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// part is a session of messages that is to be condensed by a model.
func (w *world) part(channel memory.ChannelID, model chat.Model) *Part {
	w.t.Helper()
	b, err := builder.New(builder.Options{}, tokenstest.For(""))
	if err != nil {
		w.t.Fatal(err)
	}
	for i, text := range []string{"We agreed that the budget is 480 euros", "And the island?"} {
		w.says(time.Duration(9-i)*time.Minute, channel, ben, text)
	}
	all, err := w.Store.Log(w.t.Context(), channel, 0, memory.FirstMessageID(noon), 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return &Part{
		Guild: guild, Channel: channel, Messages: all, Name: func(memory.UserID) string {
			return "Ben"
		}, Model: model, Builder: b,
		Holds: func(context.Context, []memory.Message) (bool, error) { return true, nil },
	}
}

func found(p *Part) Long { return func(context.Context) (*Part, error) { return p, nil } }

// condensedIn is what the session of a channel was condensed to; nil if it wasn't.
func (w *world) condensedIn(channel memory.ChannelID) *memory.Condensed {
	w.t.Helper()
	all, err := w.Store.Condensed(w.t.Context(), channel)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// deaf is a model that writes when it has no time left.
type deaf struct {
	toy
	minds bool
}

func (d *deaf) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	<-ctx.Done()
	if d.minds {
		return chat.Reply{Text: d.says}, ctx.Err()
	}
	return d.toy.Chat(ctx, r, delta)
}

// What isn't a summary of what was said isn't kept, and the model isn't asked again with each answer.
func TestModelsThatCannotCondense(t *testing.T) {
	t.Parallel()
	good := "the budget is 480 euros"
	for name, model := range map[string]chat.Model{
		"fine":          &toy{says: good},
		"an object":     &toy{says: `{"summary": "` + good + `"}`},
		"too much":      &toy{says: good + strings.Repeat(" the budget of the island", 100)},
		"failing":       &toy{says: good, err: errDisk},
		"slow":          &deaf{toy: toy{says: good}, minds: true},
		"slow and deaf": &deaf{toy: toy{says: good}},
		"empty":         &toy{says: " \n"},
		"inventive":     &toy{says: "the budget is 481 euros"},
		"objecting":     &toy{says: `{"summary": ""}`}, // see TestHostileModels for others
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			if strings.HasPrefix(name, "slow") { // the others have their whole time, and don't need it
				w.worker.Patience = time.Millisecond
			}
			p := w.part(lobby, model)
			err := w.worker.Condense(t.Context(), lobby, found(p))
			c := w.condensedIn(lobby)
			if name == "fine" || name == "an object" || name == "too much" {
				if err != nil || c == nil || !strings.HasPrefix(c.Text, good) ||
					len([]rune(c.Text)) > memory.MaxCondensedText {
					t.Fatalf("condensed to %+v, %v", c, err)
				}
				return
			}
			if err == nil || c != nil {
				t.Fatalf("condensed to %+v, %v", c, err)
			}
			hasNot(t, err.Error(), "480", "481")
			if err := w.worker.Condense(t.Context(), lobby, nil); err != nil {
				t.Errorf("at once: %v", err)
			}
			w.now, w.worker.Patience = w.now.Add(backoffFirst), 0
			p.Model = &toy{says: good}
			if err := w.worker.Condense(t.Context(), lobby, found(p)); err != nil || w.condensedIn(lobby) == nil {
				t.Errorf("later: %v", err)
			}
		})
	}
}

// What was condensed before is told to the model first, unless it is all too much, and no failure goes unnoticed.
func TestCondensingAgain(t *testing.T) {
	t.Parallel()
	model := &toy{says: "Ann decided on 12 tents, the budget is 480 euros"}
	w := newWorld(t, nil)
	first := w.says(time.Hour, lobby, ann, "12 tents, decided Ann")
	sources, err := w.Store.Around(t.Context(), lobby, []memory.MessageID{first}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := w.part(lobby, model)
	p.Messages, p.Sources = p.Messages[1:], sources
	p.Before = &memory.Condensed{Text: "Ann decided on 12 tents", Made: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}
	for n := range 2 { // to keep what it took, and what it is
		w.broken = n + 1
		if err := w.worker.Condense(t.Context(), lobby, found(p)); !errors.Is(err, errDisk) {
			t.Errorf("call %d failed: %v", n, err)
		}
		w.now = w.now.Add(2 * backoffMost)
	}
	if err := w.worker.Condense(t.Context(), lobby, found(p)); err != nil {
		t.Fatal(err)
	}
	c := w.condensedIn(lobby)
	// whose clock was set back
	if c == nil || !c.Made.After(p.Before.Made) || len(c.Sources) != 3 || c.Sources[0].Message != first {
		t.Fatalf("condensed to %+v", c)
	}
	has(t, model.got[1].Content, `{"summary":"Ann decided on 12 tents"}`+"\n"+`{"author":"Ben","text":"We agreed`)
	spent, err := w.Store.Spending(t.Context(), guild, w.now)
	if err != nil || len(spent) != 1 || spent[0] < 100 {
		t.Errorf("spent %v, %v", spent, err)
	}
	p.Before = c
	for len(p.Sources) <= memory.MaxCondensedSources {
		p.Sources = append(p.Sources, sources...)
	}
	model.says = "the budget is 480 euros"
	if err := w.worker.Condense(t.Context(), lobby, found(p)); err != nil || len(w.condensedIn(lobby).Sources) != 2 {
		t.Errorf("condensed to %+v, %v", w.condensedIn(lobby), err)
	}
	hasNot(t, model.got[1].Content, "tents")
	p.Before, p.Sources = w.condensedIn(lobby), nil
	p.Holds = func(context.Context, []memory.Message) (bool, error) { return false, nil }
	model.says = "the budget is 480"
	if err := w.worker.Condense(t.Context(), lobby, found(p)); err != nil || w.condensedIn(lobby).Text == model.says {
		t.Errorf("of what doesn't hold: %+v, %v", w.condensedIn(lobby), err)
	}
}

// Sessions are condensed beside one another, each by one at a time, and a full queue takes no more.
func TestConcurrentSessionsAreCondensedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.worker.Log = w.Store
	var mu sync.Mutex
	left, busy := map[memory.ChannelID]*Part{lobby: w.part(lobby, &toy{says: "the budget is 480"}),
		harbor: w.part(harbor, &toy{says: "the budget is 480"})}, map[memory.ChannelID]int{}
	done := make(chan memory.ChannelID, 4)
	w.worker.Done = func(_ Kind, channel memory.ChannelID, _ int, _ string) { done <- channel }
	for i := range 2*noticed + 20 {
		channel := []memory.ChannelID{lobby, harbor}[i%2]
		w.worker.Notice(channel, func(context.Context) (*Part, error) {
			mu.Lock()
			defer mu.Unlock()
			busy[channel]++
			p := left[channel]
			left[channel] = nil
			return p, nil
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- w.worker.Run(ctx, Condensed) }()
	got := map[memory.ChannelID]bool{<-done: true, <-done: true}
	stop()
	if err := <-ran; err != nil || len(got) != 2 || len(done) != 0 || len(w.failed) != 0 ||
		busy[lobby]+busy[harbor] > 2*noticed {
		t.Errorf("condensed %v, looked at %v, failed %v, %v", got, busy, w.failed, err)
	}
}

// What a session was condensed to is taken away once the session is over, or so much was said that nobody will read it.
func TestWhatIsOverIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	condense := func(channel memory.ChannelID) {
		t.Helper()
		if err := w.worker.Condense(t.Context(), channel,
			found(w.part(channel, &toy{says: "the budget is 480"}))); err != nil {
			t.Fatal(err)
		}
	}
	condense(lobby)
	w.now = noon.Add(20 * time.Minute)
	if w.round(Condensed); w.condensedIn(lobby) == nil {
		t.Error("it is gone while the session goes on")
	}
	w.now = noon.Add(40 * time.Minute)
	for w.broken = 1; w.broken <= 3; w.broken++ {
		n := w.broken
		if err := w.worker.Round(t.Context(), Condensed); !errors.Is(err, errDisk) {
			t.Errorf("call %d failed: %v", n, err)
		}
		w.broken = n
	}
	w.broken = 0
	if w.round(Condensed); w.condensedIn(lobby) != nil {
		t.Error("it outlives the session")
	}
	w.now = noon
	condense(harbor)
	for i := range SessionMessages {
		w.says(-time.Duration(i)*time.Second, harbor, ben, fmt.Sprint("so ", i))
	}
	w.now = noon.Add(3 * time.Minute)
	if w.round(Condensed); w.condensedIn(harbor) != nil {
		t.Error("what nobody will read is kept")
	}
}
