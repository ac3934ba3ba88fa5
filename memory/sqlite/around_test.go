package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/memory"
)

// TestAroundIsWhatAScanFinds reads stretches round whatever ids, and compares them with a look at all messages for each.
func TestAroundIsWhatAScanFinds(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	var all []memory.Message
	var events []memory.Event
	for i := range 60 {
		if i%7 == 3 || i > 20 && i < 28 {
			continue // there are holes between ids
		}
		p := posted(general, i, "word")
		events = append(events, p)
		all = append(all, p.Message)
	}
	must(t, s.Apply(bg, events...))
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(-1, 6).Draw(t, "before"), rapid.IntRange(-1, 6).Draw(t, "after")
		var ids []memory.MessageID
		for _, n := range rapid.SliceOfN(rapid.IntRange(-2, 63), 0, 8).Draw(t, "ids") {
			ids = append(ids, id(n))
		}
		wanted := map[memory.MessageID]bool{}
		for _, id := range ids {
			at, there := slices.BinarySearchFunc(all, id, func(m memory.Message, id memory.MessageID) int { return int(m.ID - id) })
			end := at + max(after, 0)
			if there {
				end++
			}
			for i := max(0, at-max(before, 0)); i < min(end, len(all)); i++ {
				wanted[all[i].ID] = true
			}
		}
		var want []memory.MessageID
		for _, m := range all {
			if wanted[m.ID] {
				want = append(want, m.ID)
			}
		}
		found, err := s.Around(bg, general, ids, before, after)
		must(t, err)
		var got []memory.MessageID
		for _, m := range found {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %v, %d before and %d after: %v, want %v", ids, before, after, got, want)
		}
	})
}

func TestReadsStopWithTheirContext(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	must(t, s.Apply(bg, posted(general, 1, "word")))
	done, cancel := context.WithCancel(bg)
	cancel()
	for name, read := range map[string]func(context.Context) error{
		"Around": func(ctx context.Context) error {
			_, err := s.Around(ctx, general, []memory.MessageID{id(1)}, 1, 1)
			return err
		},
		"FullText": func(ctx context.Context) error {
			_, err := s.FullText(ctx, in(general), []string{"word"}, 1)
			return err
		},
		"Frequencies": func(ctx context.Context) error {
			_, _, err := s.Frequencies(ctx, in(general), []string{"word"}, 1)
			return err
		},
		"Starred": func(ctx context.Context) error { _, err := s.Starred(ctx, in(general), 1); return err },
	} {
		for range 2 { // before its statements are prepared, and after
			if err := read(done); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: %v", name, err)
			}
			if err := read(bg); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestClosedStoreHasNoVersion(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	closed(t, s)
	if _, err := s.Version(bg); err == nil {
		t.Error("a closed store tells its version")
	}
}
