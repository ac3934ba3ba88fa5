package answer

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/memory"
)

func spots(channel memory.ChannelID, ids ...memory.MessageID) (all []memory.MessageRef) {
	for _, id := range ids {
		all = append(all, memory.MessageRef{Channel: channel, Message: id})
	}
	return all
}

// Where little was shown, lore names all of it.
func TestLoreIsProposedFromAllThatWasShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	session := w.says(time.Minute, lobby, cleo, "somebody should know")
	m := w.withTools(uses("remember",
		`{"name":"Lighthouse password [1]","text":" The secret fish, says ‹@22› [1]. ","aliases":["the fish"]}`),
		writes("I would remember that."))
	q := w.asks(lobby, "Please remember the lighthouse password")
	a := w.answer(q)
	if len(a.Proposals) != 1 {
		t.Fatalf("proposed %+v, told %q", a.Proposals, m.outcomes())
	}
	want := memory.Lore{Guild: guild, Channel: lobby, Name: "Lighthouse password",
		Text: "The secret fish, says <@22>.", Own: []string{"the fish"}, Sources: append(spots(lobby, session,
			q.ID), spots(harbor, said)...)}
	if got := a.Proposals[0].Lore; !reflect.DeepEqual(got, want) {
		t.Errorf("proposed %+v, want %+v", got, want)
	}
	golden.Seen(t, m.outcomes()[0])
	all, err := w.store.Lore(t.Context(), guild)
	if err != nil || len(all) > 0 {
		t.Errorf("stored %+v, %v", all, err)
	}
}

// Where much was shown, lore says only what the question and its sources say.
func TestLoreSaysWhatItsSourcesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	w.says(70*day, lobby, cleo, "remember to chop wood")
	piano := w.says(60*day, harbor, ben, "We picked walnut for the piano, 燕麦 and all")
	other := w.says(50*day, harbor, cleo, "The piano is painted blue")
	q := w.asks(lobby, "What is the lighthouse password? Remember the wood of the piano.")
	var refused strings.Builder
	for _, tt := range []struct {
		call    string
		sources []memory.MessageID // nil where it is refused
	}{
		{`{"name":"Piano wood","text":"Picked walnut for the piano","sources":[%d]}`, []memory.MessageID{piano}},
		{`{"name":"Wood of the piano","text":"Ben, on 16 April 2024: walnut, for the pianos","sources":[%d]}`,
			[]memory.MessageID{piano}},
		{`{"name":"Piano","text":"walnut 燕麦","aliases":["walnut piano"],"sources":[%d,%d]}`,
			[]memory.MessageID{piano, other}},
		{`{"name":"Piano","text":"Ann wants the wood remembered"}`, nil},
		{`{"name":"Piano","text":"The wood of the piano"}`, []memory.MessageID{}},
		{`{"name":"Piano","text":"walnut"}`, nil},
		{`{"name":"Piano","text":"walnut, painted blue","sources":[%d]}`, nil},
		{`{"name":"Blue piano","text":"walnut","sources":[%d]}`, nil},
		{`{"name":"Piano","text":"walnut","aliases":["the blue one"],"sources":[%d]}`, nil},
		{`{"name":"Piano","text":"燕窝","sources":[%d]}`, nil},
		{`{"name":"Piano","text":"walnut","sources":[%d,998]}`, nil},
		{`{"name":"...","text":"walnut","sources":[%d]}`, nil},
	} {
		var first, second int
		m := w.withTools()
		m.steps = []step{
			uses("search_memory", `{"query":"walnut piano picked","limit":1}`, "search_memory",
				`{"query":"blue painted piano","limit":1}`),
		}
		a := w.answer(q)
		for _, h := range a.Trace.Recalled {
			switch h.Message {
			case piano:
				first = h.Number
			case other:
				second = h.Number
			}
		}
		if first == 0 || second == 0 {
			t.Fatalf("not found: %q", m.outcomes())
		}
		call := tt.call
		switch strings.Count(call, "%d") {
		case 1:
			call = fmt.Sprintf(call, first)
		case 2:
			call = fmt.Sprintf(call, first, second)
		}
		m.got, m.steps = nil, append(m.steps, uses("remember", call))
		a = w.answer(q)
		outcome := m.outcomes()[2]
		if tt.sources == nil {
			if len(a.Proposals) > 0 {
				t.Errorf("%s: proposed %+v, told %q", call, a.Proposals, outcome)
			}
			fmt.Fprintf(&refused, "%s\n  %s\n", call, outcome)
			continue
		}
		if len(a.Proposals) != 1 {
			t.Errorf("%s: told %q", call, outcome)
			continue
		}
		want := append(spots(lobby, q.ID), spots(harbor, tt.sources...)...)
		if got := a.Proposals[0].Lore.Sources; !slices.Equal(got, want) {
			t.Errorf("%s: sources %v, want %v", call, got, want)
		}
		// It can be kept as it is.
		l := a.Proposals[0].Lore
		l.ID, l.At, l.By = 7, noon, ann
		if _, err := l.Checked(); err != nil {
			t.Error(err)
		}
	}
	golden.Seen(t, refused.String())
}

func TestLoreIsntProposedFromWhatWasMadeOfMessages(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world){
		"nothing": func(*world) {},
		"an answer": func(w *world) {
			w.answered(time.Minute, "The secret fish is tuna", source(lobby, w.says(9*day, lobby, ben, "tuna")))
		},
		"a fact": func(w *world) {
			w.apply(memory.FactTold{Guild: guild, User: ann,
				Fact: memory.Fact{ID: 1, Text: "likes the secret fish", By: ann}})
		},
		"lore": func(w *world) { w.tells(3, "the lighthouse", "hides a secret fish", ben, 0) },
	} {
		w := newWorld(t, nil)
		do(w)
		m := w.withTools(uses("remember", `{"name":"Lighthouse","text":"secret fish"}`))
		a := w.answer(w.asks(lobby, "Remember this about the lighthouse, please"))
		if (len(a.Proposals) == 0) != (name != "nothing") {
			t.Errorf("%s was shown: proposed %+v, told %q", name, a.Proposals, m.outcomes())
		}
	}
}

func TestNothingIsProposedInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	call := []string{"remember", `{"name":"a","text":"b"}`, "remember", `{"name":"c","text":"d"}`, "remember",
		`{"name":"e","text":"f"}`, "remember", `{"name":"g","text":"h"}`}
	m := w.withTools(uses(call...))
	if a := w.answer(w.asks(lobby, "What is the lighthouse password?")); len(a.Proposals) != 3 {
		t.Errorf("proposed %+v, told %q", a.Proposals, m.outcomes())
	}
	golden.Seen(t, m.outcomes()[3])
	w.withTools(uses(call...), first(func() {
		w.deletes(harbor, said)
	}, writes("Yes.")))
	if a := w.answer(w.asks(lobby, "What is the lighthouse password?")); a.Text != withdrawn || len(a.Proposals) > 0 {
		t.Errorf("answered %q, proposed %+v", a.Text, a.Proposals)
	}
}

func TestWhereNothingIsProposed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world, q *Question)
		offers bool
	}{
		"a question":        {func(*world, *Question) {}, true},
		"a direct message":  {func(w *world, q *Question) { *q = w.asks(annsDM, "Remember it?") }, true},
		"a command":         {func(_ *world, q *Question) { q.ID = 0 }, false},
		"the operator":      {func(_ *world, q *Question) { q.Operator = true }, false},
		"one who is there":  {func(_ *world, q *Question) { q.Operator, q.Confirms = true, true }, true},
		"nobody":            {func(_ *world, q *Question) { q.Asker = 0 }, false},
		"who has opted out": {func(w *world, _ *Question) { w.optsOut(ann) }, false},
		"a session that isn't logged": {func(_ *world, q *Question) {
			q.Session = []memory.Message{{ID: q.ID - 1, Guild: guild, Channel: lobby, Author: ben, Content: "hi"}}
		}, false},
		"a channel that isn't remembered": {func(w *world, q *Question) {
			w.apply(memory.Chose{Guild: guild, Channel: lobby, Choice: memory.Ignore, At: noon})
		}, false},
	} {
		w := newWorld(t, nil)
		m := w.withTools()
		q := w.asks(lobby, "Remember it?")
		c.change(w, &q)
		a := w.answer(q)
		if got := slices.Contains(toolNames(m.last()), "remember"); got != c.offers ||
			!slices.Contains(toolNames(m.last()), "search_memory") {
			t.Errorf("%s: offered are %q", name, toolNames(m.last()))
		}
		if logged := name != "a session that isn't logged" &&
			name != "a channel that isn't remembered"; logged != (len(a.Records) == 2) {
			t.Errorf("%s: recorded %+v", name, a.Records)
		}
	}
}
