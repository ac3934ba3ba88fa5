package bot

import (
	"strings"
	"testing"
)

// waitIDs returns once the bot knows by which ids commands are mentioned.
func (s *scene) waitIDs() {
	s.discord.WaitFor("the ids of commands", func() bool {
		return strings.HasPrefix(s.bot.commands.mention("help"), "<")
	})
}

func TestHelpShowsWhatOneCanDo(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	member := s.everyPage(t, s.discord.Slash(s.channel, s.bo.ID, "help"))
	s.everyPage(t, s.discord.Slash(s.channel, s.ana.ID, "help")) // who manages the server, and no messages
	dm := s.discord.DM(s.bo.ID, "hello")
	s.everyPage(t, s.discord.Slash(dm.ChannelID, s.bo.ID, "help"))
	for _, e := range s.bot.commands.entries() {
		if e.Permissions == nil && !strings.Contains(member, e.path) {
			t.Errorf("%q isn't in what a member is shown", e.path)
		}
	}
}

func TestHelpExplainsACommand(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	s.says(t, s.use(t, s.bo, "help", opt("command", "memory edit")))
	s.says(t, s.use(t, s.bo, "help", opt("command", "/Memory Export")))
	if m := s.use(t, s.bo, "help", opt("command", "mem")); m.Content != helpUnknown {
		t.Errorf("half a name: %q", m.Content)
	}
	s.says(t, s.use(t, s.bo, "help", opt("command", "memory")))
	s.says(t, s.use(t, s.ana, "help", opt("command", "hark limits")))
	if m := s.use(t, s.bo, "help", opt("command", "hark limits")); m.Content != helpUnknown {
		t.Errorf("a member is told %q", m.Content)
	}
	s.says(t, s.use(t, s.bo, "help", opt("command", forgetCommand)))
	offered := s.discord.Complete(s.channel, s.bo.ID, "help", opt("command", "/mem")).Wait().Choices()
	if offered["/memory show"] != "memory show" || offered["/memory export"] == "" || len(offered) < 5 {
		t.Errorf("offered %v", offered)
	}
	for name := range offered {
		if !strings.HasPrefix(name, "/memory ") {
			t.Errorf("offered %q", name)
		}
	}
	if all := s.discord.Complete(s.channel, s.ana.ID, "help", opt("command", "")).Wait().Choices(); len(all) != mostCompletions {
		t.Errorf("%d are offered", len(all))
	}
}

// Every command has a group, and every command in a menu something that is said of it.
func TestEveryCommandHasItsPlaceInTheHelp(t *testing.T) {
	t.Parallel()
	groups := locale{}.helpGroups()
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
