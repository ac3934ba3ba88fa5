package listen

import (
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/bot/ingest"
	"hark/memory"
)

// A kind of files waits longer with each failure. A message that fails again and again is passed over.
func TestFailuresWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	w := &Worker{Options: &ingest.Options{Now: func() time.Time { return now }, Log: zerolog.Nop()}}
	before := time.Duration(0)
	for try := 1; try <= mostTries; try++ {
		if again := w.failed(memory.VoiceFile, 7, errors.New("away")); again != (try < mostTries) {
			t.Errorf("try %d: again is %t", try, again)
		}
		wait := w.pauses[memory.VoiceFile].until.Sub(now)
		if !w.waits(memory.VoiceFile) || w.waits(memory.ImageFile) || wait < before || wait > longestPause {
			t.Errorf("try %d: waits %v after %v", try, wait, before)
		}
		before, now = wait, now.Add(wait)
		if w.waits(memory.VoiceFile) {
			t.Errorf("try %d: it waits too long", try)
		}
	}
	if !w.failed(memory.VoiceFile, 8, errors.New("away")) {
		t.Error("another message isn't tried again")
	}
}

func TestToday(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 23, 0, 0, 0, time.UTC)
	for value, want := range map[string]Counts{"": {}, "2026-11-24 3 5": {voice: 3, pictures: 5}, "2026-11-23 3 5": {}, "odd": {}} {
		want.day = "2026-11-24"
		g := &memory.Guild{Settings: map[memory.Setting]string{memory.SettingHeard: value}}
		if got := Today(g, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
