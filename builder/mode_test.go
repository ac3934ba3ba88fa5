package builder

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/memory"
)

// moduleMost is the most tokens of a mode's rules, by o200k.
var moduleMost = map[Mode]int{ModeGeneral: 400, ModeCreation: 700, ModeSearch: 650, ModeModification: 600,
	ModeAnalysis: 550}

// Each mode's rules have between three quarters and all of moduleMost tokens.
func TestInstructionsFit(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{Citations: true})
	for _, m := range Modes() {
		tokens, most := b.modes[noTools][m].all(), moduleMost[m]
		if tokens > most || tokens < most*3/4 {
			t.Errorf("the rules of %s are %d tokens, want %d to %d", m, tokens, most*3/4, most)
		}
		p := b.Build(Input{Now: noon, Mode: m, Query: Turn{Content: "what?"}})
		for _, rule := range rules(b.options, m, noTools) {
			if !strings.Contains(p.Messages[0].Content, "\n"+rule) {
				t.Errorf("%s lacks %q", m, rule)
			}
		}
	}
}

// A wrongly inferred mode loses nothing: every mode shows whatever ModeGeneral shows.
func TestNoModeShowsLessThanGeneral(t *testing.T) {
	t.Parallel()
	in := inputs(injections(t))
	rapid.Check(t, func(t *rapid.T) {
		input := in.Draw(t, "input")
		o := Options{
			Layout: layouts().Draw(t, "layout"), MaxTokens: rapid.IntRange(MinTokens, 5000).Draw(t, "tokens"),
			Citations: rapid.Bool().Draw(t, "citations"), MaxChars: rapid.SampledFrom([]int{0, 0,
				700}).Draw(t, "chars"),
		}
		b := newBuilder(t, o)
		general := b.Build(input)
		input.Mode = rapid.SampledFrom(Modes()[1:]).Draw(t, "mode")
		p := b.Build(input)
		holds(t, o, p)
		for section, n := range items(general) {
			if items(p)[section] < n {
				t.Errorf("%s shows %d of %s, general %d", input.Mode, items(p)[section], section, n)
			}
		}
		for _, s := range general.Shown {
			if !slices.ContainsFunc(p.Shown, func(l Shown) bool { return l.Message == s.Message && l.Item == s.Item }) {
				t.Errorf("%s doesn't show message %d", input.Mode, s.Message)
			}
		}
	})
}

// If there is room, a mode gets more of what it needs.
func TestModesRaise(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words and more words ", 15)
	in := Input{Now: noon, Query: Turn{Content: "what?"}}
	for range 60 {
		in.History = append(in.History, Item{Relevance: 0.5, Lines: lines(1, long+"%d")})
	}
	b := newBuilder(t, Options{})
	used := func(m Mode, s SectionType) int {
		in.Mode = m
		return b.Build(in).Report.section(s).Tokens
	}
	if general, search := used(ModeGeneral, SectionHistory),
		used(ModeSearch, SectionHistory); general > 1600 || search < 2000 || search > 2200 {
		t.Errorf("the history has %d tokens, and %d when it is searched; want up to 1600 and 2200", general, search)
	}
	in.History = nil
	for i := range 200 {
		in.Session = append(in.Session, Turn{Author: memory.UserID(i), Content: "Turns and more turns of this kind."})
	}
	if general, change := used(ModeGeneral, SectionSession),
		used(ModeModification, SectionSession); general > 1400 || change < 2000 {
		t.Errorf("the session has %d tokens, and %d when something is to be changed", general, change)
	}
}

func (r Report) section(t SectionType) SectionReport {
	return r.Sections[slices.IndexFunc(r.Sections, func(s SectionReport) bool { return s.Type == t })]
}

// Configured limits are obeyed, and the report says why items were left out.
func TestSectionsAsSet(t *testing.T) {
	t.Parallel()
	in := crowd()
	type set = map[SectionType]Limits
	for _, c := range []struct {
		name    string
		o       Options
		section SectionType
		holds   func(SectionReport) bool
	}{
		{"ceiling", Options{Sections: set{SectionHistory: {Priority: 1, Ceiling: 200}}}, SectionHistory,
			func(s SectionReport) bool { return s.Tokens <= 200 && s.Included > 0 && s.Why == WhyCeiling }},
		{"nothing", Options{Sections: set{SectionHistory: {}}}, SectionHistory,
			func(s SectionReport) bool { return s.Included == 0 && s.Dropped > 0 && s.Why == WhyCeiling }},
		{"first", Options{Sections: set{SectionLore: {Priority: 9, Ceiling: 4000}}}, SectionLore,
			func(s SectionReport) bool { return s.Tokens > 400 }},
		{"last", Options{Sections: set{SectionLore: {Priority: 9, Ceiling: 4000},
			SectionHistory: {Priority: 8, Ceiling: 4000}, SectionSession: {Priority: 7, Ceiling: 4000},
			SectionParticipants: {Priority: 6, Ceiling: 4000}}}, SectionPreviousContext,
			func(s SectionReport) bool { return s.Included == 0 && s.Why == WhyBudget }},
		{"floor", Options{Sections: set{SectionSession: {Priority: 9, Ceiling: 4000},
			SectionLore: {Floor: 350, Ceiling: 400}}}, SectionLore,
			func(s SectionReport) bool { return s.Tokens > 200 }},
		{"other mode", Options{Sections: set{SectionLore: {Ceiling: 400, Modes: []Mode{ModeSearch, ModeCreation}}}},
			SectionLore, func(s SectionReport) bool { return s.Included == 0 && s.Dropped > 0 && s.Why == WhyMode }},
		{"its mode", Options{Sections: set{SectionLore: {Priority: 9, Ceiling: 400, Modes: []Mode{ModeGeneral}}}},
			SectionLore, func(s SectionReport) bool { return s.Included > 0 }},
		{"characters", Options{MaxChars: 300}, SectionHistory,
			func(s SectionReport) bool { return s.Dropped > 0 && s.Why == WhyCharacters }},
		{"count", Options{Layout: LayoutPlain, MaxTokens: 20_000}, SectionPreviousContext,
			func(s SectionReport) bool { return s.Included == plainSummaries && s.Why == WhyCount }},
		{"exchanges", Options{Layout: LayoutPlain}, SectionSession,
			func(s SectionReport) bool { return s.Dropped > 0 && s.Why == WhyCount }},
		{"query", Options{MaxTokens: 300}, SectionQuery,
			func(s SectionReport) bool { return s.Cut == 1 && s.Why == WhyCeiling }},
		{"all", Options{MaxTokens: 100_000}, SectionHistory,
			func(s SectionReport) bool { return s.Dropped+s.Cut == 0 && s.Why == "" }},
		{"system", Options{MaxTokens: 300}, SectionSystem,
			func(s SectionReport) bool { return s.Cut == 1 && s.Why == WhyCeiling }},
		{"instruction", Options{MaxTokens: 70}, SectionInstruction,
			func(s SectionReport) bool { return s.Included == 0 && s.Why == WhyBudget }},
	} {
		p := newBuilder(t, c.o).Build(in)
		if s := p.Report.section(c.section); !c.holds(s) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// Lines and data are cut as configured, and grow if there is room.
func TestLineLimits(t *testing.T) {
	t.Parallel()
	in := Input{Now: noon, Query: Turn{Content: "what?"},
		Participants: []Participant{{ID: 1, Name: "A", Data: strings.Repeat("data ", 100)}}}
	for range 100 {
		in.History = append(in.History, Item{Relevance: 0.5, Lines: lines(1, "%d"+strings.Repeat(" word", 100))})
	}
	short := newBuilder(t, Options{LineChars: 40, DataChars: 20, MaxTokens: 1500}).Build(in)
	usual := newBuilder(t, Options{MaxTokens: 1500}).Build(in)
	if a, b := items(short)[SectionHistory], items(usual)[SectionHistory]; a <= b {
		t.Errorf("%d items with lines of 40 characters, %d with lines of 150", a, b)
	}
	if last := short.Shown[len(short.Shown)-1]; last.Fraction > 0.1 {
		t.Errorf("the last line shows %.2f of its 500 characters, want at most 40", last.Fraction)
	}
	if p := newBuilder(t, Options{LineChars: 40, DataChars: 20,
		MaxTokens: 100_000}).Build(in); p.Report.section(SectionHistory).Cut+
		p.Report.section(SectionParticipants).Cut > 0 {
		t.Errorf("cut, though there is room: %+v", p.Report.Sections)
	}
}

func TestInferMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, tools string
		want            Mode
		why             string
	}{
		{"", "", ModeGeneral, ""},
		{"Good morning!", "", ModeGeneral, ""},
		{"@Hark when did we decide to move?", "", ModeSearch, "when did we decide"},
		{"<@42> write a poem about Ben", "", ModeCreation, "write"},
		{"Make it shorter", "", ModeModification, "make it shorter"},
		{"Why does it crash?", "", ModeAnalysis, "why does"},
		{"and in June?", "", ModeGeneral, ""},
		{"and in June?", "current_time,search_memory", ModeSearch, "after search_memory"},
		{"and in June?", "search_memory,current_time", ModeGeneral, ""},
		{"thanks, that helps a lot", "search_memory", ModeGeneral, ""},
		{"Übersetz das bitte", "", ModeModification, "ubersetz"},
		{"por qué?", "", ModeAnalysis, "por que"},
		{"```why write a translation```", "", ModeGeneral, ""}, // code says nothing about the wish
		{strings.Repeat("la ", 500) + "write a poem", "", ModeGeneral, ""},
	} {
		var tools []string
		if c.tools != "" {
			tools = strings.Split(c.tools, ",")
		}
		mode, why := InferMode(c.question, tools)
		if mode != c.want || !strings.Contains(why, c.why) || why == "" && mode != ModeGeneral {
			t.Errorf("InferMode(%q, %v) = %s (%s), want %s (%s)", c.question, tools, mode, why, c.want, c.why)
		}
	}
}

// The held-out half was written by somebody who didn't know the cues. The cues were made from the other.
func TestInferModeAsLabelled(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]float64{"testdata/modes_tuning.tsv": 0.93, "testdata/modes_heldout.tsv": 0.85} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		right, alone, all := 0, 0, 0
		for line := range strings.Lines(string(data)) {
			fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
			if len(fields) != 3 || !Mode(fields[0]).Known() {
				t.Fatalf("%s: line %q", file, line)
			}
			var tools []string
			if fields[1] != "-" {
				tools = strings.Split(fields[1], ",")
			}
			got, _ := InferMode(fields[2], nil)
			if got == Mode(fields[0]) {
				alone++
			}
			if tools != nil {
				got, _ = InferMode(fields[2], tools)
			}
			if got == Mode(fields[0]) {
				right++
			}
			all++
		}
		t.Logf("%s: %d of %d, without knowing of tools %d", file, right, all, alone)
		if all < 100 || float64(min(right, alone)) < least*float64(all) {
			t.Errorf("%s: %d of %d right, %d without knowing of tools; want %.0f %%", file, right, all, alone,
				100*least)
		}
	}
}

func FuzzInferMode(f *testing.F) {
	f.Add("when did we decide to move?", "search_memory")
	f.Add("translate\x00 that \xff", "")
	f.Fuzz(func(t *testing.T, question, tool string) {
		mode, why := InferMode(question, []string{tool})
		again, _ := InferMode(question, []string{tool})
		if mode != again || !mode.Known() || mode != ModeGeneral && why == "" {
			t.Errorf("%s (%s), then %s", mode, why, again)
		}
	})
}

func BenchmarkInferMode(b *testing.B) {
	for name, question := range map[string]string{
		"short": "when did we decide to move the meeting to thursday?",
		"long":  strings.Repeat("what we want is another very long question ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				InferMode(question, nil)
			}
		})
	}
}

func ExampleInferMode() {
	mode, why := InferMode("Why does it crash?", nil)
	fmt.Println(mode, "by", why)
	// Output: analysis by why does
}

func TestInstructionTokens(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{Citations: true})
	for _, m := range Modes() {
		if got, want := b.InstructionTokens(m), b.modes[noTools][m].all(); got != want {
			t.Errorf("%s: %d tokens, want %d", m, got, want)
		}
	}
	// Rules common to all modes count once.
	var text []string
	text = append(text, rules(b.options, ModeGeneral, noTools)...)
	for _, m := range Modes()[1:] {
		text = append(text, modules[m]...)
	}
	all, counted := b.InstructionTokens(Modes()...), holdsCounter.Count(strings.Join(text, "\n"))
	if all < counted || all > counted+len(text) {
		t.Errorf("all together: %d tokens, counted %d", all, counted)
	}
	plain := newBuilder(t, Options{Layout: LayoutPlain, Citations: true})
	if one, all := plain.InstructionTokens(ModeSearch), plain.InstructionTokens(Modes()...); one != all || one == 0 {
		t.Errorf("the plain layout's: %d tokens of one mode, %d of all", one, all)
	}
}
