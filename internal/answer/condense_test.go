package answer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/internal/golden"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// keeper is a model that answers with a nod, and condenses to the lines with a figure in them.
type keeper struct {
	name     string                        // if it isn't keeper-1
	asked    int                           // to condense
	got      []chat.Message                // what it was sent for that
	condense func(lines []string) []string // nil: as said
}

func (k *keeper) Name() string { return cmp.Or(k.name, "keeper-1") }

func (k *keeper) Chat(_ context.Context, q chat.Request, delta func(string)) (chat.Reply, error) {
	if q.Messages[0].Content != digest.CondenseInstruction {
		delta("I will keep that in mind.")
		return chat.Reply{Text: "I will keep that in mind."}, nil
	}
	var lines []string
	for line := range strings.Lines(q.Messages[1].Content) {
		var m struct{ Summary, Author, Text string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return chat.Reply{}, err
		}
		if lines = append(lines, m.Author+": "+strings.TrimPrefix(m.Text, "<@29> ")); m.Summary != "" {
			lines[len(lines)-1] = m.Summary
		}
	}
	k.asked, k.got = k.asked+1, q.Messages
	kept := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return !strings.ContainsAny(line, "0123456789")
	})
	if k.condense != nil {
		kept = k.condense(lines)
	}
	if len(kept) == 0 {
		kept = lines[:1]
	}
	return chat.Reply{Text: strings.Join(kept, "\n")}, nil
}

// condensedTitle stands over what a session was condensed to.
var condensedTitle = builder.DefaultLabels().Condensed

// condensing is a world whose sessions are condensed by model.
func condensing(t testing.TB, model Model) *world {
	t.Helper()
	w := newWorld(t, model)
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{Long: w.notice})
	return w
}

// notice takes up that a session may have grown long. See Options.Long.
func (w *world) notice(channel memory.ChannelID, long digest.Long) { w.long[channel] = long }

// condense condenses a session, and returns the result; nil if it isn't long.
func (w *world) condense(channel memory.ChannelID, long digest.Long) (*memory.Condensed, error) {
	made, worker := 0, w.digests(noon)
	worker.Done = func(digest.Kind, memory.ChannelID, int, string) { made++ }
	err := worker.Condense(w.t.Context(), channel, long)
	if made == 0 {
		return nil, err
	}
	return w.condensedIn(channel), err
}

func (w *world) condenseAt(channel memory.ChannelID, at time.Time) (*memory.Condensed, error) {
	q := Question{Guild: guild, Channel: channel, Now: at}
	return w.condense(channel, func(ctx context.Context) (*digest.Part, error) { return w.engine.longPart(ctx, q) })
}

// condensesNow condenses a channel's session, which must be long.
func (w *world) condensesNow(channel memory.ChannelID) memory.Condensed {
	w.t.Helper()
	c, err := w.condenseAt(channel, noon)
	if err != nil || c == nil {
		w.t.Fatalf("condensed to %v, %v", c, err)
	}
	return *c
}

// drain condenses all sessions that wait, and returns the results.
func (w *world) drain() (made []memory.Condensed) {
	w.t.Helper()
	for channel, long := range w.long {
		c, err := w.condense(channel, long)
		if err != nil {
			w.t.Fatal(err)
		}
		if c != nil {
			made = append(made, *c)
		}
	}
	clear(w.long)
	return made
}

// condensings are the counted successes and failures.
func (w *world) condensings() (made, failed int) {
	counted := w.counted()
	return counted["hark_sessions_condensed_total"], counted["hark_sessions_condense_failed_total"]
}

func (w *world) condensedIn(channel memory.ChannelID) *memory.Condensed {
	w.t.Helper()
	all, err := w.store.Condensed(w.t.Context(), channel)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// chats has Ben and Cleo speak by turns, a minute apart, until a minute before noon. The first has a figure.
func (w *world) chats(channel memory.ChannelID, turns int) (said []memory.MessageID) {
	w.t.Helper()
	w.atOnce(func() {
		for i := range turns {
			text := fmt.Sprintf("And the %s of the %s?", strings.Repeat("o", i/10+1)+"kra",
				strings.Repeat("i", i%10+1)+"sland")
			if i == 0 {
				text = "We agreed that the budget is 480 euros"
			}
			said = append(said, w.says(time.Duration(turns-i)*time.Minute, channel,
				[]memory.UserID{ben, cleo}[i%2], text))
		}
	})
	return said
}

// A dialogue of sixty turns condenses three times and still knows its first decision, also after a restart.
func TestLongDialogueKnowsItsFirstDecision(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	lines := map[int]string{0: "Let's decide: the budget is 480 euros.", 10: "Ben comes at 17:30.",
		20: "We need 12 tents.", 30: "Ben comes at 18:45 after all."}
	var made []memory.Condensed
	for turn := 0; turn < 60; turn += 2 {
		text := lines[turn]
		if text == "" {
			text = "And the " + strings.Repeat("o", turn/10+1) + "kra for the " +
				strings.Repeat("i", turn%10+1) + "sland?"
		}
		w.gives(w.asksAt(time.Duration(turn)*30*time.Second, lobby, text), -time.Duration(turn+1)*30*time.Second)
		if turn == 20 && len(made) != 0 {
			t.Errorf("condensed after %d turns", turn)
		}
		made = append(made, w.drain()...)
	}
	if counted, failed := w.condensings(); len(made) != 3 || model.asked != 3 || counted != 3 || failed != 0 {
		t.Fatalf("condensed %d times, %d asked for, counted %d and %d failures", len(made), model.asked,
			counted, failed)
	}
	q := w.asksAt(30*time.Minute, lobby, "What is the budget, and who comes when?")
	r := w.recalled(q)
	_, session, _ := strings.Cut(r.Prompt.String(), "=== CURRENT SESSION ===\n")
	has(t, session, condensedTitle+"\n  Ann: ", "480 euros. Ann: ", "12 tents.", "Ben comes at 17:30. Ann: ")
	c := made[2]
	if r.Condensed == nil || r.Condensed.Text != c.Text ||
		!slices.IsSortedFunc(made, func(a, b memory.Condensed) int { return len(a.Sources) - len(b.Sources) }) {
		t.Errorf("condensed to %+v and %+v, used %+v", made, c, r.Condensed)
	}
	all, err := w.store.Log(t.Context(), lobby, 0, q.ID-1, 100)
	if err != nil || len(all) != 60 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	told := map[memory.MessageID]bool{}
	for _, s := range c.Sources {
		told[s.Message] = true
	}
	for _, m := range all {
		if m.ID > c.Until == told[m.ID] {
			t.Errorf("message %d: told of %v", m.ID, told[m.ID])
		}
		if m.ID > c.Until {
			has(t, session, strings.TrimPrefix(m.Content, "<@29> "))
		}
	}
	if n := len(c.Sources); n < 30 || n > 45 {
		t.Errorf("%d sources", n)
	}
	a := w.answer(q)
	for _, s := range c.Sources {
		if !slices.Contains(a.Trace.IDsOf(memory.SourceMessage), int64(s.Message)) {
			t.Errorf("%d is no source of the answer", s.Message)
		}
	}
	w.reopens(model)
	again, err := w.engine.Recall(t.Context(), q)
	if err != nil || again.Prompt.String() != r.Prompt.String() {
		t.Errorf("after a restart (%v)\n%s\nbefore\n%s", err, again.Prompt, r.Prompt)
	}
}

// reopens closes the store and opens it again.
func (w *world) reopens(model Model) {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.store = openStore(w.t, w.dir)
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{Long: w.notice})
}

// What is condensed again contains what was condensed before, unless something of that is gone.
func TestWhatIsForgottenLeavesTheSessionsSummary(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	said := w.chats(lobby, 50)
	w.posts(45*time.Minute+time.Second, memory.Message{Guild: guild, Channel: lobby, Author: ben,
		Content: "We leave at 9:15"})
	w.condensesNow(lobby)
	q := w.asks(lobby, "And?")
	has(t, w.prompt(q), condensedTitle+"\n  Ben: We agreed that the budget is 480 euros Ben: We leave at 9:15\n")
	w.deletes(lobby, said[0])
	hasNot(t, w.prompt(q), condensedTitle, "480")
	w.condensesNow(lobby)
	has(t, w.prompt(q), condensedTitle+"\n  Ben: We leave at 9:15\n")
	told := strings.SplitAfterN(model.got[1].Content, "\n", 4)
	golden.Seen(t, model.got[0].Content+"\n\n"+strings.Join(told[:3], "")+"…")
}

// A burst of messages is condensed whole, in two goes.
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
	r := w.recall(w.asksAt(time.Second, lobby, "And?"))
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

// A few long messages are condensed like many short ones, but not two or three.
func TestFewLongTurnsAreCondensed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ turns, gone int }{{3, 0}, {4, 1}, {7, 2}, {9, 3}} {
		w := newWorld(t, nil)
		w.engine = w.over(w.store, &keeper{}, builder.Options{MaxTokens: 8000 * tt.turns / 7}, Options{Long: w.notice})
		var said []memory.MessageID
		for i := range tt.turns {
			text := fmt.Sprintf("Part %d of the plan. ", i) +
				strings.Repeat("The island has a harbour and a tower. ", 50)
			said = append(said, w.says(time.Duration(tt.turns-i)*time.Minute, lobby,
				[]memory.UserID{ben, cleo}[i%2], text))
		}
		c, err := w.condenseAt(lobby, noon)
		switch {
		case err != nil || (c == nil) != (tt.gone == 0):
			t.Errorf("%d turns: condensed to %+v, %v", tt.turns, c, err)
		case c != nil && (len(c.Sources) != tt.gone || c.Until != said[tt.gone-1]):
			t.Errorf("%d turns: condensed %+v", tt.turns, c.Sources)
		}
	}
}

func TestCondensingLooksAgain(t *testing.T) {
	t.Parallel()
	model := &keeper{}
	w := condensing(t, model)
	said := w.chats(lobby, 50)
	a := w.alter(model, Options{Long: w.notice})
	for name, gone := range map[string]func(){
		"deleted":     func() { w.deletes(lobby, said[0]) },
		"opted out":   func() { a.out[ben] = true },
		"not to know": func() { a.guild = choose(lobby, memory.Ignore) },
	} {
		model.condense = func(lines []string) []string {
			gone()
			return lines[:1]
		}
		if c, err := w.condenseAt(lobby, noon); c != nil || err != nil {
			t.Errorf("%s: condensed to %+v, %v", name, c, err)
		}
		clear(a.out)
		a.guild = nil
	}
}

func TestWhatIsNeverCondensed(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	w.chats(lobby, 50)
	var said []memory.Message
	for i := range 50 {
		said = append(said, before(time.Duration(50-i)*20*time.Second, []memory.UserID{ben, cleo}[i%2], "so"))
	}
	w.answer(unlogged("And?", said...))
	q := w.asks(lobby, "And?")
	q.NoModel = true
	w.answer(q)
	w.engine.model = nil
	w.answer(w.asks(lobby, "And?"))
	w.engine.model, w.engine.options.Long = &keeper{}, nil
	w.answer(w.asks(lobby, "And?"))
	if n := len(w.long); n != 0 {
		t.Errorf("%d sessions wait", n)
	}
	w.engine.options.Long = w.notice
	if w.answer(w.asks(lobby, "And?")); len(w.long) != 1 {
		t.Error("the session doesn't wait to be condensed")
	}
}

// A session is condensed by the model and builder that answer there, and by nobody else: what was said there may
// not be for others.
func TestPlacesModelCondenses(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]*keeper{"beside another": {}, "alone": nil} {
		local := &keeper{name: "local"}
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
			Long: w.notice, Models: map[string]Model{"local": local},
			Builder: func(_ context.Context, model, _ string, _ builder.Layout) *builder.Builder {
				return map[string]*builder.Builder{"local": built}[model]
			},
		})
		w.apply(sets(lobby, memory.SettingModel, "local"))
		w.chats(lobby, 25)  // long for a small prompt
		w.chats(harbor, 25) // not for a usual one
		w.answer(w.asks(lobby, "And?"))
		w.answer(w.asks(harbor, "And?"))
		another := w.long[lobby]
		if made := w.drain(); len(made) != 1 || made[0].Channel != lobby || made[0].Model != "local" ||
			local.asked != 1 || own != nil && own.asked != 0 {
			t.Errorf("%s: condensed to %+v; local was asked %d times, %+v", name, made, local.asked, own)
		}
		// Another was set while the session waited.
		w.apply(memory.SettingChosen{Guild: guild, Channel: lobby, Key: memory.SettingModel,
			At: noon.Add(time.Second)}, memory.CondensedGone{Guild: guild, Channel: lobby, Until: 1 << 62})
		if c, err := w.condense(lobby, another); c != nil || err != nil {
			t.Errorf("%s: condensed to %+v, %v", name, c, err)
		}
	}
}
