package bot

import (
	"strings"
	"testing"

	"hark/bot/locale"
)

// waitIDs returns once the bot knows by which ids commands are mentioned.
func (s *scene) waitIDs() {
	s.discord.WaitFor("the ids of commands", func() bool {
		return strings.HasPrefix(s.bot.commands.mention("help"), "<")
	})
}

// Every command has a group, and every command in a menu something that is said of it.
func TestEveryCommandHasItsPlaceInTheHelp(t *testing.T) {
	t.Parallel()
	groups := helpGroups(locale.Locale{})
	for _, e := range (&commands{}).entries() {
		if e.group() == len(groups)-1 && e.Name != "help" {
			t.Errorf("%q is among the rest", e.path)
		}
		if e.says == "" {
			t.Errorf("nothing is said of %q", e.Name)
		}
	}
}

// After a restart nothing is registered anew, and the ids are known all the same. Until then commands are named.
func TestCommandsAreMentionedAfterARestart(t *testing.T) {
	t.Parallel()
	if got := (&commands{}).mention("memory show"); got != "`/memory show`" {
		t.Error(got)
	}
	s := remembering(t)
	s.again(t)
	s.waitIDs()
}
