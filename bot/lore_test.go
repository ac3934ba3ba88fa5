package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// loreful is a remembering scene whose oracle tells all lore that was told, but for hidden names.
func loreful(t *testing.T, hidden ...string) *scene {
	t.Helper()
	s := remembering(t)
	s.oracle.lore = func(_ context.Context, q answer.Question) ([]memory.Lore, error) {
		if !q.OnlyAsker || q.Asker == 0 || q.Roles == nil || q.Settled == nil || q.Guild != memory.GuildID(s.guild.ID) || q.Channel != memory.ChannelID(s.channel) {
			t.Errorf("the lore is asked for %+v", q)
		}
		return slices.DeleteFunc(s.log.lore(), func(l memory.Lore) bool { return slices.Contains(hidden, l.Name) }), nil
	}
	return s
}

// lore is what was told and not taken back, in the order in which it was.
func (n *notebook) lore() []memory.Lore {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []memory.Lore
	for _, e := range n.events {
		switch e := e.(type) {
		case memory.LoreTold:
			all = slices.DeleteFunc(all, func(l memory.Lore) bool { return l.ID == e.Lore.ID })
			all = append(all, e.Lore)
		case memory.LoreGone:
			all = slices.DeleteFunc(all, func(l memory.Lore) bool { return l.ID == e.ID })
		}
	}
	return all
}

func TestLoreIsToldChangedAndTakenBack(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	said := s.discord.Say(s.channel, s.bo.ID, "Project X is due on Friday")
	s.log.waitSaid(t, "them: Project X is due on Friday")
	s.says(t, s.use(t, s.bo, "lore list"), loreNone)
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", s.guild.ID, s.channel, said.ID)
	s.says(t, s.use(t, s.bo, "lore add", opt("name", "Project X"), opt("text", "due on *Friday*\n@everyone"), opt("aliases", "website, the site,,"), opt("from", link)),
		"Noted.", "**Project X**\n> due on \\*Friday\\*\n> \\@everyone\nAlso: website, the site\nFound by: x project, the x project, project-x, projectx, PX\n-# told by "+s.bo.Mention(),
		fmt.Sprintf(", in <#%d>\n-# from [this message](<%s>) in <#%[1]d>", s.channel, link))
	all := s.log.lore()
	if len(all) != 1 {
		t.Fatalf("there is %+v", all)
	}
	l := all[0]
	if l.Guild != memory.GuildID(s.guild.ID) || l.Channel != memory.ChannelID(s.channel) || l.By != memory.UserID(s.bo.ID) || l.At.IsZero() || l.ID == 0 ||
		!slices.Equal(l.Own, []string{"website", "the site"}) || !slices.Equal(l.Sources, []memory.Spot{{Channel: memory.ChannelID(s.channel), Message: memory.MessageID(said.ID)}}) {
		t.Errorf("kept %+v", l)
	}
	s.says(t, s.use(t, s.bo, "lore list"), "- **Project X**: due on \\*Friday\\* \\@everyone (told by "+s.bo.Mention())
	cy := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"})
	for _, name := range []string{"project x", "WEBSITE", "px", "the x project", fmt.Sprint(l.ID)} {
		s.says(t, s.use(t, cy, "lore show", opt("name", name)), "**Project X**")
	}
	s.says(t, s.use(t, cy, "lore show", opt("name", "project y")), loreUnknown)
	s.says(t, s.use(t, cy, "lore edit", opt("name", "website"), opt("text", "mine")), loreNotYours)
	s.says(t, s.use(t, cy, "lore remove", opt("name", "website")), loreNotYours)

	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "px"), opt("new-name", "Project Y"), opt("text", "done")), "Changed.", "**Project Y**\n> done\nAlso: website, the site")
	s.says(t, s.use(t, s.ana, "lore edit", opt("name", "website"), opt("aliases", "page")), "Changed.", "Also: page\n") // who manages the server
	edited := s.log.lore()[0]
	if edited.ID != l.ID || edited.By != l.By || edited.Channel != l.Channel || len(edited.Sources) != 1 || edited.Text != "done" || !edited.At.After(l.At) || !slices.Equal(edited.Own, []string{"page"}) {
		t.Errorf("changed to %+v", edited)
	}

	asked := s.use(t, s.bo, "lore remove", opt("name", "page"))
	s.says(t, asked, "**Forget this?**", "> **Project Y**: done")
	if len(s.log.lore()) != 1 {
		t.Fatal("it went before anybody confirmed")
	}
	i := s.discord.Click(asked.Message, s.bo.ID, fmt.Sprintf("%s:%d", confirmLoreOff, l.ID))
	s.discord.WaitFor("the end of it", func() bool { return strings.HasPrefix(i.WaitMessage().Content, "Forgotten.") })
	if e, ok := find(s.log, func(memory.LoreGone) bool { return true }); !ok || e.ID != l.ID || e.Guild != l.Guild {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", "page")), loreUnknown)
}

func TestLoreIsToldAndChangedInForms(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	said := s.discord.Say(s.channel, s.bo.ID, "it is so")
	s.log.waitSaid(t, "them: it is so")
	i := s.discord.Slash(s.channel, s.bo.ID, "lore add", opt("name", "Orchard"), opt("from", fmt.Sprint(int64(said.ID))))
	if got := i.Wait().Form(); got["name"] != "Orchard" || got["text"] != "" || got["aliases"] != "" || len(got) != 3 {
		t.Errorf("the form holds %q", got)
	}
	m := i.Submit(map[string]string{"name": "The orchard", "text": "apples\nand pears", "aliases": "garden"}).WaitMessage()
	s.says(t, m, "Noted.", "**The orchard**\n> apples\n> and pears\nAlso: garden", "from [this message]")
	if m.Flags&discordtest.Ephemeral == 0 {
		t.Error("everybody sees it")
	}
	i = s.discord.Slash(s.channel, s.bo.ID, "lore edit", opt("name", "garden"))
	if got := i.Wait().Form(); got["name"] != "The orchard" || got["text"] != "apples\nand pears" || got["aliases"] != "garden" {
		t.Errorf("the form holds %q", got)
	}
	s.says(t, i.Submit(map[string]string{"name": "The orchard", "text": "pears", "aliases": ""}).WaitMessage(), "Changed.", "> pears\n")
	l := s.log.lore()[0]
	if l.Text != "pears" || len(l.Own) != 0 || len(l.Sources) != 1 || l.By != memory.UserID(s.bo.ID) {
		t.Errorf("changed to %+v", l)
	}
	for _, form := range []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"}).ID, "lore edit", opt("name", "the orchard")),
		s.discord.Slash(s.channel, s.bo.ID, "lore edit", opt("name", "the barn")),
		s.discord.Slash(s.channel, s.bo.ID, "lore add", opt("from", "https://discord.com/channels/1/2/3")),
	} {
		if r := form.Wait(); r.Type != 4 || !r.Ephemeral {
			t.Errorf("answered with %+v", r)
		}
	}
	// What went while the form was filled in is gone.
	i = s.discord.Slash(s.channel, s.bo.ID, "lore edit", opt("name", "the orchard"))
	i.Wait()
	if err := s.log.Apply(t.Context(), memory.LoreGone{Guild: l.Guild, ID: l.ID}); err != nil {
		t.Fatal(err)
	}
	s.says(t, i.Submit(map[string]string{"name": "The orchard", "text": "again"}).WaitMessage(), loreUnknown)
	if all := s.log.lore(); len(all) != 0 {
		t.Errorf("it came back: %+v", all)
	}
}

func TestLoreThatCantBeTold(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Hidden")
	tell := func(options ...discordtest.Opt) discordtest.Sent { return s.use(t, s.bo, "lore add", options...) }
	name, text := opt("name", "Orchard"), opt("text", "apples")
	s.says(t, tell(opt("name", "?!"), text), "I can't keep that: lore needs a name with at least one letter or digit.")
	s.says(t, tell(name, text, opt("from", "there")), loreFrom)
	s.says(t, tell(name, text, opt("from", "https://discord.com/channels/1/2/3")), loreFrom)
	s.says(t, tell(name, text, opt("from", "17")), loreNoSource)
	secret := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "secret", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel), discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0)}})
	if err := s.log.Apply(t.Context(), memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(secret.ID), Choice: memory.Remember}); err != nil {
		t.Fatal(err)
	}
	said := s.discord.Say(secret.ID, s.guild.Owner.ID, "the code is 1234")
	s.log.waitSaid(t, "them: the code is 1234")
	s.says(t, tell(name, text, opt("from", fmt.Sprintf("https://discord.com/channels/%d/%d/%d", s.guild.ID, secret.ID, said.ID))), loreNoSource)
	if all := s.log.lore(); len(all) != 0 {
		t.Fatalf("kept %+v", all)
	}
	s.says(t, tell(name, text), "Noted.")
	s.says(t, tell(opt("name", "orchard"), text), loreTaken)
	s.says(t, tell(opt("name", "Hidden"), text), loreNotKept) // as if it couldn't be told even to whoever told it
	// Of what may not be read nobody is told that its name is taken.
	if all := s.log.lore(); len(all) != 2 {
		t.Errorf("kept %+v", all)
	}

	quiet := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "quiet", Overwrites: []discordtest.Overwrite{discordtest.ForRole(s.guild.ID, 0, discordtest.SendMessages)}})
	s.discord.Say(quiet.ID, s.guild.Owner.ID, "hush")
	s.log.waitSaid(t, "them: hush")
	m := s.discord.Slash(quiet.ID, s.bo.ID, "lore add", name, text).WaitMessage()
	s.says(t, m, loreSilent) // but in threads
	if err := s.log.Apply(t.Context(), memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Choice: memory.Ignore}); err != nil {
		t.Fatal(err)
	}
	s.says(t, tell(opt("name", "Barn"), text), nothingKeptHere)
	if err := s.log.Apply(t.Context(), memory.Opted{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), Out: true, At: s.discord.Now()}); err != nil {
		t.Fatal(err)
	}
	s.says(t, tell(opt("name", "Barn"), text), youAreOut)
}

func TestLoreOfTheSameAlias(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	for _, name := range []string{"Barn", "Orchard"} {
		s.says(t, s.use(t, s.bo, "lore add", opt("name", name), opt("text", "it is "+name), opt("aliases", "place")), "Noted.")
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", "place")), loreSeveral)
	r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "orc")).Wait()
	if got := r.Choices(); len(got) != 1 || got["Orchard"] != fmt.Sprint(s.log.lore()[1].ID) {
		t.Errorf("offered %v", got)
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", r.Choices()["Orchard"])), "> it is Orchard")
	cy := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"})
	if got := s.discord.Complete(s.channel, cy.ID, "lore edit", opt("name", "")).Wait().Choices(); len(got) != 0 {
		t.Errorf("somebody else may change %v", got)
	}
	if got := s.discord.Complete(s.channel, cy.ID, "lore show", opt("name", "")).Wait().Choices(); len(got) != 2 {
		t.Errorf("somebody else is offered %v", got)
	}
}

func TestLoreThatCantBeReadNow(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	s.says(t, s.use(t, s.bo, "lore add", opt("name", "Barn"), opt("text", "red")), "Noted.")
	tells := s.oracle.lore
	for name, fails := range map[string]func(context.Context, answer.Question) ([]memory.Lore, error){
		"an error": func(context.Context, answer.Question) ([]memory.Lore, error) { return nil, errDown },
		"a panic":  func(context.Context, answer.Question) ([]memory.Lore, error) { panic(errors.New("at the disco")) },
	} {
		s.oracle.lore = fails
		if r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "")).Wait(); r.Type != 8 || len(r.Choices()) != 0 {
			t.Errorf("%s: offered %+v", name, r)
		}
		for _, m := range []discordtest.Sent{
			s.use(t, s.bo, "lore list"), s.use(t, s.bo, "lore show", opt("name", "barn")), s.use(t, s.bo, "lore edit", opt("name", "barn"), opt("text", "blue")),
			s.use(t, s.bo, "lore remove", opt("name", "barn")), s.use(t, s.bo, "lore edit", opt("name", "barn")), s.use(t, s.bo, "lore add", opt("name", "Orchard"), opt("text", "x")),
		} {
			if !strings.HasPrefix(m.Content, "Something went wrong") {
				t.Errorf("%s: %q", name, m.Content)
			}
		}
	}
	s.oracle.lore = tells
	s.log.fail(errDown)
	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "barn"), opt("text", "blue")), "Something went wrong")
	s.log.fail(nil)
}

// Discord waits three seconds for a form, or for what is offered while somebody types.
func TestFormsAreThereInTimeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.bot.timing.atOnce = 0
	s.oracle.lore = func(ctx context.Context, _ answer.Question) ([]memory.Lore, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.run(t).ready(t)
	s.waitRegistered()
	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "barn")), tooLong)
	if r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "")).Wait(); len(r.Choices()) != 0 {
		t.Errorf("offered %+v", r)
	}
}

func TestLoreIsListedOverSeveralMessages(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	var told []memory.Event
	for n := range listedLore + 2 {
		told = append(told, memory.LoreTold{Lore: memory.Lore{ID: int64(n + 1), Guild: memory.GuildID(s.guild.ID), Name: fmt.Sprintf("Place %d", n), Text: strings.Repeat("*long* ", 40), At: s.discord.Now()}})
	}
	if err := s.log.Apply(t.Context(), told...); err != nil {
		t.Fatal(err)
	}
	i := s.discord.Slash(s.channel, s.bo.ID, "lore list")
	first := i.WaitMessage()
	all := ""
	s.discord.WaitFor("all pages", func() bool {
		all = first.Content
		for _, m := range i.FollowUps() {
			all += "\n" + m.Content
		}
		return strings.Contains(all, "-# and 2 more, which `/lore show` finds by their names")
	})
	if n := strings.Count(all, "- **Place "); n != listedLore || !strings.Contains(all, "told by those who run me") {
		t.Errorf("%d are listed", n)
	}
}
