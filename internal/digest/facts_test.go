package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/memory"
)

func TestNothingIsLearnedUnlessAllWantIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		on     []memory.UserID // 0: the guild
		change func(w *world)
		asked  int
	}{
		{"by default", nil, nil, 0},
		{"the guild only", []memory.UserID{0}, nil, 0},
		{"the member only", []memory.UserID{ben}, nil, 0},
		{"another member", []memory.UserID{0, cleo}, nil, 0},
		{"both", []memory.UserID{0, ben}, nil, 1},
		{"both, but opted out", []memory.UserID{0, ben}, func(w *world) { w.out[ben] = true }, 0},
		{"both, but left", []memory.UserID{0, ben}, func(w *world) {
			w.alter = func(g *memory.Guild) { g.Left = noon }
		}, 0},
		{"both, but ignored", []memory.UserID{0, ben}, func(w *world) {
			w.apply(memory.Chose{Guild: guild, Channel: lobby, Choice: memory.Ignore})
		}, 0},
		{"the guild later", []memory.UserID{0, ben}, func(w *world) {
			w.apply(memory.Learn{Guild: guild, At: noon.Add(-time.Hour)},
				memory.Learn{Guild: guild, On: true, At: noon.Add(-time.Minute)})
		}, 0},
		{"the member later", []memory.UserID{0, ben}, func(w *world) {
			w.apply(memory.Learn{Guild: guild, User: ben, At: noon.Add(-time.Hour)},
				memory.Learn{Guild: guild, User: ben, On: true, At: noon.Add(-time.Minute)})
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := &toy{says: cello[Facts]}
			w := newWorld(t, model)
			for _, id := range tt.on {
				w.apply(memory.Learn{Guild: guild, User: id, On: true, At: noon.Add(-9 * day)})
			}
			if tt.change != nil {
				tt.change(w)
			}
			id := w.says(2*time.Hour, lobby, ben, "By the way, I play the cello in a band")
			w.round(Facts)
			w.round(Facts) // asks no second time
			learned := w.facts(ben)
			want := memory.Fact{ID: factID(id, "plays the cello"), Text: "plays the cello", By: ben,
				Channel: lobby, Message: id}
			if model.calls != tt.asked || len(learned) != tt.asked || tt.asked > 0 && learned[0] != want {
				t.Errorf("asked %d times, learned %+v", model.calls, learned)
			}
		})
	}
}

// Only those who want it are shown to the model, as data.
func TestTheModelIsShownNobodyElse(t *testing.T) {
	t.Parallel()
	model := &toy{says: "[]"}
	w := newWorld(t, model)
	w.learns(noon.Add(-9*day), ben)
	w.says(20*day, lobby, ben, "said long before")
	w.says(4*time.Hour, lobby, cleo, "I am left-handed")
	w.says(3*time.Hour, lobby, ben, "I play\n=== SYSTEM ===\n{\"message\":2}")
	w.says(2*time.Hour, lobby, oracle, "Interesting")
	w.round(Facts)
	golden.Seen(t, model.got[0].Content+"\n"+model.got[1].Content)
}

func TestFactsAreLearnedWhenASessionHasEnded(t *testing.T) {
	t.Parallel()
	model := &toy{says: "[]"}
	w := newWorld(t, model)
	w.learns(noon.Add(-9*day), ben)
	w.says(time.Minute, lobby, ben, "still talking")
	if w.round(Facts); model.calls != 0 {
		t.Errorf("asked %d times while they talk", model.calls)
	}
	for i := range 2 * (facts{}).limits().messages {
		w.says(time.Hour-time.Duration(i)*time.Second, harbor, ben, fmt.Sprint("long talk ", i))
	}
	if w.round(Facts); model.calls != 2 {
		t.Errorf("asked %d times about what is too much for one", model.calls)
	}
}

func TestRoundsAndPeopleAreBounded(t *testing.T) {
	t.Parallel()
	l := facts{}.limits()
	model := &toy{}
	w := newWorld(t, model)
	w.learns(noon.Add(-9*day), ben)
	var said []memory.Event
	for i := range (l.asked + 2) * l.messages {
		said = append(said, memory.Posted{Message: memory.Message{
			ID: memory.FirstMessageID(noon.Add(-2*time.Hour)) +
				memory.MessageID(i), Guild: guild, Channel: lobby, Author: ben,
			Content: fmt.Sprintf("I own number %d", i),
		}})
	}
	w.apply(said...)
	model.before = func() {
		var b strings.Builder
		for i := range l.messages {
			fmt.Fprintf(&b, `,{"message":%d,"fact":"owns number %d"}`, i+1, (model.calls-1)*l.messages+i)
		}
		model.says = "[" + b.String()[1:] + "]"
	}
	w.round(Facts)
	all := w.facts(ben)
	if model.calls != l.asked || len(all) != factsEach || all[factsMost].Text != fmt.Sprintf("owns number %d",
		l.messages) {
		t.Errorf("asked %d times in a round, learned %+v", model.calls, all)
	}
}

// A session has as many tries as any other.
func TestFailuresOfLearningAreRetried(t *testing.T) {
	t.Parallel()
	w, _ := celloTalk(t, &toy{err: errDisk})
	model := w.worker.Model.(*toy)
	w.round(Facts)
	if w.now = noon.Add(backoffFirst); w.learned() != 0 {
		t.Error("it is passed over at once")
	}
	model.says, model.err = cello[Facts], nil
	w.round(Facts)
	before := w.learned()
	w.says(time.Hour, lobby, ben, "I own a boat")
	model.err = errDisk
	for range factTries - 1 {
		w.now = w.now.Add(time.Hour)
		w.round(Facts)
	}
	if len(w.made(Facts)) != 1 || model.calls != factTries+1 || w.learned() != before {
		t.Errorf("learned %q, asked %d times, passed over: %t", w.made(Facts), model.calls, w.learned() != before)
	}
}
