package memorytest

import (
	"time"

	"hark/memory"
)

func (t *trial) extent(f memory.Forgetting) memory.Extent {
	t.Helper()
	return got(t.store.Extent(t.ctx, memory.ExtentQuery{Forgetting: f}))(t)
}

// takes fails the test unless a forgetting would take that much, takes as many messages as it is told, and then nothing more.
func (t *trial) takes(what string, f memory.Forgetting, want memory.Extent) {
	t.Helper()
	f.Why, f.At = memory.WhyPurge, later
	t.same("what would go of "+what, t.extent(f), want)
	r := t.forget(f)
	t.same("what went of "+what, []int{r.Messages, r.Lore}, []int{want.Messages, want.Lore})
	t.same("what would go now of "+what, t.extent(f), memory.Extent{})
}

var extentPromises = []promise{
	{"how much a forgetting would take is told before", func(t *trial) {
		t.settle()
		t.told(note(1, ada, general, 1), note(2, ben, 0, 1), note(3, ben, staff, 1, memory.Spot{Channel: general, Message: id(2)}))
		before := began.Add(2 * time.Second)
		t.takes("a person's before a time, in a channel", memory.Forgetting{Guild: guild, User: ada, Channel: general, Before: before}, memory.Extent{Messages: 1, Channels: 1, Facts: 1})
		t.takes("a person of a guild", memory.Forgetting{Guild: guild, User: ada}, memory.Extent{Messages: 3, Channels: 3, Facts: 1, Lore: 1})
		t.takes("a channel", memory.Forgetting{Guild: guild, Channel: general}, memory.Extent{Messages: 1, Channels: 1, Lore: 1})
		t.takes("another guild before a time", memory.Forgetting{Guild: village, Before: id(6).Time()}, memory.Extent{})
		t.takes("all", memory.Forgetting{Guild: memory.Everywhere}, memory.Extent{Messages: 3, Channels: 3, Facts: 3, Lore: 1})
	}},
}
