package builder

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/metrics"
	"hark/internal/metrics/metricstest"
	"hark/memory"
)

// What was measured is found again until it changes or is too old, and builds the same prompt.
func TestCache(t *testing.T) {
	t.Parallel()
	in := crowd()
	m := metrics.New()
	b := newBuilder(t, Options{CacheTTL: time.Minute, Metrics: m})
	stats := func() (hits, misses int) {
		for key, n := range metricstest.Counted(t, m) {
			switch name, _, _ := strings.Cut(key, " "); name {
			case "hark_prompt_cache_hits_total":
				hits += n
			case "hark_prompt_cache_misses_total":
				misses += n
			}
		}
		return hits, misses
	}
	build := func() Prompt { return b.Build(in) }
	first := build()
	_, missed := stats()
	if missed == 0 {
		t.Fatal("nothing was measured")
	}
	if again := build(); again.String() != first.String() {
		t.Errorf("not the same twice:\n%s\n%s", first, again)
	}
	hits, misses := stats()
	if misses != missed || hits < missed {
		t.Errorf("%d hits and %d misses; the first prompt had %d misses", hits, misses, missed)
	}
	in.Lore[0] += " changed"
	build()
	if _, now := stats(); now != misses+1 {
		t.Errorf("%d more misses after one text changed", now-misses)
	}
	in.Now = in.Now.Add(time.Minute)
	_, before := stats()
	build()
	if _, now := stats(); now < before+missed-1 {
		t.Errorf("%d more misses after the time to live, want about %d", now-before, missed)
	}
}

// The cache is bounded, and holds nothing that it was given.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, Options{})
	in := Input{Now: noon, Query: Turn{Content: "what?"}}
	for i := range 30 {
		in.History = in.History[:0]
		for j := range 1000 {
			in.History = append(in.History, Item{Lines: lines(1, fmt.Sprintf("%d %d ", i, j)+"%d")})
		}
		b.options.MaxTokens = 60_000
		b.Build(in)
		if n := len(b.cache.known); n > cacheSize {
			t.Fatalf("%d texts are remembered, want at most %d", n, cacheSize)
		}
	}
	if text := fmt.Sprintf("%#v", b.cache.known); strings.Contains(text, `"`) {
		t.Errorf("the cache holds text")
	}
}

// What a text was measured to be as a line says nothing of it as somebody's data, which is cut elsewhere.
func TestCacheKnowsWhatForATextWasMeasured(t *testing.T) {
	t.Parallel()
	o := Options{MaxTokens: 2000, DataChars: 20}
	text := strings.TrimSpace(strings.Repeat("word ", 26)) // longer than data may be at first, shorter than a line
	line := Input{Now: noon, Query: Turn{Content: "what?"}, History: []Item{{Lines: []Line{{Author: 1, Time: noon, Content: text}}}}}
	data := Input{Now: noon, Query: Turn{Content: "what?"}}
	for i := range 30 {
		data.Participants = append(data.Participants, Participant{ID: memory.UserID(i), Name: "Ann", Data: text})
	}
	want := newBuilder(t, o).Build(data)
	if s := want.Report.section(SectionParticipants); s.Cut == 0 {
		t.Fatalf("nothing is cut: %+v", s)
	}
	b := newBuilder(t, o)
	b.Build(line)
	if got := b.Build(data); got.String() != want.String() {
		t.Errorf("after the text was a line, the prompt is\n%s\nwant\n%s", got, want)
	}
}
