package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hark/internal/embed"
	"hark/memory"
	"hark/search"
)

// What looking for lore costs: a search without any, and among pieces of 500 letters each.
func BenchmarkLore(b *testing.B) {
	k, _ := gossip(b)
	for _, n := range []int{0, 20, 200, 1000} {
		var lore []memory.Lore
		for i := range n {
			lore = append(lore, told(int64(i+1),
				strings.Repeat(fmt.Sprintf("the %d chapels of the valley are mended ", i),
					12), fmt.Sprintf("Chapel fund %d", i), "chapel box"))
		}
		e := search.New(k.store, lorist{k.store, lore}, embed.Builtin{})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Search(context.Background(), ask("who pays for chapel fund 7?", green)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
