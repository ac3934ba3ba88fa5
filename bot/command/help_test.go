package command

import (
	"testing"

	"hark/bot/locale"
)

// Every command has a group, and every command in a menu something that is said of it.
func TestEveryCommandHasItsPlaceInTheHelp(t *testing.T) {
	t.Parallel()
	groups := helpGroups(locale.Locale{})
	for _, e := range entriesOf((&Commands{}).declared()) {
		if e.group() == len(groups)-1 && e.Name != "help" {
			t.Errorf("%q is among the rest", e.path)
		}
		if e.says == "" {
			t.Errorf("nothing is said of %q", e.Name)
		}
	}
}

func TestCommandsWithoutIDsAreNamed(t *testing.T) {
	t.Parallel()
	if got := (&Commands{}).Mention("memory show"); got != "`/memory show`" {
		t.Error(got)
	}
}
