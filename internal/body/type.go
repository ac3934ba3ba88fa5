package body

// The types of messages that somebody wrote, by Discord's numbers.
// https://discord.com/developers/docs/resources/message#message-object-message-types
const (
	Default     = 0
	Reply       = 19
	ChatCommand = 20
	MenuCommand = 23
	PollResult  = 46 // by who asked
)

// IsSaid reports whether somebody said a message of a type. The others are Discord's notices.
func IsSaid(messageType int) bool {
	switch messageType {
	case Default, Reply, ChatCommand, MenuCommand, PollResult:
		return true
	}
	return false
}
