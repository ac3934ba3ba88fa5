package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hark/memory"
)

// Refuted returns the events that suspend what admins stated of roles, as far as these members contradict it.
func Refuted(ctx context.Context, log memory.GuildReader, seen []memory.Person, at time.Time) ([]memory.Event, error) {
	members := map[memory.GuildID][]memory.Person{}
	for _, p := range seen {
		members[p.Guild] = append(members[p.Guild], p)
	}
	var events []memory.Event
	for id, here := range members {
		g, err := log.Guild(ctx, id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up what is stated of roles: %w", err)
		}
		for _, i := range g.Implied() {
			if slices.ContainsFunc(here, func(p memory.Person) bool { return p.Refutes(i) }) {
				events = append(events, g.Refuted(i, at))
			}
		}
	}
	return events, nil
}

// refuted is Refuted, repeated until it succeeds.
func (w *Writer) refuted(ctx context.Context, seen []memory.Person) (events []memory.Event, err error) {
	if len(seen) == 0 {
		return nil, nil
	}
	err = w.retry(ctx, func() (err error) {
		events, err = Refuted(ctx, w.Memory, seen, w.Now())
		return err
	})
	if len(events) > 0 && err == nil {
		w.Log.Warn().Int("statements", len(events)).
			Msg("somebody has roles that contradict what admins stated in /hark audience: it doesn't count any more")
	}
	return events, err
}

// refuteNew suspends what was stated in the same commit that showed a member who contradicts it.
func (w *Writer) refuteNew(ctx context.Context, out *commit) error {
	stated := slices.ContainsFunc(out.events, func(e memory.Event) bool {
		_, is := e.(memory.SettingChosen)
		return is
	})
	if !stated {
		return nil
	}
	refuted, err := w.refuted(ctx, out.seen)
	if err != nil || len(refuted) == 0 {
		return err
	}
	return w.commit(ctx, refuted)
}
