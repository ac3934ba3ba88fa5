package answer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// Citations in any notation are sources, and while the answer is written nobody sees the notation, or the model's
// own address.
func TestNotationsAreSources(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: strings.SplitAfter("It is swordfish【1†x】, said Ben [1](https://example.org). The end.", "")}
	w := newWorld(t, model)
	w.says(day, harbor, ben, "The lighthouse password is swordfish")
	shown := ""
	a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), func(s string) {
		if strings.ContainsAny(s, "【†(") || !strings.HasPrefix(s, shown) {
			t.Errorf("after %q it streamed %q", shown, s)
		}
		shown = s
	})
	if want := "It is swordfish[1], said Ben [1]. The end."; err != nil || a.Text != want || shown != want {
		t.Errorf("got %q after %q: %v", a.Text, shown, err)
	}
	if len(a.Sources) != 1 {
		t.Errorf("sources %+v", a.Sources)
	}
}

func TestAnAnswerRepeatsWhatItCitesOrHasWordsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for range 20 {
		w.says(day, vault, cleo, "the heating needs a new valve and it is cold")
	}
	for name, tt := range map[string]struct {
		source, question, answer string
		others                   []string
		want                     bool
	}{
		"a typo":            {"teh heatign lol", "why is it cold?", "The boiler is broken.", nil, false},
		"a rare word":       {"my boiler burst", "why is it cold?", "The boiler is broken.", nil, true},
		"a rare word, bent": {"two boilers burst", "why is it cold?", "The boiler is broken.", nil, true},
		"a figure":          {"it was 4711 all along", "what was it?", "4711.", nil, true},
		"a word of the question": {"my boiler burst", "what of the boiler?", "The boiler is broken.",
			nil, false},
		"a word that many messages have": {"the valve, sure", "why is it cold?", "A valve is broken.", nil, false},
		"a word that many sources have": {"my boiler burst", "why is it cold?", "The boiler is broken.",
			[]string{"a boiler", "boilers", "the boiler"}, false},
		"a word that another has": {"my boiler burst", "why is it cold?", "The boiler is broken.",
			[]string{"a boiler"}, true},
		"common words in a row": {"it needs a new one, heating or not", "what now?",
			"It needs a new one.", nil, true},
		"words of the question in a row": {"is it as it was before?", "is it as it was before?",
			"It is as it was before, I think: is it as it was?", nil, false},
		"a number, grouped otherwise": {"I earn 120000", "what does she earn?", "She earns 120,000.", nil, true},
		"a number with a space":       {"call 0151-2345678", "what number?", "01512345678", nil, true},
		"a mention":                   {"it was <@5551234>", "who did it?", "<@5551234> did.", nil, true},
		"emphasis within a word":      {"hunter2", "the password?", "**hun**ter2", nil, true},
		"a single character":          {"癌", "什么病?", "是癌", nil, true},
		"stop words in a row":         {"it is what it is", "why is it cold?", "It is what it is.", nil, false},
		"without spaces":              {"锅炉坏了", "为什么很冷?", "因为锅炉有问题", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			shown := manifest.New()
			for i, words := range append([]string{tt.source}, tt.others...) {
				shown.Add(memory.Message{Channel: lobby, ID: memory.MessageID(i + 1),
					Author: memory.UserID(i + 1), Content: words})
			}
			r := &recalled{readableScope: readableScope{scope: memory.Scope{Channels: []memory.ChannelID{vault}}}}
			a := Answer{Text: tt.answer}
			w.engine.trackSources(t.Context(), Question{Text: tt.question}, r, &a, &shown)
			if got := a.Trace.Sources[0].Repeats; got != tt.want {
				t.Errorf("repeated: %v", got)
			}
		})
	}
}

// One member's words count once, also in what was made of them and in Hark's answers.
func TestWhatOneMemberSaidIsNotCommon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, fill := range map[string]func(m *manifest.Manifest){
		"a fact and a summary of it": func(m *manifest.Manifest) {
			m.People = []search.Participant{{Person: memory.Person{ID: ben,
				Facts: []memory.Fact{{ID: 5, Text: "allergic to peanuts", Channel: lobby, Message: 1}}}}}
			m.Summaries = []memory.Summary{{Channel: lobby, ID: 1, Text: "Ben told of peanuts.",
				Sources: []memory.SummarySource{{Message: 1}}}}
		},
		"an answer, and thanks": func(m *manifest.Manifest) {
			m.Add(memory.Message{Channel: lobby, ID: 2, Author: oracle, Kind: memory.FromHark,
				Content: "No peanuts [1]."}, memory.Message{
				Channel: lobby, ID: 3, Author: cleo, Content: "peanuts, thanks"})
		},
	} {
		shown := manifest.New()
		shown.Add(memory.Message{Channel: lobby, ID: 1, Author: ben, Content: "I'm allergic to peanuts"})
		fill(&shown)
		a := Answer{Text: "No peanuts."}
		w.engine.trackSources(t.Context(), Question{Text: "what may Ben not eat?"}, &recalled{}, &a, &shown)
		if !a.Trace.Sources[0].Repeats {
			t.Errorf("%s: %+v", name, a.Trace.Sources)
		}
	}
}

// A text in an answer is repeated if it has a telling word that the question doesn't have.
func TestWhatStandsInAnAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){0,12}`).Filter(func(s string) bool {
			return len(text.QueryTerms(s)) > 0
		}).Draw(t, "said")
		shown := manifest.New()
		shown.Add(memory.Message{Channel: lobby, ID: 1, Content: said})
		a := Answer{Text: rapid.SampledFrom([]string{"", "I think: ", "Yes, "}).Draw(t, "before") + said +
			rapid.SampledFrom([]string{"", ".", " [1]"}).Draw(t, "after")}
		w.engine.trackSources(w.t.Context(), Question{Text: "42?"}, &recalled{}, &a, &shown)
		if !a.Trace.Sources[0].Repeats {
			t.Fatalf("%q doesn't repeat %q", a.Text, said)
		}
	})
}

// The messages that a fact, lore or a summary was made from are repeated with it. A quoted answer repeats all its
// quotes.
func TestWhatRepeatedThingsAreFromIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(3*day, lobby, ben, "that thing of mine? oh well")
	w.apply(memory.LoreTold{Lore: memory.Lore{Guild: guild, ID: 9, By: ben, At: noon.Add(-day),
		Name: "Albatross", Text: "a boat with an outboard motor", Sources: []memory.MessageRef{{Channel: lobby,
			Message: said}}}})
	for _, model := range []Model{nil, &scripted{pieces: []string{"It has an outboard motor."}}} {
		w.engine = w.over(w.store, model, builder.Options{}, Options{})
		a := w.answer(w.asks(lobby, "What is the Albatross?"))
		for _, kind := range []memory.SourceKind{memory.SourceLore, memory.SourceMessage} {
			if !slices.ContainsFunc(a.Trace.Sources, func(s memory.Source) bool {
				return s.Kind == kind && s.Repeats && (s.ID == 9 || s.ID == int64(said))
			}) {
				t.Errorf("%q: %+v", a.Text, a.Trace.Sources)
			}
		}
	}
}
