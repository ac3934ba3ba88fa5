package answer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/memory"
)

// Of what nothing is left isn't asked for ever whether it is to be summed up.
func TestWhatIsGoneIsDoneWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*time.Hour, lobby, ann, "the ferry leaves at nine")
	w.sumsUp(nil)
	w.apply(memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{w.summaries(lobby)[0].ID}})
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are to be looked at", n)
	}
	w.sumsUp(nil)
	if n := w.unsummed(); n != 0 || len(w.summaries(lobby)) != 0 {
		t.Errorf("%d stretches are left, and %s", n, texts(w.summaries(lobby)))
	}
}

// What was heard since a channel was summed up last isn't lost, however long it takes until the next look, nor is more than
// a round's work done at once. A channel that never was is summed up from a week ago on.
func TestWhatWasHeardLongAgoIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(90*day, lobby, ben, "the bus comes at noon")
	w.says(90*day, harbor, ben, "the boat leaves at ten")
	s := w.summariser(nil)
	s.Channel, s.Now = lobby, func() time.Time { return noon.Add(-89 * day) }
	if err := s.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range sessionsMost {
		w.says(80*day-time.Duration(i)*time.Hour, lobby, ann, fmt.Sprintf("the ferry of dock %d leaves at nine", i))
	}
	w.says(8*day, lobby, ann, "My personal best for the charity 5K is 25:50.")
	w.sumsUp(nil)
	if n := w.unsummed(); n != 1 {
		t.Errorf("%d stretches are left", n)
	}
	w.sumsUp(nil)
	has(t, texts(w.summaries(lobby)), "25:50")
	if len(w.summaries(harbor)) != 0 || w.unsummed() != 0 {
		t.Errorf("in the harbor there is %s, %d stretches are left", texts(w.summaries(harbor)), w.unsummed())
	}
}

// A channel of which something is to be fetched still is summed up once that is there, unless it is of long ago.
func TestWhatIsFetchedLateIsSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gap := func(channel memory.ChannelID, from, to time.Duration) memory.Gap {
		return memory.Gap{Guild: guild, Channel: channel, After: memory.FirstMessageID(noon.Add(-from)), Until: memory.FirstMessageID(noon.Add(-to))}
	}
	w.says(3*day, lobby, ben, "the bus comes at noon")
	w.says(2*time.Hour, lobby, ben, "I am online again, the bus was 20 minutes late")
	w.says(2*time.Hour, harbor, ben, "the boat leaves at ten")
	missed := gap(lobby, 2*day, 3*time.Hour)
	w.apply(memory.GapFound{Gap: missed}, memory.GapFound{Gap: gap(harbor, 30*day, 8*day)})
	w.sumsUp(nil)
	if len(w.summaries(lobby)) != 0 || len(w.summaries(harbor)) != 1 {
		t.Errorf("there is %s", texts(slices.Concat(w.summaries(lobby), w.summaries(harbor))))
	}
	w.says(day, lobby, ann, "My personal best for the charity 5K is 25:50.")
	w.apply(memory.GapFilled{Gap: missed, Through: missed.Until})
	w.sumsUp(nil)
	all := w.summaries(lobby)
	if len(all) != 3 || w.unsummed() != 0 {
		t.Errorf("%d summaries, %d stretches are left", len(all), w.unsummed())
	}
	has(t, texts(all), "25:50", "at noon", "20 minutes")
}

// What goes for good isn't chosen by what was talked about last: what was told four days ago stays, and what has been said
// often since goes.
func TestWhatIsParticularStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range memory.MaxSummaries + 10 {
		ago := time.Duration(160-3*i) * time.Hour
		if i == 20 {
			w.says(ago, lobby, ann, "My personal best for the charity 5K is 25:50.")
			continue
		}
		w.says(ago, lobby, cleo, fmt.Sprintf("The archive of documents has %d folders of contracts, sorted by client.", 14+i))
	}
	w.sumsUp(nil)
	w.sumsUp(nil) // what was too much for one round
	all := w.summaries(lobby)
	if len(all) != memory.MaxSummaries {
		t.Errorf("%d summaries", len(all))
	}
	has(t, texts(all), "25:50", " 63 folders")
	hasNot(t, texts(all), " 14 folders", " 18 folders")
}
