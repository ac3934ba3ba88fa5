package builder

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

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

// The held out half was written by somebody who didn't know the cues. The other is what they were made from.
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
