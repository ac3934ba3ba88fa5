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
	"hark/internal/golden"
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
	said := s.posts(t, s.channel, s.bo.ID, "Project X is due on Friday")
	s.says(t, s.use(t, s.bo, "lore list"))
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", s.guild.ID, s.channel, said.ID)
	s.says(t, s.use(t, s.bo, "lore add", opt("name", "Project X"), opt("text", "due on *Friday*\n@everyone"), opt("aliases", "website, the site,,"), opt("from", link)))
	all := s.log.lore()
	if len(all) != 1 {
		t.Fatalf("there is %+v", all)
	}
	l := all[0]
	if l.Guild != memory.GuildID(s.guild.ID) || l.Channel != memory.ChannelID(s.channel) || l.By != memory.UserID(s.bo.ID) || l.At.IsZero() || l.ID == 0 ||
		!slices.Equal(l.Own, []string{"website", "the site"}) || !slices.Equal(l.Sources, []memory.Spot{{Channel: memory.ChannelID(s.channel), Message: memory.MessageID(said.ID)}}) {
		t.Errorf("kept %+v", l)
	}
	s.says(t, s.use(t, s.bo, "lore list"))
	cy := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"})
	for _, name := range []string{"project x", "WEBSITE", "px", "the x project", fmt.Sprint(l.ID)} {
		s.says(t, s.use(t, cy, "lore show", opt("name", name)))
	}
	s.says(t, s.use(t, cy, "lore show", opt("name", "project y")))
	s.says(t, s.use(t, cy, "lore edit", opt("name", "website"), opt("text", "mine")))
	s.says(t, s.use(t, cy, "lore remove", opt("name", "website")))

	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "px"), opt("new-name", "Project Y"), opt("text", "done")))
	s.says(t, s.use(t, s.ana, "lore edit", opt("name", "website"), opt("aliases", "page"))) // who manages the server
	edited := s.log.lore()[0]
	if edited.ID != l.ID || edited.By != l.By || edited.Channel != l.Channel || len(edited.Sources) != 1 || edited.Text != "done" || !edited.At.After(l.At) || !slices.Equal(edited.Own, []string{"page"}) {
		t.Errorf("changed to %+v", edited)
	}

	asked := s.use(t, s.bo, "lore remove", opt("name", "page"))
	s.says(t, asked)
	if len(s.log.lore()) != 1 {
		t.Fatal("it went before anybody confirmed")
	}
	i := s.discord.Click(asked.Message, s.bo.ID, fmt.Sprintf("%s:%d", confirmLoreOff, l.ID))
	s.turns(t, i)
	if e, ok := find(s.log, func(memory.LoreGone) bool { return true }); !ok || e.ID != l.ID || e.Guild != l.Guild {
		t.Errorf("logged %+v", e)
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", "page")))
}

func TestLoreIsToldAndChangedInForms(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	said := s.posts(t, s.channel, s.bo.ID, "it is so")
	i := s.discord.Slash(s.channel, s.bo.ID, "lore add", opt("name", "Orchard"), opt("from", fmt.Sprint(int64(said.ID))))
	if got := i.Wait().Form(); got["name"] != "Orchard" || got["text"] != "" || got["aliases"] != "" || len(got) != 3 {
		t.Errorf("the form holds %q", got)
	}
	m := i.Submit(map[string]string{"name": "The orchard", "text": "apples\nand pears", "aliases": "garden"}).WaitMessage()
	s.says(t, m)
	i = s.discord.Slash(s.channel, s.bo.ID, "lore edit", opt("name", "garden"))
	if got := i.Wait().Form(); got["name"] != "The orchard" || got["text"] != "apples\nand pears" || got["aliases"] != "garden" {
		t.Errorf("the form holds %q", got)
	}
	s.says(t, i.Submit(map[string]string{"name": "The orchard", "text": "pears", "aliases": ""}).WaitMessage())
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
	s.apply(t, memory.LoreGone{Guild: l.Guild, ID: l.ID})
	s.says(t, i.Submit(map[string]string{"name": "The orchard", "text": "again"}).WaitMessage())
	if all := s.log.lore(); len(all) != 0 {
		t.Errorf("it came back: %+v", all)
	}
}

func TestLoreThatCantBeTold(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Hidden")
	tell := func(options ...discordtest.Opt) discordtest.Sent { return s.use(t, s.bo, "lore add", options...) }
	name, text := opt("name", "Orchard"), opt("text", "apples")
	s.says(t, tell(opt("name", "?!"), text))
	s.says(t, tell(name, text, opt("from", "there")))
	s.says(t, tell(name, text, opt("from", "https://discord.com/channels/1/2/3")))
	s.says(t, tell(name, text, opt("from", "17")))
	secret := s.secret("secret")
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(secret.ID), Choice: memory.Remember})
	said := s.posts(t, secret.ID, s.guild.Owner.ID, "the code is 1234")
	s.says(t, tell(name, text, opt("from", fmt.Sprintf("https://discord.com/channels/%d/%d/%d", s.guild.ID, secret.ID, said.ID))))
	if all := s.log.lore(); len(all) != 0 {
		t.Fatalf("kept %+v", all)
	}
	s.says(t, tell(name, text))
	s.says(t, tell(opt("name", "orchard"), text))
	s.says(t, tell(opt("name", "Hidden"), text)) // as if it couldn't be told even to whoever told it
	// Of what may not be read nobody is told that its name is taken.
	if all := s.log.lore(); len(all) != 2 {
		t.Errorf("kept %+v", all)
	}

	quiet := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "quiet", Overwrites: []discordtest.Overwrite{discordtest.ForRole(s.guild.ID, 0, discordtest.SendMessages)}})
	s.posts(t, quiet.ID, s.guild.Owner.ID, "hush")
	m := s.discord.Slash(quiet.ID, s.bo.ID, "lore add", name, text).WaitMessage()
	s.says(t, m) // but in threads
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Choice: memory.Ignore})
	s.says(t, tell(opt("name", "Barn"), text))
	s.apply(t, memory.Opted{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), Out: true, At: s.discord.Now()})
	s.says(t, tell(opt("name", "Barn"), text))
}

func TestLoreOfTheSameAlias(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	for _, name := range []string{"Barn", "Orchard"} {
		s.says(t, s.use(t, s.bo, "lore add", opt("name", name), opt("text", "it is "+name), opt("aliases", "place")))
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", "place")))
	r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "orc")).Wait()
	if got := r.Choices(); len(got) != 1 || got["Orchard"] != fmt.Sprint(s.log.lore()[1].ID) {
		t.Errorf("offered %v", got)
	}
	s.says(t, s.use(t, s.bo, "lore show", opt("name", r.Choices()["Orchard"])))
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
	for name, fails := range map[string]func(context.Context, answer.Question) ([]memory.Lore, error){
		"an error": func(context.Context, answer.Question) ([]memory.Lore, error) { return nil, errDown },
		"a panic":  func(context.Context, answer.Question) ([]memory.Lore, error) { panic(errors.New("at the disco")) },
	} {
		s.oracle.lore = fails
		if r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "")).Wait(); r.Type != 8 || len(r.Choices()) != 0 {
			t.Errorf("%s: offered %+v", name, r)
		}
		if m := s.use(t, s.bo, "lore edit", opt("name", "barn")); s.reads(m.Content) == m.Content { // which a failure's code would change
			t.Errorf("%s: %q", name, m.Content)
		}
	}
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
	s.says(t, s.use(t, s.bo, "lore edit", opt("name", "barn")))
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
	s.apply(t, told...)
	i := s.discord.Slash(s.channel, s.bo.ID, "lore list")
	all := s.pages(t, i)
	golden.Seen(t, all[strings.LastIndex(all, "\n- "):])
	if n := strings.Count(all, "- **Place "); n != listedLore {
		t.Errorf("%d are listed", n)
	}
}
