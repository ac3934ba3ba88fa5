package sqlite

import (
	"testing"

	"hark/memory"
)

// persona is a setting of a channel, or with 0 of the guild, of the nth minute.
func persona(channel memory.ChannelID, n int, text string) memory.SettingChosen {
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: memory.SettingPersona, Value: text,
		At: id(n).Time()}
}

// What a persona said leaves the file when it is changed or taken back, and with its channel or its guild.
func TestPersonasLeaveTheFile(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(t *testing.T, s *Store){
		"changed":                  telling(persona(general, 5, "You are calm.")),
		"taken back":               telling(persona(general, 5, "")),
		"the channel is deleted":   telling(memory.ChannelDeleted{Guild: guild, Channel: general, At: id(9).Time()}),
		"the channel is forgotten": forgetting(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge}),
		"the guild is forgotten":   forgetting(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, emptyDir(t))
			apply(t, s, posted(general, 1, "hello"), persona(general, 2, "You are Huitzilopochtli."),
				persona(0, 2, "You are kind."))
			leaves(t, s, gone, "Huitzilopochtli")
			if there := len(holding(t, s.engine.dir,
				"You are kind.")) > 0; there == (name == "the guild is forgotten") {
				t.Errorf("whether the guild's is there: %v", there)
			}
		})
	}
}
