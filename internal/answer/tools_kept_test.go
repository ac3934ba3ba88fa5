package answer

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// What a further tool says that it showed and named counts as what Hark's own do.
func TestFurtherToolsTellTheirSources(t *testing.T) {
	t.Parallel()
	const dora, elsa memory.UserID = 31, 32
	for _, gone := range []bool{false, true} {
		w := newWorld(t, nil)
		w.noise()
		for id, name := range map[memory.UserID]string{dora: "Dora", elsa: "Elsa"} {
			w.apply(memory.PersonSeen{Person: memory.Person{ID: id, Guild: guild, Name: name}})
		}
		source := w.says(60*day, harbor, ben, "Zebras eat oats")
		tool := echo{"", func(ctx context.Context, _ *Turn, _ json.RawMessage) (Outcome, error) {
			shown, err := w.store.Messages(ctx, harbor, []memory.MessageID{source})
			return Outcome{Text: "something about oats", Shown: shown, Named: []memory.UserID{elsa}}, err
		}}
		m := &caller{steps: []step{uses("echo", `{}`, "get_participant", `{"name":"Dora"}`), first(func() {
			if gone {
				w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{source}})
			}
		}, writes("Oats."))}}
		w.engine = w.over(w.store, m, builder.Options{Citations: true}, Options{ToolRounds: 4, Tools: []Tool{tool}, KeepPrompts: true})
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		if gone {
			if a.Text != withdrawn {
				t.Errorf("answered %q", a.Text)
			}
			continue
		}
		if !slices.ContainsFunc(a.Trace.Recalled, func(h memory.TraceHit) bool { return h.Message == source && h.Context }) {
			t.Errorf("the source isn't among %+v", a.Trace.Recalled)
		}
		for _, who := range []memory.UserID{ben, dora, elsa} {
			if !slices.Contains(a.Trace.Named, who) {
				t.Errorf("%d isn't among %v", who, a.Trace.Named)
			}
		}
	}
}

// outNow is a log in which somebody has opted out, although all that they said is still there.
type outNow struct {
	Log
	who memory.UserID
	now *bool
}

func (o outNow) OptedOut(ctx context.Context, g memory.GuildID, who memory.UserID) (bool, error) {
	if *o.now && who == o.who {
		return true, nil
	}
	return o.Log.OptedOut(ctx, g, who)
}

// Consent is asked for again before a tool tells anything.
func TestToolsAskForConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	w.says(60*day, harbor, ben, "Zebras eat oats")
	w.says(time.Minute, lobby, ann, "well")
	w.tells(1, "Zebra rules", "oats only", ben, 0)
	out := false
	m := &caller{steps: []step{first(func() { out = true }, uses("search_memory", `{"query":"zebras oats"}`, "get_participant", `{"name":"Ben"}`, "recall_lore", `{}`))}}
	w.engine = w.over(outNow{w.store, ben, &out}, m, builder.Options{Citations: true}, Options{ToolRounds: 4})
	w.answer(w.asks(lobby, "What is the lighthouse password?"))
	for i, outcome := range m.outcomes() {
		hasNot(t, outcome, "eat oats", "(Ben)", "Zebra")
		if outcome == "" {
			t.Errorf("outcome %d tells nothing", i)
		}
	}
}
