package sqlite

import (
	"testing"
	"time"

	"hark/memory"
)

// persona is a setting of a channel, or with 0 of the guild, of the nth minute.
func persona(channel memory.ChannelID, n int, text string) memory.SettingChosen {
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: memory.SettingPersona, Value: text, At: id(n).Time()}
}

// What a persona said leaves the file when it is changed or taken back, and with its channel or its guild.
func TestPersonasLeaveTheFile(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(t *testing.T, s *Store){
		"changed":    func(t *testing.T, s *Store) { apply(t, s, persona(general, 5, "You are calm.")) },
		"taken back": func(t *testing.T, s *Store) { apply(t, s, persona(general, 5, "")) },
		"the channel is deleted": func(t *testing.T, s *Store) {
			apply(t, s, memory.ChannelDeleted{Guild: guild, Channel: general, At: id(9).Time()})
		},
		"the channel is forgotten": func(t *testing.T, s *Store) {
			if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: id(9).Time()}, nil); err != nil {
				t.Fatal(err)
			}
		},
		"the guild is forgotten": func(t *testing.T, s *Store) {
			if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: id(9).Time()}, nil); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			apply(t, s, posted(general, 1, "hello"), persona(general, 2, "You are Huitzilopochtli."), persona(0, 2, "You are kind."))
			if len(holding(t, dir, "Huitzilopochtli")) == 0 {
				t.Fatal("it isn't in the file in the first place")
			}
			gone(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, word := range canaries("Huitzilopochtli") {
				if got := holding(t, dir, word); len(got) > 0 {
					t.Errorf("%v still hold %q", got, word)
				}
			}
			if there := len(holding(t, dir, "You are kind.")) > 0; there == (name == "the guild is forgotten") {
				t.Errorf("whether the guild's is there: %v", there)
			}
		})
	}
}

// A database that knows modes only gives them to the backup that takes its place.
func TestRestoreTakesOverModes(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	apply(t, s, posted(general, 1, "hello"), memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, Value: "analysis", At: time.UnixMilli(1777598000000)})
	backup := backUp(t, s)
	got, r := restored(t, ofVersion(t, 8), backup)
	if !r.Known || r.Unknown != nil {
		t.Errorf("%+v", r)
	}
	g, err := got.Guild(bg, guild)
	if err != nil {
		t.Fatal(err)
	}
	if mode, _ := g.Setting(general, memory.SettingMode); mode != "search" {
		t.Errorf("the mode is %q", mode)
	}
}
