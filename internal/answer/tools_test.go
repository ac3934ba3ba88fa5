package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/golden"
	"hark/memory"
)

// noise fills the prompt, so that not all that was said is in it.
func (w *world) noise() {
	w.t.Helper()
	w.atOnce(func() {
		for i := range 60 {
			w.says(3*day-time.Duration(i)*time.Minute, lobby, cleo,
				fmt.Sprintf("The lighthouse password of day %d is word%d, says the keeper of the lighthouse", i, i*i))
		}
	})
}

func TestTheModelSearchesAndCites(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	said := w.says(40*day, harbor, ben, "We picked walnut for the piano")
	after := w.says(40*day-time.Minute, harbor, cleo, "walnut it is")
	m := w.withTools(
		usesAfter("Let me look.", "search_memory", `{"query":"walnut piano","limit":3}`),
		func(r chat.Request) (chat.Reply, error) {
			n := len(r.Messages)
			number := strings.SplitN(strings.SplitN(r.Messages[n-1].Content, "[", 2)[1], "]", 2)[0]
			return chat.Reply{Text: "It is walnut [" + number + "], not pine [999].", PromptTokens: 70,
				CompletionTokens: 7}, nil
		})
	var streamed []string
	q := w.asks(lobby, "What is the lighthouse password?")
	var used []string
	q.Using = func(tool string) { used = append(used, tool) }
	a, err := w.engine.Answer(t.Context(), q, func(s string) { streamed = append(streamed, s) })
	if err != nil {
		t.Fatal(err)
	}
	r := w.recalled(q)
	shown := len(r.Prompt.Numbers) + 1
	text := fmt.Sprintf("Let me look.\n\nIt is walnut [%d], not pine.", shown)
	if a.Text != text || len(a.Sources) != 1 || a.Sources[0].Number != shown ||
		a.Sources[0].Message != said || a.Sources[0].Author != "Ben" || a.Sources[0].Place != "harbor" {
		t.Errorf("answered %q from %+v, want %q", a.Text, a.Sources, text)
	}
	if want := []string{"Let me look.", "Let me look.\n\nIt is walnut [" + fmt.Sprint(shown) +
		"], not pine [999]."}; !slices.Equal(streamed, want) {
		t.Errorf("streamed %q", streamed)
	}
	for i, r := range m.got {
		checkShape(t, r)
		if !slices.Equal(toolNames(r), []string{"search_memory", "get_participant", "remember",
			"current_time", "conversation_history"}) {
			t.Errorf("request %d offers %q", i, toolNames(r))
		}
	}
	outcome := m.outcomes()[0]
	golden.Seen(t, outcome)
	for _, id := range []memory.MessageID{said, after} {
		i := slices.IndexFunc(a.Trace.Recalled, func(h memory.TraceHit) bool { return h.Message == id })
		if i < 0 || !a.Trace.Recalled[i].Context || a.Trace.Recalled[i].Cited != (id == said) {
			t.Errorf("%d isn't told of in %+v", id, a.Trace.Recalled)
		}
	}
	c := a.Trace.Calls
	if len(c) != 1 || c[0].Tool != "search_memory" || c[0].Outcome != "ok" || c[0].Shown < 2 ||
		c[0].Round != 1 || c[0].Tokens == 0 || !slices.Equal(used, []string{"search_memory"}) {
		t.Errorf("calls %+v, used %q", c, used)
	}
	if u := a.Usage; u.Calls != 2 || u.Completion < 7+10 || u.Prompt < 70+a.Trace.Tokens {
		t.Errorf("usage %+v", u)
	}
	if use := w.counted(); use["hark_tool_calls_total "+"ok"+" search_memory"] != 1 {
		t.Errorf("counted %+v", use)
	}
	if s := a.Trace.Sections[len(a.Trace.Sections)-1]; s.Section != toolSection || s.Tokens == 0 || s.Included != 2 {
		t.Errorf("the last section is %+v", s)
	}
}

// What the model has before it isn't shown to it again.
func TestNothingIsShownTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	w.says(time.Minute, lobby, cleo, "Which password of which lighthouse?")
	w.says(50*day, harbor, ben, "We picked walnut for the piano")
	var pairs []string
	for _, query := range []string{"lighthouse password", "piano", "walnut piano",
		"the lighthouse keeper's password", "Which password of which lighthouse?"} {
		pairs = append(pairs, "search_memory", fmt.Sprintf(`{"query":%q,"limit":25}`, query))
	}
	m := w.withTools(uses(pairs...))
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	all := m.last().Messages[1].Content + strings.Join(m.outcomes(), "\n")
	numbers := map[int]bool{}
	for _, h := range a.Trace.Recalled {
		if h.Number > 0 && (numbers[h.Number] || strings.Count(all, fmt.Sprintf("[%d] ", h.Number)) != 1) {
			t.Errorf("[%d] is there %d times", h.Number, strings.Count(all, fmt.Sprintf("[%d] ", h.Number)))
		}
		numbers[h.Number] = true
	}
	twice := 0
	for i := range 60 {
		if said := fmt.Sprintf("The lighthouse password of day %d is", i); strings.Count(all, said) > 1 {
			twice++
		}
	}
	if n := strings.Count(all, "We picked walnut"); twice > 0 || n != 1 || len(numbers) < 30 ||
		strings.Count(all, "• <@22> (Ben)") != 1 {
		t.Errorf("%d are there twice, walnut %d times, %d numbers:\n%s", twice, n, len(numbers), all)
	}
}

func TestSearchesAreNarrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.noise()
	said := map[string]memory.MessageID{
		"old":    w.says(60*day, harbor, ben, "Zebras eat oats"),
		"cleos":  w.says(50*day, harbor, cleo, "Zebras eat plums"),
		"lobby":  w.says(45*day, lobby, ben, "Zebras eat hay"),
		"secret": w.says(44*day, vault, ben, "Zebras eat canaries"),
	}
	q := w.asks(lobby, "What is the lighthouse password?")
	var nothing strings.Builder // what is told where nothing is found
	for _, tt := range []struct {
		arguments string
		want      []string
	}{
		{`{"query":"zebras"}`, []string{"old", "cleos", "lobby"}},
		{`{"query":"zebras","author":"Ben","channel":null}`, []string{"old", "lobby"}},
		{`{"query":"zebras","author":"<@23>"}`, []string{"cleos"}},
		{`{"query":"zebras","author":"‹@23›"}`, []string{"cleos"}},
		{`{"query":"zebras","author":"Nobody"}`, nil},
		{`{"query":"zebras","channel":"#harbor"}`, []string{"old", "cleos"}},
		{`{"query":"zebras","channel":"<#901>"}`, []string{"lobby"}},
		{`{"query":"zebras","channel":"vault"}`, nil},
		{`{"query":"zebras","channel":"<#903>"}`, nil},
		{`{"query":"zebras","channel":"nowhere"}`, nil},
		{`{"query":"zebras","since":"2024-04-26"}`, []string{"cleos", "lobby"}},
		{`{"query":"zebras","until":"2024-04-26"}`, []string{"old", "cleos"}},
		{`{"query":"zebras","since":"2024-04-26","until":"2024-04-26"}`, []string{"cleos"}},
		{`{"query":"zebras","since":"2024-04-27","until":"2024-04-26"}`, nil},
		{`{"query":"zebras","since":"2030-01-01"}`, nil},
	} {
		m := w.withTools(uses("search_memory", tt.arguments))
		a := w.answer(q)
		var got []string
		for name, id := range said {
			if slices.ContainsFunc(a.Trace.Recalled, func(h memory.TraceHit) bool {
				return h.Message == id && h.Context
			}) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		outcome := m.outcomes()[0]
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %q, want %q: %s", tt.arguments, got, tt.want, outcome)
		}
		if tt.want == nil {
			fmt.Fprintf(&nothing, "%s\n  %s\n", tt.arguments, outcome)
		}
		hasNot(t, outcome, "canaries")
	}
	golden.Seen(t, nothing.String()) // what is closed is as what isn't there
	// A question that is narrowed down itself is never widened.
	q.Filter = Filter{Since: noon.Add(-52 * day), Until: noon.Add(-47 * day),
		From: []memory.UserID{cleo, ann}, In: []memory.ChannelID{harbor}}
	for _, arguments := range []string{
		`{"query":"zebras"}`, `{"query":"zebras","since":"2020-01-01","until":"2030-01-01"}`,
		`{"query":"zebras","author":"Ben"}`, `{"query":"zebras","channel":"lobby"}`,
	} {
		m := w.withTools(uses("search_memory", arguments))
		w.answer(q)
		hasNot(t, m.outcomes()[0], "oats", "hay", "canaries")
	}
}

func TestBadCallsCanBeMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	long := strings.Repeat("x", 301)
	var told strings.Builder
	for _, tt := range []struct{ tool, arguments, outcome string }{
		{"search_memory", `{"query":`, "bad arguments"},
		{"search_memory", `["x"]`, "bad arguments"},
		{"search_memory", `null`, "bad arguments"},
		{"search_memory", `{"query":"x"} {}`, "bad arguments"},
		{"search_memory", ``, "bad arguments"},
		{"search_memory", `{"query":null}`, "bad arguments"},
		{"search_memory", `{"query":"x","q":"y"}`, "bad arguments"},
		{"search_memory", `{"query":"  "}`, "bad arguments"},
		{"search_memory", `{"query":"` + long + `"}`, "bad arguments"},
		{"search_memory", `{"query":"x","limit":0}`, "bad arguments"},
		{"search_memory", `{"query":"x","limit":"three"}`, "bad arguments"},
		{"search_memory", `{"query":["x","y"]}`, "bad arguments"},
		{"search_memory", `{"query":"x","limit":2.5}`, "bad arguments"},
		{"search_memory", `{"query":"x","since":"yesterday"}`, "bad arguments"},
		{"search_memory", `{"query":{}}`, "bad arguments"},
		{"remember", `{"name":"x","text":"y","aliases":[` + strings.Repeat(`"a",`, 20) + `"a"]}`, "bad arguments"},
		{"remember", `{"name":"x","text":true}`, "bad arguments"},
		{"remember", `{"name":"x","text":"y","sources":[1,"two"]}`, "bad arguments"},
		{"current_time", `{"zone":"Mars"}`, "bad arguments"},
		{"current_time", `{"zone":"../../etc/passwd"}`, "bad arguments"},
		{"current_time", `{"zone":"Local"}`, "bad arguments"},
		{"conversation_history", `{"filter":{"speaker":"bob","since":"x"},"order":"best","limit":51,"fields":["id"]}`,
			"bad arguments"},
		{"conversation_history", `{"filter":{"from":"yesterday"}}`, "bad arguments"},
		{"conversation_history", `{"filter":{"from":"2024-06-02","until":"2024-06-01"}}`, "bad arguments"},
		{"search_memory", `{"query":"` + strings.Repeat("x", 4000) + `"}`, "bad arguments"},
		{"drop_tables", `{}`, "unknown tool"},
	} {
		m := w.withTools(uses(tt.tool, tt.arguments), uses("current_time", `{}`), writes("Well."))
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		checkShape(t, m.last())
		got := m.outcomes()
		if len(got) != 2 || a.Trace.Calls[1].Outcome != "ok" || a.Text != "Well." {
			t.Errorf("%s(%.60s): told %q, answered %q", tt.tool, tt.arguments, got, a.Text)
		}
		fmt.Fprintf(&told, "%s %.60s\n  %s\n", tt.tool, tt.arguments, got[0])
		if a.Trace.Calls[0].Outcome != tt.outcome || a.ToolFailed != nil {
			t.Errorf("%s(%.60s) came out as %+v, %v", tt.tool, tt.arguments, a.Trace.Calls, a.ToolFailed)
		}
		rec := a.Records[1]
		if want := map[bool]string{true: "unknown",
			false: tt.tool}[tt.outcome == "unknown tool"]; rec.Method != want || rec.Outcome != tt.outcome ||
			rec.Speaker != memory.SpeakerTool {
			t.Errorf("%s(%.60s) is recorded as %+v", tt.tool, tt.arguments, rec)
		}
	}
	golden.Seen(t, told.String())
}

// What models write wrongly without harm is taken, and sent back as it should have been.
func TestHarmlessMistakesInCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	for _, tt := range []struct{ tool, arguments, sent string }{
		{"search_memory", `{"query":"x","limit":"3","since":"","author":null,"channel":[]}`, `{"limit":3,"query":"x"}`},
		{"search_memory", `"{\"query\":[\"x\"]}"`, `{"query":"x"}`},
		{"search_memory", `{"query":7}`, `{"query":"7"}`},
		{"recall_lore", ` `, `{}`},
		{"current_time", `{"zone":""}`, `{"zone":""}`},
		{"conversation_history", `{"filter":"{\"speaker\":\"USER\",\"from\":\"\"}","fields":"outcome_summary","limit":5.0}`,
			`{"fields":["outcome_summary"],"filter":{"from":"","speaker":"user"},"limit":5}`},
	} {
		w.apply(memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: "Lens", Text: "x", By: cleo, At: noon}})
		m := w.withTools(uses(tt.tool, tt.arguments), writes("Well."))
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		checkShape(t, m.last())
		if c := a.Trace.Calls; len(c) != 1 || c[0].Outcome != "ok" {
			t.Errorf("%s(%s) came out as %+v: %q", tt.tool, tt.arguments, c, m.outcomes())
		}
		for _, said := range m.last().Messages {
			for _, c := range said.Calls {
				if c.Arguments != tt.sent {
					t.Errorf("%s(%s) is sent back as %s", tt.tool, tt.arguments, c.Arguments)
				}
			}
		}
	}
}

// A model that calls at last although it can't is asked once more without calls. Its answer counts.
func TestACallTooMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	for name, first := range map[string]Options{"after the last round": {ToolRounds: 1}, "without tools": {}} {
		call := usesAfter("Let me look.", "search_memory", `{"query":"x"}`)
		m := &caller{steps: []step{call}, then: writes("It is swordfish [1].")}
		if first.ToolRounds > 0 {
			m.steps = append(m.steps, uses("search_memory", `{"query":"y"}`))
		}
		w.engine = w.over(w.store, m, builder.Options{Citations: true}, first)
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		if a.Text != "Let me look.\n\nIt is swordfish [1]." || len(a.Sources) != 1 || len(m.got) != len(m.steps)+1 {
			t.Errorf("%s: answered %q after %d requests", name, a.Text, len(m.got))
		}
		last := m.last().Messages
		if len(last) != 2 || strings.Contains(last[1].Content, "Nothing was found") != (first.ToolRounds > 0) ||
			!strings.HasSuffix(last[1].Content, "No tools can be called. Answer the query now, with what you have.") {
			t.Errorf("%s: asked %+v", name, last)
		}
	}
}

// A model that calls without end is ended.
func TestEndlessCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	for name, again := range map[string]step{
		"the same": uses("search_memory", `{"query":"x","limit":3}`),
		"turned":   uses("search_memory", `{"limit":3,"query":"x"}`),
		"always anew": func(r chat.Request) (chat.Reply, error) {
			return uses("search_memory", fmt.Sprintf(`{"query":"x%d"}`, len(r.Messages)))(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps := slices.Repeat([]step{again}, 20)
			steps[0] = uses("search_memory", `{"query":"x","limit":3}`)
			m := w.withTools(steps...)
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if !errors.Is(a.ModelError, ErrEmpty) || len(m.got) != 6 {
				t.Fatalf("%d requests, %v", len(m.got), a.ModelError)
			}
			if want := "> The lighthouse password is swordfish"; !strings.HasPrefix(a.Text, want) {
				t.Errorf("answered %q", a.Text)
			}
			const over = "That was the last time that tools could be called for this answer. Answer the query now, with what " +
				"you have."
			flat := m.last() // it called again, so it gets what it was told without calls
			if told := flat.Messages[len(flat.Messages)-1]; len(flat.Tools) > 0 || len(flat.Messages) != 2 ||
				told.Role != chat.User || !strings.Contains(told.Content, over+"\n\nNo tools can be called.") {
				t.Errorf("at last %q is said, with %d tools", told.Content, len(flat.Tools))
			}
			m.got = m.got[:5]
			last := m.last()
			checkShape(t, last)
			if told := last.Messages[len(last.Messages)-1]; len(last.Tools) > 0 || told.Role != chat.FromTool ||
				!strings.HasSuffix(told.Content, "\n\n"+over) {
				t.Errorf("then %q is said, with %d tools", told.Content, len(last.Tools))
			}
			repeated := 0
			for _, c := range a.Trace.Calls {
				if c.Outcome == "asked already" {
					repeated++
				}
			}
			if name != "always anew" {
				if repeated != 3 {
					t.Errorf("%d repeated: %q", repeated, m.outcomes())
				}
			}
			if name == "the same" {
				golden.Seen(t, m.outcomes()[1])
			}
			if len(a.Records) != 2 || a.Usage.Calls != 6 {
				t.Errorf("records %+v, usage %+v", a.Records, a.Usage)
			}
		})
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, n := range []int{5, 10, 16, 17, 100} {
		var pairs []string
		for i := range n {
			pairs = append(pairs, "search_memory", fmt.Sprintf(`{"query":"x%d"}`, i))
		}
		m := w.withTools(func(r chat.Request) (chat.Reply, error) {
			reply, err := uses(pairs...)(r)
			for i := range reply.Calls {
				reply.Calls[i].ID = "" // as some servers leave it
			}
			return reply, err
		})
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		checkShape(t, m.last())
		got := m.outcomes()
		if len(got) != min(n, 16) || a.Text != "Done." {
			t.Fatalf("%d calls: told %q", n, got)
		}
		for i, c := range a.Trace.Calls {
			want := "ok"
			if i >= 5 {
				want = "too many at once"
			}
			if c.Outcome != want || (want == "too many at once") != (got[i] == got[len(got)-1] && n > 5) {
				t.Errorf("call %d of %d came out as %q: %s", i, n, c.Outcome, got[i])
			}
		}
		if use := w.counted(); n == 10 && (use["hark_tool_calls_total "+"ok"+" search_memory"] != 5 ||
			use["hark_tool_calls_total "+"too many at once"+" search_memory"] != 5) {
			t.Errorf("counted %+v", use)
		}
		// What was too much may be called again.
		if n == 10 {
			m = w.withTools(uses(pairs...), uses(pairs[12:14]...))
			w.answer(w.asks(lobby, "What is the lighthouse password?"))
			again := m.outcomes()
			golden.Seen(t, got[n-1]+"\n"+again[len(again)-1])
		}
	}
}

// The model's client is told the prompt's headings, which some models repeat.
func TestTheModelIsAskedWithItsHeadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := w.withTools(writes("Nine."))
	w.answer(w.asks(lobby, "When does the ferry leave?"))
	got := m.last().Headings
	if !slices.Contains(got, "=== CURRENT QUERY ===") || !strings.Contains(sent(m.last().Messages), got[0]) {
		t.Errorf("headings %q", got)
	}
}
