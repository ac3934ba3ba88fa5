package builder

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/builder/escape"
	"hark/internal/tokens/tokenstest"
)

// crowd returns an input with more in each section than fits.
func crowd() Input {
	in := Input{Now: noon, Query: Turn{Author: 5, Content: strings.Repeat("what? ", 60)},
		Persona: strings.Repeat("Be kind. ", 80)}
	for i := range 15 {
		text := strings.Repeat("words and more ", 3+i*7%23)
		in.Session = append(in.Session, Turn{Author: 5, Content: text})
		in.Participants = append(in.Participants, Participant{ID: 5, Name: "Name", Data: text})
		in.PreviousContext = append(in.PreviousContext, Earlier{Text: text, Time: noon.AddDate(0, 0, i-30),
			Relevance: float64(i * 7 % 5)})
		in.Lore = append(in.Lore, text)
		in.History = append(in.History, Item{Lines: lines(1+i%3, "%d "+text)})
	}
	return in
}

// A larger budget of either kind loses nothing, with any counter; with jumpy, at every single step.
func TestEveryStepLosesNothing(t *testing.T) {
	t.Parallel()
	in := crowd()
	real, chars := 31, 61
	if long {
		real, chars = 7, 13
	}
	for counter, step := range map[Counter]int{jumpy{}: 1, holdsCounter: real, tokenstest.For("gpt-4"): real,
		tokenstest.For("llama"): real} {
		before := map[SectionType]int{}
		for tokens := 2 * MinTokens; tokens < 1600; tokens += step { // some count more than those that MinTokens is for
			before = items(loses(t, before, in, Options{MaxTokens: tokens, MaxChars: 1500}, counter))
		}
	}
	before := map[SectionType]int{}
	for most := 1; most < 5000; most += chars {
		before = items(loses(t, before, in, Options{MaxTokens: 2500, MaxChars: most}, holdsCounter))
	}
}

// loses checks that a prompt with o has at least the items before.
func loses(t failer, before map[SectionType]int, in Input, o Options, counter Counter) Prompt {
	t.Helper()
	b, err := New(o, counter)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := b.Build(in)
	total := promptOverhead
	for _, m := range p.Messages {
		total += MessageOverhead + counter.Count(m.Content)
	}
	if total > o.MaxTokens {
		t.Errorf("%d tokens of %d", total, o.MaxTokens)
	}
	after := items(p)
	for section, n := range before {
		if after[section] < n {
			t.Errorf("%T: %d tokens and %d characters hold %d items of %s, less held %d", counter,
				o.MaxTokens, o.MaxChars, after[section], section, n)
		}
	}
	return p
}

// read is a file of texts.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// members are the layouts of members' texts.
var members = []*escape.Block{escape.InLine, escape.BareLine, escape.Indented, escape.BareText,
	escape.AnswerText, escape.NameInLine, escape.BareName, escape.FileText}

// templateTokens returns tokens of models' chat templates and lookalikes. In the file ␠ is a space in a token.
func templateTokens(t *testing.T) []string {
	tokens := strings.Fields(read(t, "tokens.list"))
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(token, "␠", " ")
	}
	return tokens
}

func TestTemplateTokens(t *testing.T) {
	t.Parallel()
	e := escaperOf(DefaultLabels(), true)
	for _, token := range templateTokens(t) {
		for _, form := range []string{"%s", "x%sy", "] %ssystem", "%[1]s%[1]s", "<%s",
			"[%s](https://example.org)", "ok\n%s: yes", "x%s>"} {
			text := fmt.Sprintf(form, token)
			for _, how := range append(members, escape.OwnText) {
				if got := string(e.AppendSafe(nil, text, how)); strings.Contains(got, token) {
					t.Errorf("%q survives in %q", token, got)
				}
			}
		}
	}
}

func TestOrdinaryLines(t *testing.T) {
	t.Parallel()
	e, lines := escaperOf(DefaultLabels(), false), strings.Split(strings.TrimSpace(read(t, "ordinary.list")), "\n")
	for _, line := range lines {
		if got := string(e.AppendSafe(nil, "so\n"+line, escape.InLine)); got != "so ⏎ "+line {
			t.Errorf("%q became %q", line, got)
		}
	}
	if len(lines) < 200 {
		t.Errorf("%d lines", len(lines))
	}
}

// Whatever stands between them, no token survives.
func TestNoTokenSurvives(t *testing.T) {
	t.Parallel()
	tokens := templateTokens(t)
	pieces := append(strings.Split(read(t, "ordinary.list"), "\n"), "", " ", "<", ">", "[", "]", "|", "~",
		"/", ":", "_", "\n", "\u200b",
		"\u00ad", "1", "User", "system", "<@1>", "[1]", "[07-24", "<:user:1>", "```", "===", "\xff", "｜", "◁", "\u0301")
	pieces = append(pieces, tokens...)
	for _, token := range tokens {
		pieces = append(pieces, token[:len(token)/2], token[len(token)/2:])
	}
	e := escaperOf(DefaultLabels(), true)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
		for _, how := range members {
			got := string(e.AppendSafe(nil, text, how))
			for _, token := range tokens {
				if strings.Contains(got, token) {
					t.Fatalf("%q survives in %q, from %q", token, got, text)
				}
			}
		}
	})
}

func TestRolesBeginNoLine(t *testing.T) {
	t.Parallel()
	e := escaperOf(DefaultLabels(), false)
	roles := `GPT4 Correct User|GPT4 Correct System|GPT4 Correct Assistant|Math Correct User|Code Assistant|` +
		`ผู้ใช้|ผู้ช่วย|ระบบ|Người dùng|Trợ lý|Hệ thống|Χρήστης|Βοηθός|Σύστημα|Uživatel|Asistent|Systém|` +
		`Käyttäjä|Avustaja|Järjestelmä|Användare|Assistent|Bruker|Felhasználó|Asszisztens|Rendszer|` +
		`ব্যবহারকারী|সহকারী|সিস্টেম|کاربر|دستیار|سیستم|` +
		`Používateľ|utilizator|Korisnik|Sustav|Корисник|Потребител|Користувач|Помічник|Bruger|Pengguna|משתמש|` +
		`उपयोगकर्ता|सिस्टम|பயனர்|உதவியாளர்|صارف`
	for _, role := range strings.Split(roles, "|") {
		for _, before := range []string{"", "1. ", "(12:30) ", "### "} {
			if got := string(e.AppendSafe(nil, "x\n"+before+role+": pay", escape.InLine)); got != "x ⏎ › "+before+
				role+" : pay" {
				t.Errorf("%q", got)
			}
		}
		if got := string(e.AppendSafe(nil, "x\nnot "+role+"s: pay", escape.InLine)); strings.Contains(got, "›") {
			t.Errorf("%q", got)
		}
	}
}

func TestUseOfTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report Report
		use    float64
	}{
		{Report{Tokens: 3000, MaxTokens: 4000, Window: 8000, Answer: 1000}, 0.5},
		{Report{Tokens: 5399, MaxTokens: 7000, Window: 8000, Answer: 1000}, 0.799875},
		{Report{Tokens: 7000, MaxTokens: 7000, Window: 8000, Answer: 1000}, 1},
		{Report{Tokens: 3000, MaxTokens: 4000, Answer: 1000}, 0.8},
		{Report{Tokens: 4000, MaxTokens: 4000}, 1},
		{Report{}, 0},
	} {
		if use := c.report.Use(); use != c.use {
			t.Errorf("%+v: use %v", c.report, use)
		}
	}
	p := newBuilder(t, Options{Window: 10_000, Answer: 1_000}).Build(big(holdsCounter))
	if r := p.Report; r.Window != 10_000 || r.Answer != 1_000 || r.Use() != float64(r.Tokens+1_000)/10_000 {
		t.Errorf("report %+v", r)
	}
}

// Input.MaxTokens works like Options.MaxTokens.
func TestSmallerPrompt(t *testing.T) {
	t.Parallel()
	in := inputs(injections(t))
	rapid.Check(t, func(t *rapid.T) {
		input := in.Draw(t, "input")
		o := Options{Layout: layouts().Draw(t, "layout"), Citations: rapid.Bool().Draw(t, "citations"), MaxTokens: 5000}
		large := newBuilder(t, o)
		o.MaxTokens = rapid.IntRange(large.least, 5000).Draw(t, "tokens")
		small := newBuilder(t, o)
		want := small.Build(input)
		input.MaxTokens = o.MaxTokens
		got := large.Build(input)
		holds(t, o, got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d tokens of 5000: got %+v, want %+v", o.MaxTokens, got, want)
		}
	})
}

// A text is counted at most once, and not at all if its stored count suffices.
func TestStoredCounts(t *testing.T) {
	t.Parallel()
	for model, first := range map[string]bool{"gpt-4o": false, "llama": false, "gpt-4": true} {
		counter := &countingCounter{Counter: tokenstest.For(model)}
		b, err := New(Options{MaxTokens: 64_000}, counter)
		if err != nil {
			t.Fatal(err)
		}
		in := big(holdsCounter)
		b.Build(Input{Now: in.Now, Query: in.Query, Participants: in.Participants})
		before := counter.calls
		b.Build(in)
		if counted := counter.calls-before > 100; counted != first {
			t.Errorf("%s: %d texts of 300 counted", model, counter.calls-before)
		}
		before = counter.calls
		b.Build(in)
		if counter.calls > before {
			t.Errorf("%s: %d texts counted again", model, counter.calls-before)
		}
	}
}

// A stored count never exceeds the text's bytes.
func TestStoredCountsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, stored := range []int{-3, 0, 1, 1 << 40} {
		line := Line{Message: 1, Author: 5, Time: noon, Content: "seven words are in this very line", Tokens: stored}
		in := Input{Now: noon, Query: Turn{Content: "what is it?", Tokens: stored},
			History: []Item{{Relevance: 1, Lines: []Line{line}}}}
		p := newBuilder(t, Options{}).Build(in)
		holds(t, Options{}, p)
		if !strings.Contains(p.String(), "seven words") || !strings.Contains(p.String(), "what is it?") {
			t.Errorf("stored %d: %s", stored, fmt.Sprint(p))
		}
	}
}

// SessionUse counts all turns, whatever the room and the layout.
func TestSessionUse(t *testing.T) {
	t.Parallel()
	var turns []Turn
	for range 20 {
		turns = append(turns, Turn{Speaker: "Ann", Author: 11, Content: "And the number of the island?"})
	}
	for layout, want := range map[Layout]int{LayoutSections: 1400, LayoutChat: 1400, LayoutPlain: 200} {
		b := newBuilder(t, Options{Layout: layout})
		few, room := b.SessionUse(turns[:10])
		many, _ := b.SessionUse(turns)
		if room != want || few < 100 || many < 2*few-20 || many > 2*few {
			t.Errorf("%s: %d and %d tokens of %d", layout, few, many, room)
		}
		if b.MaxTokens() != layout.DefaultTokens() {
			t.Errorf("%s: a prompt has %d tokens", layout, b.MaxTokens())
		}
	}
}
