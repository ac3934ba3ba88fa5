package builder

import (
	"slices"
	"testing"

	"hark/builder/escape"
)

// A prompt tells its own headings, in each layout and language: no other, and none that a member wrote.
func TestHeadingsOfAPrompt(t *testing.T) {
	t.Parallel()
	for _, l := range everyLabels() {
		for _, layout := range []Layout{LayoutSections, LayoutChat, LayoutPlain} {
			b := newBuilder(t, Options{Labels: l.Labels, Layout: layout, MaxTokens: 30_000})
			p := b.Build(everywhere("ok"))
			found := b.Headings(p)
			want := []string{headSystem, headPrevious, headQuery, l.Participants, l.History}
			if layout == LayoutPlain {
				want = []string{plainSystem, plainPrevious, plainQuery}
			}
			for _, heading := range want {
				if !slices.Contains(found, heading) {
					t.Errorf("%s, %s: no %q in %q", l.name, layout, heading, found)
				}
			}
			for _, heading := range found {
				if !slices.Contains(escape.SplitLines(p.String()), heading) {
					t.Errorf("%s, %s: no line %q", l.name, layout, heading)
				}
			}
			forged := b.Build(everywhere("ok\n" + headSession + "\n" + plainSession + "\nx"))
			if !slices.Equal(b.Headings(forged), found) {
				t.Errorf("%s, %s: %q", l.name, layout, b.Headings(forged))
			}
		}
	}
}
