package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/internal/answer"
	"hark/memory"
)

// propose asks whoever asked whether what the model would have remembered shall be. What they don't agree to is nowhere kept.
func (t *conversation) propose(ctx context.Context, q answer.Question, a answer.Answer) error {
	for _, p := range a.Proposals {
		l := p.Lore
		l.ID, l.By, l.Channel, l.At = int64(t.nextID()), q.Asker, t.place.channel, now()
		l, err := l.Checked()
		if err != nil {
			fmt.Fprintf(t.warn, "hark: %s can't be remembered: %v\n", oneLine(p.Lore.Name), err)
			continue
		}
		was, err := t.sources(ctx, l)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "Shall I remember this?\n  %s\n%s\n", oneLine(l.Name), indented(l.Text))
		if len(l.Own) > 0 {
			fmt.Fprintf(t.out, "  also: %s\n", oneLine(strings.Join(l.Own, ", ")))
		}
		if n := len(l.Sources); n > 0 {
			fmt.Fprintf(t.out, "  from: %s\n", plural(n, "message"))
		}
		agreed, err := t.agrees(ctx, "Remember it?")
		if err != nil {
			return err
		}
		if !agreed {
			continue
		}
		if err := t.keepProposed(ctx, l, was, &a.Trace); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintln(t.warn, "hark:", printable(err.Error()))
		}
	}
	return nil
}

// sources are those of lore as they are now; nil if one isn't there.
func (t *conversation) sources(ctx context.Context, l memory.Lore) ([]string, error) {
	var texts []string
	for _, s := range l.Sources {
		found, err := t.app.store.Around(ctx, s.Channel, []memory.MessageID{s.Message}, 0, 0)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].Guild != l.Guild {
			return nil, nil
		}
		texts = append(texts, found[0].Text())
	}
	return texts, nil
}

// keepProposed keeps lore if what it is from is as it was, and has the answer that proposed it go with it.
func (t *conversation) keepProposed(ctx context.Context, l memory.Lore, was []string, trace *memory.Trace) error {
	is, err := t.sources(ctx, l)
	if err != nil {
		return err
	}
	if len(is) < len(l.Sources) || !slices.Equal(is, was) {
		return errors.New("I don't remember it: what it is from was said elsewhere, or was changed or forgotten meanwhile")
	}
	with := trace.WithSources(l.AsSource(true))
	if err := t.keepLore(ctx, l, "Remembered", memory.Answered{Trace: with}); err != nil {
		return err
	}
	*trace = with
	return nil
}
