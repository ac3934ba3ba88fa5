package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// loreful is a remembering scene whose oracle tells all lore except hidden names.
func loreful(t *testing.T, hidden ...string) *scene {
	t.Helper()
	s := remembering(t)
	s.oracle.lore = func(_ context.Context, q answer.Question) ([]memory.Lore, error) {
		if !q.OnlyAsker || q.Asker == 0 || q.Roles == nil || q.WaitReady == nil ||
			q.Guild != s.guildID || q.Channel != s.channelID {
			t.Errorf("the lore is asked for %+v", q)
		}
		all, err := s.log.Store.Lore(context.Background(), q.Guild)
		return slices.DeleteFunc(slices.Clone(all), func(l memory.Lore) bool {
			return slices.Contains(hidden, l.Name)
		}), err
	}
	return s
}

// Nobody is told that hidden lore has the name.
func TestTheNameOfHiddenLoreIsFree(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Hidden")
	for range 2 {
		s.says(t, s.use(t, s.bo, "lore add", opt("name", "Hidden"), opt("text", "apples")))
	}
	if all := s.lore(); len(all) != 2 {
		t.Errorf("kept %+v", all)
	}
	quiet := s.addChannel("quiet", discordtest.ForRole(s.guild.ID, 0, discordtest.SendMessages))
	s.posts(t, quiet.ID, s.guild.Owner.ID, "hush")
	s.says(t, s.discord.Slash(quiet.ID, s.bo.ID, "lore add", opt("name", "Orchard"),
		opt("text", "apples")).WaitMessage())
}

// After a panic there is nothing to choose from, and a form's place is taken by a failure with its code.
func TestFormsSurviveAPanic(t *testing.T) {
	t.Parallel()
	s := loreful(t)
	s.oracle.lore = func(context.Context, answer.Question) ([]memory.Lore, error) { panic("at the disco") }
	if r := s.discord.Complete(s.channel, s.bo.ID, "lore show", opt("name", "")).Wait(); r.Type != 8 ||
		len(r.Choices()) != 0 {
		t.Errorf("offered %+v", r)
	}
	if m := s.use(t, s.bo, "lore edit", opt("name", "barn")); s.reads(m.Content) == m.Content {
		t.Errorf("told %q", m.Content)
	}
}

// Discord waits three seconds for a form, or for what is offered while somebody types.
func TestFormsAreThereInTimeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.bot.timing.commands.AtOnce = 0
	s.oracle.lore = func(ctx context.Context, _ answer.Question) ([]memory.Lore, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.run(t).ready(t)
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
		told = append(told, memory.LoreTold{Lore: memory.Lore{ID: int64(n + 1),
			Guild: s.guildID, Name: fmt.Sprintf("Place %d",
				n), Text: strings.Repeat("*long* ", 40), At: s.discord.Now()}})
	}
	s.apply(t, told...)
	i := s.discord.Slash(s.channel, s.bo.ID, "lore list")
	all := s.pages(t, i)
	golden.Seen(t, all[strings.LastIndex(all, "\n- "):])
	if n := strings.Count(all, "- **Place "); n != listedLore {
		t.Errorf("%d are listed", n)
	}
}
