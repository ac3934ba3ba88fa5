package sqlite

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hark/memory"
)

// Stretches equal what Around returns for each spot, merged: also of many in a row, with pauses, during a
// forgetting, and in another process.
func TestStretchesAreWhatIsAroundEachSpot(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	random := rand.New(rand.NewPCG(1, 2))
	channels := []memory.ChannelID{general, secret, general + 1}
	said := map[memory.ChannelID][]int{}
	var events []memory.Event
	for _, channel := range channels {
		n := 0
		for range 150 {
			if n++; random.IntN(12) == 0 {
				n += random.IntN(900) // up to two and a half hours
			}
			said[channel] = append(said[channel], n)
			events = append(events, posted(channel, n, "apples"))
		}
	}
	apply(t, s, events...)
	other := open(t, s.engine.dir)
	for round := range 120 {
		if round == 60 {
			if _, err := s.engine.write.ExecContext(bg, "INSERT INTO doomed (row, forgetting) SELECT row, 1 FROM message "+
				"WHERE id % 5 = 0 OR row % 3 = 1"); err != nil {
				t.Fatal(err)
			}
		}
		reach := map[memory.MessageRef]int{}
		for _, channel := range channels {
			all := said[channel]
			begin := random.IntN(len(all))
			for i := range random.IntN(40) {
				n := all[random.IntN(len(all))]
				if i%3 > 0 { // in a row
					n = all[min(begin+random.IntN(30), len(all)-1)]
				}
				reach[memory.MessageRef{Channel: channel, Message: id(n) + memory.MessageID(random.IntN(2))}] =
					[]int{0, 1, 2, 8, 8, 8, 500}[random.IntN(7-round%2)]
			}
		}
		for _, from := range []*Store{s, other} {
			got, err := from.Stretches(bg, reach)
			must(t, err)
			for _, channel := range channels {
				some := slices.DeleteFunc(slices.Clone(got),
					func(m []memory.Message) bool { return m[0].Channel != channel })
				want := stretchesAround(t, s, channel, reach)
				if len(some) != len(want) || len(want) > 0 && !reflect.DeepEqual(some, want) {
					t.Fatalf("round %d: of channel %d %v, want %v", round, channel, some, want)
				}
			}
		}
	}
}

// stretchesAround are Stretches of a channel by what is Around each spot.
func stretchesAround(t *testing.T, s *Store, channel memory.ChannelID,
	reach map[memory.MessageRef]int) [][]memory.Message {
	t.Helper()
	all, follows := map[memory.MessageID]memory.Message{}, map[memory.MessageID]bool{}
	for spot, n := range reach {
		if spot.Channel != channel {
			continue
		}
		near, err := s.Around(bg, channel, []memory.MessageID{spot.Message}, n, n)
		must(t, err)
		for i, m := range near {
			all[m.ID] = m
			follows[m.ID] = follows[m.ID] || i > 0
		}
	}
	var ids []memory.MessageID
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var stretches [][]memory.Message
	for _, id := range ids {
		if last := len(stretches) - 1; follows[id] {
			stretches[last] = append(stretches[last], all[id])
		} else {
			stretches = append(stretches, []memory.Message{all[id]})
		}
	}
	return stretches
}
