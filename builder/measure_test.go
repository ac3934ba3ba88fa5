package builder

import (
	"strings"
	"testing"
)

func TestInstructionTokens(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{Citations: true})
	for _, m := range Modes() {
		if got, want := b.InstructionTokens(m), b.modes[noTools][m].all(); got != want {
			t.Errorf("%s: %d tokens, want %d", m, got, want)
		}
	}
	// What all modes have in common stands in all together once.
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
