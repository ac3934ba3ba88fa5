package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/golden"
	"hark/memory"
)

func TestPeopleAreLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	w.says(60*day, harbor, ben, "Zebras eat oats")
	w.says(2*day, vault, ben, "hush")
	open, secret := w.says(61*day, harbor, ben, "I breed zebras"), w.says(61*day, vault, ben, "I breed canaries")
	for i, f := range []memory.Fact{
		{Text: "breeds zebras", By: ben, Channel: harbor, Message: open}, {Text: "breeds canaries", By: ben,
			Channel: vault, Message: secret},
		{Text: "Benny the Great", Alias: true, By: ben}, {Text: "sings", By: cleo},
	} {
		f.ID = int64(i + 1)
		w.apply(memory.FactTold{Guild: guild, User: ben, Fact: f})
	}
	w.apply(memory.PersonSeen{Person: memory.Person{ID: 24, Guild: guild, Name: "Olga"}})
	w.optsOut(24)
	for i, names := range [][]string{ // of Ben, of Ann, and of nobody: Olga has opted out
		{"Ben", "ben ", "Bem", "<@22>", "<@!22>", "22", "@22", "‹@22›", "the great Benny"}, {"Ann"}, {"Zoe",
			"Olga", "<@24>", "?", "<@99999999999999999999>"},
	} {
		told := ""
		for _, name := range names {
			m := w.withTools(uses("get_participant", fmt.Sprintf(`{"name":%q}`, name)))
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if got := m.outcomes()[0]; name == names[0] {
				told = got
			} else if got != told {
				t.Errorf("%q: told %q, of %q %q", name, got, names[0], told)
			}
			if facts := []int64{1, 3, 4}; i == 0 && (!slices.Equal(a.Trace.IDsOf(memory.SourceFact), facts) ||
				a.Records[1].Outcome != "1 participant") {
				t.Errorf("%q: used the facts %v, recorded %+v", name, a.Trace.Sources, a.Records[1])
			}
		}
		golden.Seen(t, told)
	}
}

// Who else writes to Hark is nobody's business.
func TestDirectMessagesTellOfNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(day, bensDM, ben, "The lighthouse password is canary")
	w.says(day, annsDM, ann, "The lighthouse password is tuna")
	m := w.withTools(uses("get_participant", `{"name":"Ben"}`, "get_participant", `{"name":"<@22>"}`,
		"search_memory", `{"query":"password","author":"Ben"}`, "search_memory", `{"query":"password","author":"Zoe"}`,
		"get_participant", `{"name":"Zoe"}`), uses("get_participant", `{"name":"Ann"}`))
	w.answer(w.asks(annsDM, "What is it?"))
	got := m.outcomes()
	hasNot(t, strings.Join(got, "\n"), "canary", "(Ben)")
	if got[0] != got[4] || got[1] != got[4] || got[2] != got[3] || !strings.Contains(got[5], "(Ann)") {
		t.Errorf("told %q", got)
	}
}

func TestLoreIsLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	secret := w.says(61*day, vault, ben, "canary")
	w.apply(memory.PersonSeen{Person: memory.Person{ID: 24, Guild: guild, Name: "Olga"}})
	m := w.withTools()
	w.answer(w.asks(lobby, "What is it?"))
	if slices.Contains(toolNames(m.last()), "recall_lore") {
		t.Error("lore is offered where there is none")
	}
	w.tells(1, "Project X", "the boat is blue", ben, harbor)
	w.tells(2, "Albatross club", "meets on Mondays", cleo, 0)
	w.tells(3, "Canary", "is in the vault", cleo, vault)
	w.tells(4, "Canary song", "is in the vault", cleo, 0, memory.MessageRef{Channel: vault, Message: secret})
	w.tells(5, "Olga's canary", "is Olga's", 24, 0)
	w.optsOut(24)
	q := w.asks(lobby, "What is it?")
	var told strings.Builder
	for _, tt := range []struct {
		arguments string
		lore      []int64
	}{
		{`{}`, []int64{2, 1}}, {``, []int64{2, 1}}, {`{"name":"the X project"}`,
			[]int64{1}}, {`{"name":"PX"}`, []int64{1}}, {`{"name":"albatross"}`, []int64{2}},
		// what is closed is as what isn't there
		{`{"name":"canary"}`, nil}, {`{"name":"Canary song"}`, nil}, {`{"name":"dodo"}`, nil},
	} {
		m := w.withTools(uses("recall_lore", tt.arguments))
		a := w.answer(q)
		got := m.outcomes()[0]
		if !slices.Equal(a.Trace.IDsOf(memory.SourceLore), tt.lore) || strings.Contains(got, "vault") ||
			strings.Contains(got, "anary") {
			t.Errorf("%s: told %q from lore %v", tt.arguments, got, a.Trace.Sources)
		}
		fmt.Fprintf(&told, "%s\n%s\n\n", tt.arguments, got)
	}
	golden.Seen(t, told.String())
	// A question that is narrowed down is answered from there.
	for i, f := range []Filter{{In: []memory.ChannelID{harbor}}, {From: []memory.UserID{ben}}} {
		q.Filter = f
		m := w.withTools(uses("recall_lore", `{}`))
		w.answer(q)
		if got := m.outcomes()[0]; !strings.Contains(got, "Project X") || strings.Contains(got, "Albatross") {
			t.Errorf("filter %d: told %q", i, got)
		}
	}
}

func TestTheTimeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := &caller{steps: []step{uses("current_time", `{}`, "current_time", `{"zone":"Asia/Tokyo"}`,
		"current_time", `{"zone":" UTC "}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 1, Zone: time.FixedZone("X", 3600)})
	w.answer(w.asks(lobby, "What time is it?"))
	golden.Seen(t, strings.Join(m.outcomes(), "\n"))
	// a channel's doesn't count
	w.apply(sets(0, memory.SettingTimezone, "Asia/Tokyo"), sets(lobby, memory.SettingTimezone, "Europe/Berlin"))
	m.got = nil
	w.answer(w.asks(lobby, "What time is it?"))
	has(t, m.outcomes()[0], "21:00", "Asia/Tokyo")
}

// A question that goes on from an answer that searched is a search, too.
func TestTheModeKnowsOfEarlierTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call []string
		want builder.Mode
	}{
		"looked up": {[]string{"search_memory", `{"query":"zebras"}`}, builder.ModeSearch},
		"in vain":   {[]string{"search_memory", `{}`}, builder.ModeGeneral},
		"the time":  {[]string{"current_time", `{}`}, builder.ModeGeneral},
	} {
		w := newWorld(t, nil)
		w.withTools(uses(c.call...))
		a := w.answer(w.asks(lobby, "zebras"))
		id := w.says(-time.Second, lobby, oracle, a.Text)
		a.Trace.Answer, a.Trace.Parts = id, []memory.MessageID{w.says(-2*time.Second, lobby, oracle, "and more")}
		w.apply(memory.Answered{Trace: a.Trace})
		r := w.recalled(w.asksAt(2*time.Minute, lobby, "in june?"))
		if r.Mode.Is != c.want {
			t.Errorf("%s by answer %d: mode %+v", name, id, r.Mode)
		}
		has(t, r.Prompt.String(), "and more")
	}
}

func TestTextBeforeCallsStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{[]string{"", "", "Well."}, "Well."},
		{[]string{"One.", "Two.", "Three."}, "One.\n\nTwo.\n\nThree."},
		{[]string{"One.\n", " \n", "\n\nThree."}, "One.\n\nThree."},
		{[]string{"One.\n\n", "", " "}, "One."},
		{[]string{" ", "Two", ""}, "Two"},
	} {
		m := w.withTools(usesAfter(tt.texts[0], "current_time", `{}`),
			usesAfter(tt.texts[1], "current_time", `{"zone":"UTC"}`), writes(tt.texts[2]))
		var streamed []string
		a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What time is it?"), func(s string) {
			streamed = append(streamed, s)
		})
		if err != nil || a.Text != tt.want {
			t.Errorf("%q: answered %q, %v", tt.texts, a.Text, err)
		}
		for i := 1; i < len(streamed); i++ {
			if !strings.HasPrefix(streamed[i], streamed[i-1]) || len(streamed[i]) == len(streamed[i-1]) {
				t.Errorf("%q: streamed %q", tt.texts, streamed)
			}
		}
		checkShape(t, m.last())
	}
}

// outcomesOf are how calls came out.
func outcomesOf(records []memory.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.Outcome)
	}
	return all
}

// A failure after something was written is an error with that text; before it, the answer quotes.
func TestModelsThatFailAfterCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	w.withTools(usesAfter("Let me look.", "current_time", `{}`), fails(errDisk))
	if a, err := w.engine.Answer(t.Context(), q, nil); !errors.Is(err, errDisk) || a.Text != "Let me look." ||
		len(a.Records) != 3 {
		t.Errorf("answered %q, %v, %+v", a.Text, err, a.Records)
	}
	w.withTools(uses("current_time", `{}`), fails(errDisk))
	if a := w.answer(q); !errors.Is(a.ModelError, errDisk) ||
		!strings.Contains(a.Text, "> The lighthouse password is swordfish") || len(a.Trace.Calls) != 1 ||
		a.Usage.Calls != 2 || !slices.Equal(outcomesOf(a.Records), []string{"", "quoted, 1 source"}) {
		t.Errorf("answered %q, %v, %+v", a.Text, a.ModelError, a.Records)
	}
	// What is too long after calls is asked again in short, without tools.
	m := w.withTools(uses("search_memory", `{"query":"x"}`), fails(refusal{900, 1000}), writes("It is [1]."))
	if a := w.answer(q); a.Text != "It is [1]." || a.Shortened == nil && len(m.got) > 2 ||
		len(m.last().Tools) > 0 || !slices.Equal(outcomesOf(a.Records), []string{"", "answered, 1 source"}) {
		t.Errorf("answered %q after %d requests, %v, %v", a.Text, len(m.got), a.ModelError, a.Shortened)
	}
}

// What was there when tools were offered may be gone when they are called, or have no room.
func TestNothingToTell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	l := w.tells(2, "Albatross club", "meets on Mondays", cleo, 0)
	m := w.withTools(first(func() { w.apply(memory.LoreGone{Guild: guild, ID: l.ID}) }, uses("recall_lore", `{}`)))
	w.answer(w.asks(lobby, "What is it?"))
	told := m.outcomes()[0] + "\n"
	w.tells(3, "Albatross club", "meets on Mondays", cleo, 0)
	w.says(9*day, harbor, ben, "Zebras eat oats")
	q := w.asks(lobby, "Who?")
	r := w.recall(q)
	r.Prompt.Shown, r.Prompt.Numbers = nil, nil
	for i, arguments := range []string{`{"query":"zebras"}`, `{"name":"Ben"}`, `{}`} {
		tool, turn := w.engine.tools.Tools[i], w.engine.turn(q, r)
		turn.Room = 3
		out, err := tool.Call(turn, t.Context(), json.RawMessage(arguments))
		if err != nil || len(out.Shown)+len(out.Lore)+len(out.People) > 0 {
			t.Errorf("%s told %+v, %v", tool.Name, out, err)
		}
		told += out.Text + "\n"
	}
	golden.Seen(t, told)
	for i := range 8 { // one message has room, its neighbours haven't
		w.says(9*day-time.Duration(i+1)*time.Second, harbor, cleo, "and oats are eaten by zebras, again "+
			strings.Repeat("and again ", 9))
	}
	for _, c := range []struct {
		room  int
		shown bool
	}{{100, true}, {10, false}} {
		turn := w.engine.turn(q, r)
		turn.Room = c.room
		out, err := w.engine.tools.Tools[0].Call(turn, t.Context(), json.RawMessage(`{"query":"zebras"}`))
		if err != nil || (len(out.Shown) == 1) != c.shown || c.shown != strings.Contains(out.Text, "zebras") {
			t.Errorf("in %d tokens told %+v, %v", c.room, out, err)
		}
	}
}

// Outcomes without room say so.
func TestOutcomesAreCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	var rooms []int
	long := echo(takesNumber, func(turn *tools.Turn, _ context.Context) (tools.Outcome, error) {
		rooms = append(rooms, turn.Room)
		return tools.Outcome{Text: strings.Repeat("Much is said here.\n", 400)}, nil
	})
	blank := echoes(" ")
	m := &caller{steps: []step{uses("echo", `{"n":1}`, "echo", `{"n":2}`),
		uses("search_memory", `{"query":"lighthouse password","limit":25}`)}}
	w.engine = w.over(w.store, m, builder.Options{MaxTokens: 400}, Options{ToolRounds: 4, ToolTokens: 1500}, long)
	w.answer(w.asks(lobby, "What is the lighthouse password?"))
	got := m.outcomes()
	if len(rooms) != 2 || len(got) != 3 {
		t.Fatalf("rooms %v, told %q", rooms, got)
	}
	for i, room := range rooms {
		if tokens := w.engine.builder.MessageTokens(got[i]); tokens > room || tokens < room/2 ||
			!strings.HasSuffix(got[i], "Much is said here."+"\n(The rest is left out: there is no room for it.)") {
			t.Errorf("of %d tokens are used %d: %q", room, tokens, got[i])
		}
	}
	if !strings.Contains(got[2], "more") || !strings.Contains(got[2], "The lighthouse password of day") {
		t.Errorf("told %q", got[2])
	}
	m = &caller{steps: []step{uses("echo", `{"n":1}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 4}, blank)
	w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if got := m.outcomes(); got[0] != "Nothing." {
		t.Errorf("told %q", got)
	}
	// Without room for a single call none is made.
	m = &caller{steps: []step{uses("echo", `{"n":1}`)}}
	w.engine = w.over(w.store, m, builder.Options{}, Options{ToolRounds: 4, ToolTokens: 100}, blank)
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if a.Trace.Calls[0].Outcome != "no room" || len(m.last().Tools) > 0 || len(m.last().Messages) != 2 ||
		!strings.HasSuffix(m.last().Messages[1].Content, "\n\nThere is no room left for more outcomes of tools. "+
			"Answer the query now, with what you have.") {
		t.Errorf("calls %+v, told %+v", a.Trace.Calls, m.last().Messages)
	}
}
