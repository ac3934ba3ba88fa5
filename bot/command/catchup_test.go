package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

func TestCatchUpSaysWhatItIs(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	later := at.Add(time.Hour)
	lost := errors.New("the model is down")
	var all []string
	for _, test := range []struct {
		name    string
		got     answer.CaughtUp
		since   time.Time
		noModel bool
	}{
		{"nothing since they wrote", answer.CaughtUp{Since: at, Spoke: at}, time.Time{}, false},
		{"nothing, and they never wrote", answer.CaughtUp{Since: at}, time.Time{}, false},
		{"nothing since a day", answer.CaughtUp{Since: at}, at, false},
		{"nothing since a day, and they wrote", answer.CaughtUp{Since: at, Spoke: later}, at, false},
		{"nothing within a week", answer.CaughtUp{Since: later, Spoke: at, Bounded: true}, time.Time{}, false},
		{"no model", answer.CaughtUp{Since: at, Messages: 1, Text: "x"}, time.Time{}, false},
		{"no tokens", answer.CaughtUp{Since: at, Spoke: at, Messages: 1, Text: "x", Left: 3}, time.Time{}, true},
		{"away", answer.CaughtUp{Since: at, Spoke: later, Messages: 2, Text: "x", Away: lost, Bounded: true},
			at, false},
		{"loading", answer.CaughtUp{Since: at, Messages: 2, Text: "x", Away: fmt.Errorf("ask: %w", unwell{loading: true})},
			at, false},
		{"crowded", answer.CaughtUp{Since: at, Messages: 2, Text: "x", Away: unwell{}}, at, false},
		{"cut off", answer.CaughtUp{Since: at, Spoke: later, Messages: 2, Text: "x", Model: "m", Cut: true}, at, false},
	} {
		got, err := showCaughtUp(locale.Locale{}, test.got, test.since, test.noModel)
		if err != nil || len(got.More) > 0 {
			t.Errorf("%s: more than a page, or %v", test.name, err)
		}
		all = append(all, "== "+test.name+"\n"+got.Content)
	}
	golden.Seen(t, strings.Join(all, "\n"))
	long, err := showCaughtUp(locale.Locale{},
		answer.CaughtUp{Since: at, Messages: 9, Text: strings.Repeat("> many words\n", 400)}, at, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(long.More, long.Content) {
		if markdown.Units(page) > markdown.MessageLimit {
			t.Errorf("a page has %d units", markdown.Units(page))
		}
	}
	if len(long.More) == 0 {
		t.Error("there is one page")
	}
}

// unwell is a model that is being loaded, or is asked too much.
type unwell struct{ loading bool }

func (unwell) Error() string   { return "unwell" }
func (u unwell) Loading() bool { return u.loading }
func (u unwell) Crowded() bool { return !u.loading }

// Days are read in the language of whoever asks, and named in it.
func TestDaysInTheLanguageOfWhoeverAsks(t *testing.T) {
	t.Parallel()
	store := sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()})
	t.Cleanup(func() { _ = store.Close() })
	for _, language := range []string{"de", "fr", "es", "ja", "zh-TW"} {
		l := locale.Of(language)
		given := (&interaction{Locale: l, server: &memory.Guild{},
			Interaction: typing("since", strings.ToUpper(l.Text("yesterday")))})
		o := ingest.Options{Now: func() time.Time { return time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC) },
			Filter: ingest.NewFilter(store, memory.Policy{}, nil, nil)}
		c := Commands{Options: offline(o, answer.Choices{})}
		if from, _, err := c.timeOption(given, "since"); err != nil || from.Day() != 2 {
			t.Errorf("%s: yesterday is %v, %v", language, from, err)
		}
		bad := &interaction{Locale: l, server: &memory.Guild{}, Interaction: typing("since", "soon")}
		if _, _, err := c.timeOption(bad, "since"); err == nil ||
			!strings.Contains(err.Error(), "`"+l.Text("today")+"`") ||
			!strings.Contains(err.Error(), "`"+l.Text("yesterday")+"`") {
			t.Errorf("%s: %v", language, err)
		}
	}
}

// typing is a use of a command with one option.
func typing(name, value string) (i discord.Interaction) {
	i.Data.Options = []discord.Option{{Name: name, Value: value}}
	return i
}
