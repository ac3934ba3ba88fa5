package discordtest

// Intents is what a gateway session asks to be told of.
type Intents int

// The intents that the fake knows.
const (
	Guilds         Intents = 1 << 0
	Members        Intents = 1 << 1
	Presences      Intents = 1 << 8
	GuildMessages  Intents = 1 << 9
	DirectMessages Intents = 1 << 12
	MessageContent Intents = 1 << 15

	// Privileged are those that have to be switched on in the developer portal.
	Privileged = Members | Presences | MessageContent

	knownIntents Intents = 1<<26 - 1
)

// applicationFlags say in the application's flags which privileged intents are on, for a bot in few guilds.
func (i Intents) applicationFlags() int {
	var f int
	for intent, flag := range map[Intents]int{Presences: 1 << 13, Members: 1 << 15, MessageContent: 1 << 19} {
		if i&intent != 0 {
			f |= flag
		}
	}
	return f
}

func messageIntent(c *channel) Intents {
	if c.Type == Direct {
		return DirectMessages
	}
	return GuildMessages
}
