package builder

// demand is what a section asks of a budget.
type demand struct {
	need    int64 // to hold all of it
	floor   int64
	ceiling int64
	raised  int64 // what the mode adds to the ceiling
}

// distribute gives each demand, in order of priority, first up to its floor and then up to its ceiling, and
// none more than it needs. It returns what is left. With floors and ceilings that grow in proportion to total+c, for a
// constant c of at least 0, no part of a larger total is smaller: what is left after some demands is a linear function
// of the total that starts at or below zero, so that it grows wherever it is positive.
func distribute(total int64, order []kind, demands *[sectionKinds]demand, parts *[sectionKinds]int64) int64 {
	left := max(0, total)
	for _, k := range order {
		d := &demands[k]
		parts[k] = min(d.need, d.floor, left)
		left -= parts[k]
	}
	return serve(left, order, demands, parts, func(d *demand) int64 { return d.ceiling })
}

// serve gives each demand, in order of priority, of what is left, up to a limit. It returns what is left then.
func serve(left int64, order []kind, demands *[sectionKinds]demand, parts *[sectionKinds]int64,
	limit func(*demand) int64) int64 {
	for _, k := range order {
		d := &demands[k]
		more := min(max(0, min(d.need, limit(d))-parts[k]), left)
		parts[k] += more
		left -= more
	}
	return left
}

// share is a section's part of a budget: its floor and its ceiling, of a whole.
type share struct {
	floor, ceiling int64
	priority       int
	modes          []Mode
}

// shares are a layout's parts of a budget of tokens, and scale with it.
type shares struct {
	whole    int64
	system   int64
	query    int64
	sections [sectionKinds]share
	order    [sectionKinds]kind // by priority
}

// charShares are the parts of a budget of characters, in thousandths. Only the history may take what the others
// leave.
var charShares = shares{whole: 1000, sections: [sectionKinds]share{
	kindParticipants: {floor: 40, ceiling: 250},
	kindHistory:      {floor: 150, ceiling: 1000},
	kindEarlier:      {floor: 50, ceiling: 250},
	kindLore:         {floor: 50, ceiling: 250},
}}
