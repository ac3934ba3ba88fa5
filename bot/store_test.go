package bot

import (
	"context"
	"testing"
	"time"

	"hark/bot/reply"
	"hark/internal/discordtest"
	"hark/memory"
)

// overStore gives the scene a bot that looks at once after what is forgotten, and runs it.
func (s *scene) overStore(t *testing.T) *notebook {
	t.Helper()
	cfg := Config{Token: s.discord.Token, CatchUp: month, Reconcile: true, EditAnswers: true}
	timing := s.bot.timing
	s.with(t, cfg)
	s.bot.timing = timing
	s.bot.timing.interval = time.Millisecond
	s.run(t)
	s.discord.WaitReady()
	return s.log
}

// Lore that was proposed below an answer goes with what it is from, and takes back in Discord all that tells
// of it; so it is when it is removed itself.
func TestRememberedLoreIsForgotten(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(s *scene, store *notebook, source discordtest.Message,
		l memory.Lore) error{
		"its source is deleted": func(s *scene, _ *notebook, source discordtest.Message, _ memory.Lore) error {
			s.discord.Delete(s.channel, source.ID)
			return nil
		},
		"who told it is forgotten": func(s *scene, store *notebook, _ discordtest.Message, l memory.Lore) error {
			_, err := store.Forget(context.Background(), memory.Forgetting{Guild: l.Guild, User: l.By,
				Why: memory.WhyMember, At: l.At.Add(time.Hour)}, nil)
			return err
		},
		"it is removed": func(_ *scene, store *notebook, _ discordtest.Message, l memory.Lore) error {
			return store.Apply(context.Background(), memory.LoreGone{Guild: l.Guild, ID: l.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			store := s.overStore(t)
			source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
			s.proposes(s.plan(source))
			s.ask("remember the plan")
			m := s.proposal()
			s.out.wait(t, `"answered"`)
			s.press(m.Message, s.ana, reply.ButtonRemember).Wait()
			s.shows(m.Message, `Remembered: Migration \*plan\*`)
			lore, err := store.Lore(t.Context(), memory.GuildID(s.guild.ID))
			if err != nil || len(lore) != 1 || lore[0].By != memory.UserID(s.ana.ID) {
				t.Fatalf("kept %+v, %v", lore, err)
			}
			if err := forget(s, store, source, lore[0]); err != nil {
				t.Fatal(err)
			}
			s.discord.WaitFor("the message to go", func() bool { return s.now(m.Message).Deleted })
			s.shows(s.discord.Sent(s.channel)[0].Message, withdrawnText)
			if lore, err := store.Lore(t.Context(), memory.GuildID(s.guild.ID)); err != nil || len(lore) != 0 {
				t.Errorf("kept %+v, %v", lore, err)
			}
		})
	}
}
