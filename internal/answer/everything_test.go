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

	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/memory"
)

// everything is a question whose answer is made from all that there can be: each from a message, an author and,
// outside the session, a channel of its own.
type everything struct {
	*world
	stored  *altered
	model   *caller
	happens func() // while the model writes
	q       Question
	from    map[string]memory.Message // by what is made from it
	own     memory.MessageID          // what Hark said in the session
	lore    memory.Lore
	summary memory.Summary
}

const bystander memory.UserID = 24 // whom the question is about

func newEverything(t *testing.T) *everything {
	t.Helper()
	x := &everything{world: newWorld(t, nil), happens: func() {}, from: map[string]memory.Message{}}
	x.noise()
	x.says(95*day, lobby, cleo, "that project again")
	thread := memory.ChannelID(memory.FirstMessageID(noon.Add(-100*day))) + 31
	says := func(kind string, ago time.Duration, channel memory.ChannelID, text string,
		mentions ...memory.UserID) memory.Message {
		n := len(x.from)
		author := memory.UserID(1000 + n)
		if channel == 0 {
			channel = memory.ChannelID(2000 + n)
			x.apply(memory.ChannelSeen{Channel: memory.Channel{ID: channel, Guild: guild, Name: fmt.Sprint("room", n)}})
		}
		m := memory.Message{Guild: guild, Channel: channel, Author: author, Content: text, Mentions: mentions,
			Edited: noon.Add(-time.Hour)}
		if kind == "starter" {
			m.ID = memory.MessageID(thread)
			x.apply(memory.Posted{Message: m})
		} else {
			m.ID = x.posts(ago, m)
		}
		if kind != "hit" { // who spoke there isn't known
			x.apply(memory.PersonSeen{Person: memory.Person{ID: author, Guild: guild, Name: "Speaker" + fmt.Sprint(n)}})
		}
		x.from[kind] = m
		return m
	}
	x.apply(memory.PersonSeen{Person: memory.Person{ID: bystander, Guild: guild, Name: "Dora"}})
	starter := says("starter", 0, 0, "Shall we climb the hill?")
	x.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: starter.Channel,
		Kind: memory.PublicThread, Name: "hill"}})
	hit := says("hit", 50*day, 0, "The lighthouse password is walnut")
	says("neighbour", 50*day-time.Minute, hit.Channel, "really")
	fact, toolFact := says("fact", 90*day, 0, "I have one of bark"), says("a tool's fact", 91*day, 0, "I breed some")
	for i, m := range []memory.Message{fact, toolFact} {
		x.apply(memory.FactTold{Guild: guild, User: m.Author, Fact: memory.Fact{
			ID: int64(5 + i), By: m.Author, Text: []string{"Has a canoe",
				"Breeds zebras"}[i], Channel: m.Channel, Message: m.ID}})
	}
	from, toolFrom := says("lore", 90*day, 0, "it is blue"), says("a tool's lore", 91*day, 0, "not here")
	x.lore = x.tells(1, "Project X", "the boat is blue", 0, 0, memory.MessageRef{Channel: from.Channel, Message: from.ID})
	x.tells(2, "Stable rules", "no smoking", 0, 0, memory.MessageRef{Channel: toolFrom.Channel, Message: toolFrom.ID})
	says("a tool's hit", 60*day, 0, "Zebras eat oats")
	further := says("a further tool's", 60*day, 0, "oil")

	told := says("summary", 5*day, thread, "the bus of <@4> leaves at 9", bystander+1)
	x.summary = memory.Summary{ID: told.ID, Guild: guild, Channel: thread, Text: "The bus leaves at 9",
		Kind: memory.SummaryTalk, Made: noon,
		Sources: memory.SourcesOf([]memory.Message{told})}
	x.apply(memory.Summarised{Guild: guild, Channel: thread, Until: told.ID, Summary: &x.summary})
	says("replied to", 3*day, thread, "long ago")
	condensed := says("condensed", 20*time.Minute, thread, "480 euros, say <@4>", bystander+2)
	x.apply(memory.SessionCondensed{Condensed: memory.Condensed{Guild: guild, Channel: thread, Until: condensed.ID,
		Text: "The budget was agreed on", Made: noon, Model: "m", Sources: memory.SourcesOf([]memory.Message{condensed})}})
	says("session", 5*time.Minute, thread, "somebody should know")
	origin := says("an answer", 92*day, 0, "of the budget")
	x.own = x.says(4*time.Minute, thread, oracle, "As I said")
	x.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: thread, Answer: x.own, Asker: ann,
		Sources: []memory.Source{origin.AsSource(true)}}})

	old := says("an old answer", 93*day, 0, "of the bank")
	older := x.says(40*day, thread, oracle, "Long ago I said")
	x.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: thread, Answer: older, Asker: ann,
		Sources: []memory.Source{old.AsSource(true)}}})

	x.q = x.asks(thread, "What is the walnut lighthouse password in Project X?")
	x.q.ReplyTo, x.q.Mentions = x.from["replied to"].ID, []memory.UserID{bystander, fact.Author}
	tool := echo("", func(_ *tools.Turn, ctx context.Context) (tools.Outcome, error) {
		shown, err := x.store.Around(ctx, further.Channel, []memory.MessageID{further.ID}, 0, 0)
		answers, more := x.store.Around(ctx, thread, []memory.MessageID{older}, 0, 0)
		return tools.Outcome{Text: "something about oil", Emission: manifest.Emission{
			Shown: append(shown, answers...), Named: []memory.UserID{bystander + 3}}}, errors.Join(err, more)
	})
	x.model = &caller{steps: []step{
		uses("search_memory", `{"query":"zebras oats","limit":1}`, "get_participant", `{"name":"`+
			tag(toolFact.Author)+`"}`, "recall_lore", `{"name":"stable rules"}`, "echo", `{}`),
		first(func() { x.happens() }, writes("So it is.")),
	}}
	x.stored = x.alter(x.model, Options{Long: x.notice, ToolRounds: 2, ToolTokens: 4000, KeepPrompts: true})
	x.engine.tools.Tools = append(x.engine.tools.Tools, tool)
	x.stored.restore()
	return x
}

// asked answers the question.
func (x *everything) asked() Answer {
	x.t.Helper()
	x.model.got = nil
	return x.answer(x.q)
}

// TestAnswersAreMadeFromAllThatIsShown holds that an answer's trace names all its sources, in the version shown, so
// that the answer goes with each.
func TestAnswersAreMadeFromAllThatIsShown(t *testing.T) {
	t.Parallel()
	x := newEverything(t)
	a := x.asked()
	prompt := sent(x.model.last().Messages)
	has(t, prompt, "hill?", "is walnut", "really", "Has a canoe", "the boat is blue", "The bus leaves at 9",
		"long ago", "The budget was agreed on",
		"somebody should know", "As I said", "Zebras eat oats", "Breeds zebras", "no smoking", "something about oil",
		"(Dora)")
	hasNot(t, prompt, "of bark", "I breed some", "it is blue\n", "not here", "480 euros", "<@4>", "of the budget")
	want := []memory.Source{{Kind: memory.SourceFact, ID: 5}, {Kind: memory.SourceFact, ID: 6},
		{Kind: memory.SourceLore, ID: 2, Version: int64(memory.FirstMessageID(noon.Add(-day)))},
		{Kind: memory.SourceLore, ID: 1,
			Version: int64(memory.FirstMessageID(x.lore.At))}, memory.Message{
			Channel: x.q.Channel, ID: x.q.ID}.AsSource(false),
		{Kind: memory.SourceSummary, Channel: x.q.Channel, ID: int64(x.summary.ID),
			Version: x.summary.Made.UnixMilli()}}
	trace := a.Trace
	trace.Prompt = nil
	body, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	// ids and numbers only
	hasNot(t, string(body), "walnut", "canoe", "boat", "bus", "budget", "oats", "lighthouse", "Speaker", "Ann", "room")
	i := slices.IndexFunc(trace.Recalled, func(h memory.TraceHit) bool { return h.Message == x.from["hit"].ID })
	if h := trace.Recalled[i]; h.Number != 1 || !h.Context || h.Relevance == 0 || len(h.Why) == 0 ||
		trace.Asker != ann || trace.Question != x.q.ID {
		t.Errorf("trace %s", body)
	}
	for kind, m := range x.from {
		if !strings.Contains(kind, "answer") { // these answers are
			want = append(want, m.AsSource(false))
		}
	}
	for _, s := range append(want, memory.Message{Channel: x.q.Channel, ID: x.own}.AsSource(false)) {
		if !slices.ContainsFunc(a.Trace.Sources, func(is memory.Source) bool { is.Repeats = false; return is == s }) {
			t.Errorf("%+v isn't among %+v", s, a.Trace.Sources)
		}
	}
	for _, who := range []memory.UserID{x.from["session"].Author, x.from["a tool's fact"].Author,
		x.from["a tool's hit"].Author, bystander, bystander + 1, bystander + 2, bystander + 3} {
		if !slices.Contains(a.Trace.Named, who) {
			t.Errorf("%d isn't among %v", who, a.Trace.Named)
		}
	}
	for _, kind := range []string{"a tool's lore", "fact", "condensed"} { // see memorytest for what else goes with what
		x := newEverything(t)
		id, m := x.gives(x.q, -time.Minute), x.from[kind]
		if _, err := memory.TraceOf(t.Context(), x.store, m.Channel, id); x.q.Channel == m.Channel && err != nil {
			t.Errorf("it isn't kept: %v", err)
		}
		x.apply(memory.Edited{Guild: guild, Channel: m.Channel, ID: m.ID, Content: "Nothing to see",
			At: noon.Add(time.Minute)})
		if left, err := x.store.Around(t.Context(), x.q.Channel, []memory.MessageID{id}, 0, 0); err != nil ||
			len(left) > 0 {
			t.Errorf("made from %s: the answer is still there: %v, %v", kind, left, err)
		}
	}
}

// TestNothingIsRecalledWithoutConsent holds that the model is shown nothing of authors who opted out, of places
// that aren't remembered, or that is gone, even if the store still has it.
func TestNothingIsRecalledWithoutConsent(t *testing.T) {
	t.Parallel()
	x := newEverything(t)
	s := x.stored
	for kind, mark := range map[string]string{
		"starter": "hill?", "hit": "is walnut", "neighbour": "really", "fact": "Has a canoe",
		"lore": "the boat is blue", "summary": "The bus leaves at 9",
		"replied to": "long ago", "condensed": "The budget was agreed on", "session": "somebody should know",
		"an answer":    "As I said",
		"a tool's hit": "Zebras eat oats", "a tool's fact": "Breeds zebras", "a tool's lore": "no smoking",
	} {
		m := x.from[kind]
		changes := map[string]func(){
			"opted out":      func() { s.out[m.Author] = true },
			"not remembered": func() { s.guild = choose(m.Channel, memory.Ignore) },
			"Hark removed":   func() { s.guild = left },
		}
		if !slices.Contains([]string{"hit", "neighbour", "session", "a tool's hit"}, kind) {
			changes["gone"] = func() { s.said[m.ID] = nil }
		}
		switch kind {
		case "summary":
			changes["who is mentioned opted out"] = func() { s.out[bystander+1] = true }
		case "condensed":
			changes["who is mentioned opted out"] = func() { s.out[bystander+2] = true }
			changes["switched off"] = func() { x.engine.options.Long = nil }
		}
		for name, change := range changes {
			change()
			x.asked()
			shown := sent(x.model.last().Messages)
			if strings.Contains(shown, mark) || name == "opted out" && strings.Contains(shown, tag(m.Author)) {
				t.Errorf("%s, %s: the model was shown\n%s", kind, name, shown)
			}
			s.restore()
			x.engine.options.Long = x.notice
		}
	}
}

// TestAnswersAreTakenBack holds that an answer is withdrawn if any of its sources goes while the model writes, even
// if the store still has it.
func TestAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	x := newEverything(t)
	try := func(name string, taken bool, happens func()) {
		t.Helper()
		x.happens = happens
		a := x.asked()
		if (a.Text == withdrawn) != taken {
			t.Errorf("%s: answered %q", name, a.Text)
		}
		if taken && (len(a.Sources)+len(a.Trace.Recalled) > 0 || len(a.Trace.Sources) > 1 || // the question is one
			!slices.Equal(outcomesOf(a.Records), []string{"", "taken back"})) {
			t.Errorf("%s: its sources are still told: %+v, %+v", name, a.Trace, a.Records)
		}
		x.stored.restore()
	}
	s := x.stored
	try("nothing", false, func() {})
	try("somebody else opts out", false, func() { s.out[cleo+100] = true })
	try("something else is deleted", false, func() { s.said[x.q.ID+1] = nil })
	try("another channel is ignored", false, func() { s.guild = choose(vault, memory.Ignore) })
	for kind, m := range x.from {
		try(kind+" deleted", true, func() { s.said[m.ID] = nil })
		try(kind+" of who opts out", true, func() { s.out[m.Author] = true })
		try(kind+" where nothing is remembered", true, func() { s.guild = choose(m.Channel, memory.Ignore) })
		if !strings.Contains(kind, "answer") { // the store takes that away
			try(kind+" edited", true, func() { s.said[m.ID] = &memory.Message{Content: "never mind"} })
		}
	}
	for name, who := range map[string]memory.UserID{"is asked about": bystander,
		"is mentioned in a summary": bystander + 1, "is mentioned in what was condensed": bystander + 2} {
		try("somebody opts out who "+name, true, func() { s.out[who] = true })
	}
	try("Hark is removed", true, func() { s.guild = left })
	try("the store fails", true, func() { s.fails = true })
	settled := errors.New("ask again in a moment")
	x.happens = func() {}
	asked := 0
	x.q.WaitReady = func(context.Context) error {
		if asked++; asked > 2 {
			return settled
		}
		return nil
	}
	if a := x.asked(); a.Text != withdrawn || !errors.Is(a.ModelError, settled) {
		t.Errorf("once nobody knows who may read what: %q, %v", a.Text, a.ModelError)
	}
	x.q.WaitReady = func(context.Context) error { return settled }
	if _, err := x.engine.Answer(t.Context(), x.q, nil); !errors.Is(err, settled) || len(x.model.got) != 2 {
		t.Errorf("before anybody knows who may read what: %v", err)
	}
}

// TestAnswersAreTakenBackWithWhatWasMade holds the same for what was made of messages. Additions change nothing.
func TestAnswersAreTakenBackWithWhatWasMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken bool
		event func(x *everything) memory.Event
	}{
		"lore removed": {true, func(x *everything) memory.Event {
			return memory.LoreGone{Guild: guild, ID: x.lore.ID}
		}},
		"lore changed": {true, func(x *everything) memory.Event {
			x.lore.At, x.lore.Text = noon, "the boat is red"
			return memory.LoreTold{Lore: x.lore}
		}},
		"lore added": {false, func(*everything) memory.Event {
			return memory.LoreTold{Lore: memory.Lore{ID: 3, Guild: guild, Name: "Project Y", Text: "is red", At: noon}}
		}},
		"a summary made anew": {true, func(x *everything) memory.Event {
			x.summary.Made = noon.Add(time.Hour)
			return memory.Summarised{Guild: guild, Channel: x.q.Channel, Until: x.summary.ID, Summary: &x.summary}
		}},
		"a fact removed": {true, func(x *everything) memory.Event {
			return memory.FactGone{Guild: guild, User: x.from["fact"].Author, Fact: 5}
		}},
		"a fact changed": {true, func(x *everything) memory.Event {
			return memory.FactTold{Guild: guild, User: x.from["fact"].Author,
				Fact: memory.Fact{ID: 5, Text: "Has a boat"}}
		}},
		"a fact added": {false, func(x *everything) memory.Event {
			return memory.FactTold{Guild: guild, User: x.from["fact"].Author, Fact: memory.Fact{ID: 9, Text: "Sings"}}
		}},
		"an own answer goes on": {false, func(x *everything) memory.Event {
			return memory.Edited{Guild: guild, Channel: x.q.Channel, ID: x.own,
				Content: "As I said, it is so", At: noon}
		}},
		"an own answer is written anew": {true, func(x *everything) memory.Event {
			return memory.Edited{Guild: guild, Channel: x.q.Channel, ID: x.own, Content: "I don't know", At: noon}
		}},
	} {
		x := newEverything(t)
		x.happens = func() { x.apply(c.event(x)) }
		if a := x.asked(); (a.Text == withdrawn) != c.taken {
			t.Errorf("%s: answered %q", name, a.Text)
		}
	}
}

// TestFailuresOfTheStoreAreReported fails each call to the store and the search once. Each failure is reported, and
// none leaves an answer that wasn't revalidated.
func TestFailuresOfTheStoreAreReported(t *testing.T) {
	t.Parallel()
	x := newEverything(t)
	command := Question{Guild: guild, Channel: x.q.Channel, Asker: ann, Name: "Ann", Text: "lighthouse",
		Now: noon.Add(time.Minute), Roles: []memory.RoleID{}}
	answer := x.gives(x.q, -time.Minute)
	x.model.steps = slices.Insert(x.model.steps, 1, uses("conversation_history", `{}`, "search_memory",
		`{"query":"oats","author":"Ben"}`))
	x.engine.tools.Rounds = 3
	goesOn := x.q
	goesOn.Text, goesOn.Operator, goesOn.Everywhere = "and in Project X?", true, true
	answered := func(q Question, model Model) func() error {
		return func() error {
			x.engine.model = model
			if m, is := model.(*caller); is {
				m.got = nil
			}
			a, err := x.engine.Answer(t.Context(), q, nil)
			return errors.Join(err, a.ModelError, a.ToolFailed)
		}
	}
	caughtUp := func(model Model) func() error {
		return func() error {
			x.engine.model = model
			c, err := x.engine.CatchUp(t.Context(), command, noon.Add(-day))
			return errors.Join(err, c.Away)
		}
	}
	spy := x.spied()
	for name, c := range map[string]struct {
		least int
		do    func() error
	}{
		"answer":              {60, answered(x.q, x.model)},
		"quote":               {30, answered(x.q, nil)},
		"quote after all":     {60, answered(x.q, &scripted{err: errors.New("down")})},
		"ask in short":        {60, answered(x.q, &caller{steps: []step{fails(refusal{}), writes("Yes.")}})},
		"quote for all":       {25, answered(goesOn, nil)},
		"go on":               {30, answered(goesOn, &scripted{pieces: []string{"Yes."}})},
		"catch up":            {5, caughtUp(nil)},
		"catch up by a model": {7, caughtUp(&scripted{pieces: []string{"- They talked"}})},
		"find": {5, func() error {
			like := command
			like.ID = x.from["session"].ID
			_, err := x.engine.Find(t.Context(), like)
			return err
		}},
		"look": {5, func() error {
			_, err := x.engine.Inspect(t.Context(), command, []FoundMessage{{Channel: x.q.Channel, Message: x.own}})
			return err
		}},
		"explain": {5, func() error {
			told, err := x.engine.Explain(t.Context(), command, answer)
			if err != nil && len(told.Recalled) > 0 {
				t.Errorf("explained all the same: %+v", told)
			}
			return err
		}},
		"lore": {5, func() error {
			_, err := x.engine.Lore(t.Context(), command)
			return err
		}},
		"condense": {4, func() error {
			_, err := x.engine.longPart(t.Context(), command)
			return err
		}},
	} {
		calls := &faulty{Log: x.stored, n: 1 << 20}
		spy.n = 1 << 20
		x.engine.model, x.engine.log = nil, checkedLog{calls, x.engine.upstream}
		if err := c.do(); errors.Is(err, errDisk) {
			t.Fatalf("%s: %v", name, err)
		}
		made, searched := 1<<20-calls.n, 1<<20-spy.n
		if made < c.least {
			t.Errorf("%s: only %d calls", name, made)
		}
		for n := 1; n <= made; n++ {
			calls.n = n
			if err := c.do(); !errors.Is(err, errDisk) {
				t.Errorf("%s: call %d of %d failed: %v", name, n, made, err)
			}
		}
		for n := 1; n <= searched; n++ {
			calls.n, spy.n = 0, n
			if err := c.do(); !errors.Is(err, errDisk) {
				t.Errorf("%s: search %d of %d failed: %v", name, n, searched, err)
			}
		}
	}
}
