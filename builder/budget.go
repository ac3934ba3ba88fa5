package builder

// demand is what a section asks of a budget.
type demand struct {
	need    int64 // to hold all of it
	floor   int64
	ceiling int64
}

// distribute gives each demand, in order of priority, first up to its floor and then up to its ceiling, and
// none more than it needs. With floors and ceilings that grow in proportion to total+c, for a constant c
// of at least 0, no part of a larger total is smaller: what is left after some demands is a linear function
// of the total that starts at or below zero, so that it grows wherever it is positive.
func distribute(total int64, demands []demand, parts []int64) {
	left := max(0, total)
	for i, d := range demands {
		parts[i] = min(d.need, d.floor, left)
		left -= parts[i]
	}
	for i, d := range demands {
		more := min(max(0, min(d.need, d.ceiling)-parts[i]), left)
		parts[i] += more
		left -= more
	}
}

// share is a section's part of a budget: its floor and its ceiling, of a whole.
type share struct{ floor, ceiling int64 }

// shares are a layout's parts of a budget of tokens, and scale with it.
type shares struct {
	whole    int64
	system   int64
	query    int64
	sections [sectionKinds]share
}

// charShares are the parts of a budget of characters, in thousandths. Only the history may take what the others
// leave.
var charShares = shares{whole: 1000, sections: [sectionKinds]share{
	kindParticipants: {40, 250},
	kindHistory:      {150, 1000},
	kindEarlier:      {50, 250},
	kindLore:         {50, 250},
}}

func tokenShares(layout Layout) shares {
	if layout == LayoutPlain {
		return shares{whole: 700, system: 50, query: 100, sections: [sectionKinds]share{
			kindSession: {0, 200},
			kindHistory: {0, 300},
			kindEarlier: {0, 300},
			kindLore:    {0, 100},
		}}
	}
	return shares{whole: 4000, system: 1000, query: 1000, sections: [sectionKinds]share{
		kindSession:      {300, 1400},
		kindParticipants: {100, 500},
		kindHistory:      {300, 1600},
		kindEarlier:      {0, 400},
		kindLore:         {0, 400},
	}}
}
