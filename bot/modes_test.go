package bot

import (
	"errors"
	"fmt"
	"testing"

	"hark/builder"
	"hark/internal/discordtest"
	"hark/memory"
)

func TestModesAreChosenForChannels(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	here, guild := memory.ChannelID(s.channel), memory.GuildID(s.guild.ID)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	s.discord.Say(other.ID, s.bo.ID, "hello")
	last := func() memory.ModeChosen {
		e, _ := find(s.log, func(memory.ModeChosen) bool { return true })
		return e
	}
	s.says(t, s.use(t, s.bo, "hark mode", opt("mode", "search")), notAllowed)
	s.says(t, s.use(t, s.bo, "hark mode"), notAllowed)
	if e := last(); e != (memory.ModeChosen{}) {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.ana, "hark mode"), fmt.Sprintf("In <#%d>, I tell by each question what kind of work it asks for.", here))
	for _, m := range builder.Modes() {
		s.says(t, s.use(t, s.ana, "hark mode", opt("mode", string(m))), fmt.Sprintf("In <#%d>, and in its threads where nothing else is chosen, %s.", here, modeMeans[m]))
		if e := last(); e.Guild != guild || e.Channel != here || e.Mode != string(m) || e.At.IsZero() {
			t.Errorf("logged %+v", e)
		}
	}
	s.says(t, s.use(t, s.ana, "hark mode", opt("mode", "creation"), opt("channel", other.ID)), fmt.Sprintf("In <#%d>", other.ID), "something new")
	if e := last(); e.Channel != memory.ChannelID(other.ID) || e.Mode != "creation" {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.ana, "hark mode"), fmt.Sprintf("In <#%d>, I take every question as one to explain", here),
		fmt.Sprintf("\nChosen as creation: <#%d>.\nChosen as analysis: <#%d>.", other.ID, here))
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &other.ID, Type: discordtest.PublicThread, Name: "more of them"})
	s.discord.Say(thread.ID, s.bo.ID, "hello")
	s.says(t, s.use(t, s.ana, "hark mode", opt("channel", thread.ID)), fmt.Sprintf("In <#%d>, I take every question as a wish for something new", thread.ID))
	s.says(t, s.use(t, s.ana, "hark mode", opt("mode", "automatic"), opt("channel", other.ID)), "I tell by each question")
	if e := last(); e.Channel != memory.ChannelID(other.ID) || e.Mode != "" {
		t.Errorf("logged %+v", e)
	}
	if err := s.log.Apply(t.Context(), memory.ModeChosen{Guild: guild, Channel: here, Mode: "divination"}); err != nil {
		t.Fatal(err)
	}
	m := s.use(t, s.ana, "hark mode")
	s.says(t, m, "I tell by each question what kind of work it asks for.")
	if want := fmt.Sprintf("In <#%d>, %s.", here, modeMeans[""]); m.Content != want {
		t.Errorf("shown %q, want %q", m.Content, want)
	}
}

// What nobody can give who uses Discord's own program does no harm.
func TestModesThatCantBeChosen(t *testing.T) {
	t.Parallel()
	b := &Bot{}
	c := newCommands(b)
	x := func(options ...wireOption) *exchange {
		e := &exchange{}
		e.Data.Options = []wireOption{{Name: "mode", Type: optionSubcommand, Options: options}}
		return e
	}
	if shown, err := c.mode(t.Context(), x(wireOption{Name: "mode", Value: "divination"})); shown.Content != unknownTool || err != nil {
		t.Errorf("an unknown mode: %q, %v", shown.Content, err)
	}
	if _, err := c.mode(t.Context(), x(wireOption{Name: "channel", Value: "here"})); !errors.Is(err, errUnknownChannel) {
		t.Errorf("a channel that is none: %v", err)
	}
}
