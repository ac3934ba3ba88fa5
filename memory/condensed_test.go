package memory

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCondensedTextsAreChecked(t *testing.T) {
	t.Parallel()
	made := time.Date(2024, 6, 15, 12, 0, 0, 1_234_567, time.UTC)
	good := func() Condensed {
		return Condensed{
			Guild: 1, Channel: 5, Until: 9 << 22, Text: " The ferry\x00 leaves at 9.\n", Made: made, Model: "m\x00",
			Sources: []SummarySource{{Message: 9 << 22}, {Message: 3 << 22, Edited: 7}, {Message: 3 << 22, Edited: 8}},
		}
	}
	want := Condensed{
		Guild: 1, Channel: 5, Until: 9 << 22,
		Text: "The ferry leaves at 9.", Made: made.Truncate(time.Millisecond), Model: "m",
		Sources: []SummarySource{{Message: 3 << 22, Edited: 7}, {Message: 9 << 22}},
	}
	given := good()
	if got, err := given.Checked(); err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(given, good()) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, spoil := range []func(*Condensed){
		func(c *Condensed) { c.Channel = 0 },
		func(c *Condensed) { c.Made = time.Time{} },
		func(c *Condensed) { c.Text = " \x00" },
		func(c *Condensed) { c.Text = strings.Repeat("é", MaxCondensedText+1) },
		func(c *Condensed) { c.Sources = nil },
		func(c *Condensed) { c.Sources, c.Until = many(MaxCondensedSources+1), MaxCondensedSources+1 },
		func(c *Condensed) { c.Until++ },
	} {
		c := good()
		spoil(&c)
		_, err := c.Checked()
		wantRefusal(t, err)
	}
	most := good()
	most.Text, most.Sources, most.Until = strings.Repeat("é", MaxCondensedText), many(MaxCondensedSources),
		MaxCondensedSources
	if _, err := most.Checked(); err != nil {
		t.Error(err)
	}
}

func TestSettingsAreKnownByTheirKeys(t *testing.T) {
	t.Parallel()
	known := map[Setting]bool{}
	for _, key := range Settings() {
		known[key] = true
	}
	if len(known) != 10 || len(known) != len(Settings()) || !known[SettingRetention] || !known[SettingModel] {
		t.Errorf("the settings are %v", Settings())
	}
}
