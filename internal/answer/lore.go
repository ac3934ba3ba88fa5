package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
)

// Lore is the lore of q's guild that may be told to those who will read an answer to q, by name.
func (e *Engine) Lore(ctx context.Context, q Question) ([]memory.Lore, error) {
	ctx = withLookUps(ctx)
	now, err := e.readable(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read lore: %w", err)
	}
	all, err := e.toldLore(ctx, now)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(l memory.Lore) bool { return l.Guild != q.Guild }), nil
}

// toldLore is the lore that may be told within a reach, by name.
func (e *Engine) toldLore(ctx context.Context, now reach) ([]memory.Lore, error) {
	r := &recalled{reach: now}
	wanted := map[memory.ChannelID][]memory.MessageID{}
	for _, l := range now.lore {
		for _, s := range l.Sources {
			wanted[s.Channel] = append(wanted[s.Channel], s.Message)
		}
	}
	if err := e.lookUp(ctx, r, wanted); err != nil {
		return nil, fmt.Errorf("read what lore is from: %w", err)
	}
	var all []memory.Lore
	for _, l := range now.lore {
		if !slices.ContainsFunc(l.Sources, func(s memory.Spot) bool { _, there := r.said[spot{s.Channel, s.Message}]; return !there }) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, byName)
	return all, nil
}

func byName(a, b memory.Lore) int {
	return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
}
