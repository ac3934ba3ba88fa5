package memory

// Decides reports whether an event is something that a person decided or told Hark: a setting, a consent, lore, a fact, a
// star, what is to be forgotten or was deleted. Nobody would say it again, so that it must last when Apply has returned.
// Everything else can be learned again: messages and the structure of guilds from Discord.
func Decides(e Event) bool {
	switch e.(type) {
	case Chose, SettingChosen, LimitChosen, Opted, Learn, Connected, // about what Hark does
		FactTold, FactGone, LoreTold, LoreGone, Starred, // what it is told
		Deleted, Forgetting: // what goes
		return true
	}
	return false
}
