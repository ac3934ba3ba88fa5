package answer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

func TestZonesExist(t *testing.T) {
	t.Parallel()
	names := Zones()
	if !slices.IsSorted(names) || len(names) < 400 || !slices.Contains(names, "UTC") {
		t.Errorf("%d zones, in order: %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		if z := zoneCalled(name); z == nil || z.String() != name {
			t.Errorf("%s is the zone %v", name, z)
		}
		if got, err := checkZone(strings.ToLower(strings.ReplaceAll(name, "_", " "))); got != name || err != nil {
			t.Errorf("%s written otherwise is %q, %v", name, got, err)
		}
	}
	if got, err := checkZone(""); got != "" || err != nil {
		t.Errorf("nothing is %q, %v", got, err)
	}
}

// What is set for the guild decides how times are told, which day "yesterday" is, and what the lore was told at.
func TestTimesAreInTheGuildsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tokyo := zoneCalled("Asia/Tokyo")
	w.apply(sets(0, memory.SettingTimezone, "Asia/Tokyo"))
	// on the 15th in Tokyo, on the 14th in UTC
	late := w.says(20*time.Hour+30*time.Minute, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	w.engine = w.over(w.store, nil, builder.Options{Citations: true}, Options{Zone: time.FixedZone("", 5*3600)})
	a := w.answer(q)
	if at := a.Sources[0].Time; at.Location() != tokyo || !at.Equal(late.Time()) {
		t.Errorf("source at %v", at)
	}
	has(t, a.Text, late.Time().In(tokyo).Format("2 Jan 2006 15:04"))
	has(t, w.prompt(q), q.Now.In(tokyo).Format("[2006-01-02 15:04]"))
	spy := &askedFor{Searcher: w.engine.search}
	w.engine.search = spy
	w.prompt(q)
	if now := spy.last.Now; now.Location() != tokyo || !now.Equal(q.Now) { // by which it tells what "yesterday" is
		t.Errorf("searched as of %v", now)
	}
	model := &scripted{pieces: []string{"- There is a password [1]"}}
	for _, m := range []Model{nil, model} {
		w.engine = w.over(w.store, m, builder.Options{}, Options{Zone: time.FixedZone("", 5*3600)})
		if c := w.missed(harbor, noon.Add(-day)); len(c.Sources) != 1 || c.Sources[0].Time.Location() != tokyo {
			t.Errorf("caught up with %+v", c)
		}
	}
	has(t, model.got[1].Content, late.Time().In(tokyo).Format("[01-02 15:04]"))
}

func TestPausesEnd(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": false, "on": true, "2024-06-15T12:00:01Z": true,
		"2024-06-15T12:00:00Z": false, "soon": false} {
		until, paused := Settings{Paused: value}.PausedAt(noon)
		if paused != want || until.IsZero() != (value == "" || value == "on" || value == "soon") {
			t.Errorf("%q at noon: %v, until %v", value, paused, until)
		}
	}
}
