package vectors

import (
	"math"

	"hark/memory"
)

// table holds a guild's rows in slots, by column, because a search scans whole columns. A slot is free or has a row; a
// row keeps its slot.
type table struct {
	ids           []int64
	channels      []uint32 // noChannel in a free slot
	firsts, lasts []memory.MessageID
	slots         map[int64]uint32 // by id
	free          []uint32
	form          form
}

const noChannel = math.MaxUint32

// perRow is the measured size in bytes of a row without its vector: 28, and its share of the map.
const perRow = 60

// form is how the vectors of a table's rows are held.
type form interface {
	// put adds the vector of a slot that has none. If it fails, the slot has none still.
	put(slot, channel uint32, r Row) error
	// remove overwrites the vector of a slot with zeros.
	remove(slot, channel uint32)
	// wipe overwrites all vectors with zeros, and holds none.
	wipe()
	// reserve makes room for n vectors in a form that has none.
	reserve(n int)
	// bytes returns how many bytes of memory the vectors of so many rows take.
	bytes(rows int) int64
}

func newTable(of form) *table { return &table{slots: map[int64]uint32{}, form: of} }

func (t *table) reserve(n int) {
	t.ids = make([]int64, 0, n)
	t.channels = make([]uint32, 0, n)
	t.firsts = make([]memory.MessageID, 0, n)
	t.lasts = make([]memory.MessageID, 0, n)
	t.slots = make(map[int64]uint32, n)
	t.form.reserve(n)
}

// put adds or replaces a row.
func (t *table) put(r Row) error {
	t.remove(r.ID)
	slot := t.take()
	if err := t.form.put(slot, r.Channel, r); err != nil {
		t.free = append(t.free, slot)
		return err
	}
	t.ids[slot] = r.ID
	t.channels[slot] = r.Channel
	t.firsts[slot] = r.First
	t.lasts[slot] = r.Last
	t.slots[r.ID] = slot
	return nil
}

// take returns a free slot.
func (t *table) take() uint32 {
	if n := len(t.free); n > 0 {
		slot := t.free[n-1]
		t.free = t.free[:n-1]
		return slot
	}
	t.ids = append(t.ids, 0)
	t.channels = append(t.channels, noChannel)
	t.firsts = append(t.firsts, 0)
	t.lasts = append(t.lasts, 0)
	return uint32(len(t.ids) - 1)
}

func (t *table) remove(id int64) {
	slot, ok := t.slots[id]
	if !ok {
		return
	}
	t.form.remove(slot, t.channels[slot])
	t.channels[slot] = noChannel
	t.ids[slot] = 0
	delete(t.slots, id)
	t.free = append(t.free, slot)
}

func (t *table) rows() int { return len(t.slots) }

// bytes counts free slots too, whose memory stays.
func (t *table) bytes() int64 { return int64(len(t.ids))*perRow + t.form.bytes(len(t.ids)) }

// allowed returns the slots with rows that scope allows.
func (t *table) allowed(scope *Scope) []uint32 {
	var channels []bool // by number
	for _, c := range scope.Channels {
		for len(channels) <= int(c) {
			channels = append(channels, false)
		}
		channels[c] = true
	}
	always := !scope.hasTimes()
	slots := make([]uint32, 0, len(t.ids))
	for slot, c := range t.channels {
		if int(c) >= len(channels) || !channels[c] {
			continue
		}
		if always || t.lasts[slot] >= scope.Since && t.firsts[slot] < scope.Until {
			slots = append(slots, uint32(slot))
		}
	}
	return slots
}
