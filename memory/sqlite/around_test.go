package sqlite

import (
	"context"
	"errors"
	"testing"

	"hark/memory"
)

func TestReadsStopWithTheirContext(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "word"))
	drain(t, s)
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
		"Nearest": func(ctx context.Context) error {
			_, err := s.Nearest(ctx, in(general), s.engine.options.Space, unit(), 1)
			return err
		},
		"Records": func(ctx context.Context) error {
			_, err := s.Records(ctx, memory.RecordQuery{Channels: []memory.ChannelID{general}})
			return err
		},
		"Amounts": func(ctx context.Context) error { _, err := Count(ctx, s); return err },
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
