package bot

import (
	"strings"
	"testing"
)

// waitIDs returns once the bot knows by which ids commands are mentioned.
func (s *scene) waitIDs() {
	s.discord.WaitFor("the ids of commands", func() bool {
		return strings.HasPrefix(s.bot.commands.Mention("help"), "<")
	})
}

// After a restart nothing is registered anew, and the ids are known all the same. Until then commands are named.
func TestCommandsAreMentionedAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.again(t)
	s.waitIDs()
}
