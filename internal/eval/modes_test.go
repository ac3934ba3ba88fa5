package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/golden"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

func TestReadModes(t *testing.T) {
	t.Parallel()
	got, err := ReadModes(write(t, "modes.tsv",
		"\ufeff# labelled by hand\n\nsearch\tsearch_memory,recall_lore\tand in june?\r\ngeneral\t-\t hi \n   \n# no more"))
	want := []ModeLine{
		{Line: 3, Want: builder.ModeSearch, Tools: []string{"search_memory", "recall_lore"}, Question: "and in june?"},
		{Line: 4, Want: builder.ModeGeneral, Question: "hi"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	var told strings.Builder
	for _, text := range []string{
		"", "# none\n", "general\t-\thi\nsearch - who?\n", "general\t-\thi\tthere", "\n#\nlookup\t-\twho?", "general\t\thi", "general\tsearch_memory,,notes\thi", "general\t-\t ", "general\t-\t\xff",
	} {
		path := write(t, "modes.tsv", text)
		lines, err := ReadModes(path)
		if err == nil || lines != nil {
			t.Fatalf("%q: %v, %v", text, lines, err)
		}
		fmt.Fprintf(&told, "%q\n  %s\n", text, strings.ReplaceAll(err.Error(), path, "modes.tsv"))
	}
	golden.Seen(t, told.String())
	if _, err := ReadModes(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

func modesBuilder(t *testing.T, o builder.Options) *builder.Builder {
	t.Helper()
	b, err := builder.New(o, tokenstest.For(""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// labelled are questions whose modes no cue may ever tell otherwise; the last two are labelled wrongly.
var labelled = []ModeLine{
	{Line: 1, Want: builder.ModeGeneral, Question: "hello there"},
	{Line: 2, Want: builder.ModeGeneral, Question: "good morning"},
	{Line: 3, Want: builder.ModeCreation, Question: "write a poem"},
	{Line: 4, Want: builder.ModeSearch, Question: "who said that the ferry is late?"},
	{Line: 5, Want: builder.ModeSearch, Tools: []string{"search_memory"}, Question: "and cleo"},
	{Line: 6, Want: builder.ModeGeneral, Question: "write a haiku"},
	{Line: 8, Want: builder.ModeAnalysis, Question: "thanks"},
}

func TestMeasureModes(t *testing.T) {
	t.Parallel()
	b := modesBuilder(t, builder.Options{MaxTokens: 8000, Citations: true})
	var outcomes []ModeOutcome
	r, err := MeasureModes(t.Context(), b, labelled, func(o ModeOutcome) error {
		outcomes = append(outcomes, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Questions != 7 || r.Right != 5 || r.Accuracy != 5.0/7 || len(outcomes) != 7 || len(r.Wrong) != 2 ||
		r.Wrong[0].Line != 6 || r.Wrong[1].Line != 8 {
		t.Errorf("%+v", r)
	}
	if o := outcomes[4]; o.Line != 5 || o.Want != builder.ModeSearch || o.Got != builder.ModeSearch ||
		o.Why == "" || len(o.Tools) != 1 || o.Question != "and cleo" {
		t.Errorf("outcome %+v", o)
	}
	sent := 0
	for _, o := range outcomes {
		sent += b.InstructionTokens(o.Got)
	}
	all := b.InstructionTokens(builder.Modes()...)
	if r.AllInstructions != all || r.Instructions != float64(sent)/7 ||
		r.Saved != 1-float64(sent)/7/float64(all) || r.Saved < 0.3 {
		t.Errorf("instructions %f of %d, saved %f; want %f of %d", r.Instructions, r.AllInstructions, r.Saved,
			float64(sent)/7, all)
	}
	if r.Less != 0 {
		t.Errorf("%d show less than in the general mode", r.Less)
	}
	for _, s := range r.Sections {
		if s.Inferred < s.General || s.Section == builder.SectionHistory &&
			(s.Inferred == s.General || s.Items != stockHistory) ||
			s.Section == builder.SectionSession && s.General != stockTurns {
			t.Errorf("%+v", s)
		}
	}
	if in := stock(); !reflect.DeepEqual(in, stock()) || len(in.Session) != 30 ||
		len(in.Participants) != 10 || len(in.History) != 60 || len(in.Lore) != 10 || len(in.PreviousContext) != 10 {
		t.Errorf("the stock context has %d, %d, %d, %d and %d", len(in.Session), len(in.Participants),
			len(in.History), len(in.Lore), len(in.PreviousContext))
	}
}

// A mode that shows less than the general one is found out, whatever it is that it shows less of.
func TestLessThanGeneral(t *testing.T) {
	t.Parallel()
	o := builder.Options{Sections: builder.DefaultSections(builder.LayoutSections)}
	lore := o.Sections[builder.SectionPreviousContext]
	lore.Modes = []builder.Mode{builder.ModeGeneral}
	o.Sections[builder.SectionPreviousContext] = lore
	r, err := MeasureModes(t.Context(), modesBuilder(t, o), labelled, func(ModeOutcome) error { return nil })
	if err != nil || r.Less != 4 {
		t.Errorf("%d of 4 show less, %v", r.Less, err)
	}
	prompt := func(included, cut int, fractions ...float64) builder.Prompt {
		p := builder.Prompt{Report: builder.Report{Sections: []builder.SectionReport{
			{Type: builder.SectionSystem, Included: 1, Cut: cut}, {Type: builder.SectionLore,
				Included: included, Cut: cut},
		}}}
		for i, f := range fractions {
			p.Shown = append(p.Shown, builder.Shown{Item: i, Message: memory.MessageID(i + 1), Fraction: f})
		}
		return p
	}
	for _, tt := range []struct {
		name           string
		general, other builder.Prompt
		want           bool
	}{
		{"the same", prompt(2, 1, 1, 0.5), prompt(2, 1, 1, 0.5), false},
		{"more", prompt(2, 1, 1, 0.5), prompt(3, 2, 1, 0.6, 1), false},
		{"fewer items", prompt(2, 0), prompt(1, 0), true},
		{"more items, but fewer whole", prompt(2, 0), prompt(3, 2), true},
		{"a line that isn't there", prompt(1, 0, 1, 0.2), prompt(1, 0, 1), true},
		{"a shorter line", prompt(1, 0, 1, 0.5), prompt(1, 0, 1, 0.4), true},
	} {
		if got := showsLess(tt.general, tt.other); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestModeReportAsText(t *testing.T) {
	t.Parallel()
	b := modesBuilder(t, builder.Options{Layout: builder.LayoutPlain})
	r, err := MeasureModes(t.Context(), b, labelled, func(ModeOutcome) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var short, long strings.Builder
	r.Write(&short, false)
	r.Write(&long, true)
	rest, ok := strings.CutPrefix(long.String(), short.String())
	if why := r.Wrong[0].Why; !ok || rest != "\nline 6: general, inferred as creation by \""+why+
		"\": \"write a haiku\"\nline 8: analysis, inferred as general by \"thanks\": \"thanks\"\n" {
		t.Errorf("the wrong ones are\n%s", rest)
	}
	golden.Seen(t, short.String())
}

func TestMeasuringModesEnds(t *testing.T) {
	t.Parallel()
	b := modesBuilder(t, builder.Options{})
	broken := errors.New("full")
	if _, err := MeasureModes(t.Context(), b, labelled, func(ModeOutcome) error {
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("an outcome that isn't taken: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := MeasureModes(ctx, b, labelled, func(ModeOutcome) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
