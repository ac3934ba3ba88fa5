package bot

import (
	"slices"
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
	member := s.everyPage(s.discord.Slash(s.channel, s.bo.ID, "help"), helpMore)
	admin := s.everyPage(s.discord.Slash(s.channel, s.ana.ID, "help"), helpMore)
	dm := s.discord.DM(s.bo.ID, "hello")
	direct := s.everyPage(s.discord.Slash(dm.ChannelID, s.bo.ID, "help"), helpMore)
	for text, want := range map[string][3]bool{ // for a member, for an admin, in direct messages
		"**Ask**\n":                     {true, true, true},
		"**My data**\n- </memory show:": {true, true, true},
		"</lore add:":                   {true, true, false},
		"**For those who manage this server**\n- <": {false, true, false},
		"</hark persona set:":                       {false, true, false},
		"</model:":                                  {false, true, false},
		"- “Forget this”: Has me forget":            {true, true, true},
		"- “What do you know about me?”: Shows":     {true, true, true},
		"Remember ⭐":                                {false, false, false}, // ana manages the server, and no messages
		"**And**\n- </help:":                        {true, true, true},
	} {
		if got := [3]bool{strings.Contains(member, text), strings.Contains(admin, text), strings.Contains(direct, text)}; got != want {
			t.Errorf("%q is there: %v\n%s", text, got, member)
		}
	}
	for _, e := range entries() {
		if e.Permissions == nil && !strings.Contains(member, e.path) {
			t.Errorf("%q isn't in what a member is shown", e.path)
		}
	}
}

func TestHelpExplainsACommand(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	s.says(t, s.use(t, s.bo, "help", opt("command", "memory edit")), "- </memory edit:", ">: Changes something",
		"  - `fact`: What to change (needed; at most 300 characters; choices are shown while you type)", "  - `text`: What I should know instead (at most 300 characters)")
	s.says(t, s.use(t, s.bo, "help", opt("command", "/Memory Export")), "(one of: direct message)")
	if m := s.use(t, s.bo, "help", opt("command", "mem")); m.Content != helpUnknown {
		t.Errorf("half a name: %q", m.Content)
	}
	s.says(t, s.use(t, s.bo, "help", opt("command", "memory")), "</memory show:", "</memory optin:")
	s.says(t, s.use(t, s.ana, "help", opt("command", "hark limits")), "(from 0 to 1,000,000,000)", "one of: all of this server, together, each member")
	if m := s.use(t, s.bo, "help", opt("command", "hark limits")); m.Content != helpUnknown {
		t.Errorf("a member is told %q", m.Content)
	}
	s.says(t, s.use(t, s.bo, "help", opt("command", forgetCommand)), "Has me forget a message of yours")
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
	for _, e := range entries() {
		at := slices.IndexFunc(groups, func(g helpGroup) bool { return g.is(e) })
		if at == len(groups)-1 && e.Name != "help" {
			t.Errorf("%q is among the rest", e.path)
		}
		if says := (locale{}).menuSays(e.Name); e.Type != commandSlash && says == "" {
			t.Errorf("nothing is said of %q", e.Name)
		}
	}
}

// As long as it isn't known which ids the commands have, they are named.
func TestCommandsAreNamedWithoutTheirIDs(t *testing.T) {
	t.Parallel()
	c := &commands{wake: make(chan struct{}, 1)}
	if got := c.mention("memory show"); got != "`/memory show`" {
		t.Error(got)
	}
	c.know([]knownCommand{{command{Type: commandMessage, Name: "memory"}, 3}, {command{Type: commandSlash, Name: "memory"}, 4}})
	if got := c.mention("memory show"); got != "</memory show:4>" {
		t.Error(got)
	}
}

// After a restart nothing is registered anew, and the ids are known all the same.
func TestCommandsAreMentionedAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.again(t)
	s.discord.WaitFor("a mention", func() bool {
		return strings.HasPrefix(s.bot.commands.mention("help"), "</help:")
	})
}
