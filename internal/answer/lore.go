package answer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// Lore returns the lore of q's guild that readers of an answer to q may know, by name.
func (e *Engine) Lore(ctx context.Context, q Question) ([]memory.Lore, error) {
	ctx = withLookUps(ctx)
	now, err := e.readScope(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read lore: %w", err)
	}
	here := slices.DeleteFunc(slices.Collect(maps.Values(now.lore)), func(l memory.Lore) bool {
		return l.Guild != q.Guild
	})
	told, _, err := e.verifyLore(ctx, now, here)
	return told, err
}

// verifyLore returns the lore whose sources may all be used, by name, and these sources.
func (e *Engine) verifyLore(ctx context.Context, now readableScope, lore []memory.Lore) ([]memory.Lore,
	map[memory.MessageRef]memory.Message, error) {
	r := &recalled{readableScope: now}
	r.result.Lore = digest.Each(lore, func(l memory.Lore) search.LoreHit { return search.LoreHit{Lore: l} })
	if err := e.verifySources(ctx, r); err != nil {
		return nil, nil, fmt.Errorf("read what lore is from: %w", err)
	}
	told := loreOf(r.result.Lore)
	slices.SortFunc(told, func(a, b memory.Lore) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return told, r.said, nil
}
