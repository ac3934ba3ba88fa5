package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// proposes has answers propose lore.
func (s *scene) proposes(all ...memory.Lore) {
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		a := answer.Answer{Text: "Noted", Trace: traceOf(q)}
		for _, l := range all {
			a.Proposals = append(a.Proposals, answer.Proposal{Lore: l})
		}
		return a, nil
	}
}

func (s *scene) plan(source discordtest.Message) memory.Lore {
	return memory.Lore{Name: "Migration *plan*", Text: "We move on Friday,\nby night.",
		Own: []string{"the move", "plan A, B"},
		Sources: []memory.MessageRef{{Channel: memory.ChannelID(source.ChannelID),
			Message: memory.MessageID(source.ID)}}}
}

// lore is all lore, in order.
func (s *scene) lore() (all []memory.Lore) {
	for _, e := range eventsOf[memory.LoreTold](s.log) {
		all = append(all, e.Lore)
	}
	return all
}

// proposal is the message that asks whether to remember.
func (s *scene) proposal() discordtest.Sent {
	return s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return strings.HasPrefix(m.Content, shallI) && !m.Deleted
	})
}

func TestLoreIsRememberedWhenTheAskerAgrees(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		s := remembering(t)
		source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
		s.proposes(s.plan(source))
		s.ask("remember the plan")
		trace := s.traces(t, 1)[0]
		m := s.proposal()
		if len(s.lore()) != 0 || !slices.Contains(trace.Parts, memory.MessageID(m.ID)) {
			t.Errorf("before anybody agrees: lore %+v, trace %+v", s.lore(), trace)
		}
		if !slices.Contains(trace.IDsOf(memory.SourceMessage), int64(source.ID)) {
			t.Errorf("the answer doesn't go with what the proposal is from: %+v", trace.Sources)
		}
		if strings.Contains(fmt.Sprint(s.log.said()), "Migration") {
			t.Errorf("logged %q", s.log.said())
		}
		if m.Flags != discord.SuppressEmbeds || len(m.Pinged) > 0 || s.buttonsBelow(m.Message) != "forgo, remember" {
			t.Errorf("shown %+v with %q", m.Message, s.buttonsBelow(m.Message))
		}
		if restart {
			s.again(t)
		}
		other := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "otto"})
		if got := whispered(t, s, s.press(m.Message, other, reply.ButtonRemember)); !strings.HasPrefix(got, "Only") {
			t.Errorf("told %q", got)
		}
		id := s.buttonsOf(m.Message)[reply.ButtonRemember]
		one, two := s.discord.Click(m.Message, s.ana.ID, id), s.discord.Click(m.Message, s.ana.ID, id)
		one.Wait()
		two.Wait()
		s.shows(m.Message, `Remembered: Migration \*plan\*`)
		if got := s.buttonsBelow(m.Message); got != "" {
			t.Errorf("it still has %q", got)
		}
		s.stops(t) // so that both presses are done with
		all := s.lore()
		if len(all) != 1 {
			t.Fatalf("told %d times", len(all))
		}
		want := s.plan(source)
		if l := all[0]; l.Name != want.Name || l.Text != want.Text || !slices.Equal(l.Own, want.Own) ||
			!slices.Equal(l.Sources, want.Sources) ||
			l.By != s.anaID || l.Channel != s.channelID ||
			l.Guild != s.guildID || l.ID != int64(m.ID) || l.At.IsZero() {
			t.Errorf("told %+v", l)
		}
		if kept := s.traces(t, 2)[1]; !slices.Contains(kept.Sources, all[0].AsSource(true)) {
			t.Errorf("the answer's trace is %+v", kept)
		}
	}
}

func TestLoreThatNobodyWants(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
	s.proposes(s.plan(source), memory.Lore{Name: "?", Text: "no name"},
		memory.Lore{Name: "Dinner", Text: "at eight", Sources: []memory.MessageRef{{Channel: 5, Message: 6}}})
	s.ask("remember the plan")
	s.traces(t, 1)
	m := s.proposal()
	s.press(m.Message, s.ana, reply.ButtonForgo).Wait()
	s.isGone(t, m.Message)
	if n := len(s.discord.Sent(s.channel)); n != 2 || len(s.lore()) != 0 {
		t.Errorf("%d messages, lore %+v", n, s.lore())
	}
}

func TestLoreThatCantBeKept(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(s *scene, source discordtest.Message){
		"its source is deleted": func(s *scene, source discordtest.Message) {
			s.discord.Delete(s.channel, source.ID)
		},
		"its source is edited": func(s *scene, source discordtest.Message) {
			s.discord.Edit(s.channel, source.ID, "we move on Saturday")
		},
		"nothing is remembered": func(s *scene, _ discordtest.Message) {
			_ = s.log.Apply(context.Background(), memory.Chose{Guild: s.guildID, Choice: memory.Ignore})
		},
		"the asker opted out": func(s *scene, _ discordtest.Message) {
			_ = s.log.Apply(context.Background(), memory.Opted{Guild: s.guildID, User: s.anaID, Out: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remembering(t)
			source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
			s.proposes(s.plan(source))
			s.ask("remember the plan")
			s.traces(t, 1)
			m := s.proposal()
			s.discord.Advance(1e9)
			happens(s, source)
			s.hears(t, s.press(m.Message, s.ana, reply.ButtonRemember))
			if len(s.lore()) != 0 {
				t.Errorf("told %+v", s.lore())
			}
		})
	}
}

func TestNothingIsProposedWhereNothingIsRemembered(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	s.proposes(memory.Lore{Name: "Dinner", Text: "at eight"})
	s.ask("remember dinner")
	s.waitText("Noted")
	s.out.wait(t, `"answered"`)
	if n := len(s.discord.Sent(s.channel)); n != 2 {
		t.Errorf("%d messages, want the notice and the answer", n)
	}
}

// A proposal goes when its answer is asked again or deleted.
func TestProposalsGoWithTheirAnswer(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.proposes(memory.Lore{Name: "Dinner", Text: "at eight"})
	s.ask("remember dinner")
	s.traces(t, 1)
	old, answered := s.proposal(), s.discord.Sent(s.channel)[0]
	s.again(t)
	s.press(answered.Message, s.ana, reply.ButtonAgain).Wait()
	s.isGone(t, old.Message)
	s.traces(t, 2)
	fresh := s.proposal()
	s.press(answered.Message, s.ana, reply.ButtonDelete).Wait()
	s.isGone(t, answered.Message, fresh.Message)
}

// overStore runs a bot that catches up and takes answers back at once.
func (s *scene) overStore(t *testing.T) *notebook {
	t.Helper()
	cfg := Config{Token: s.discord.Token, CatchUp: month, Reconcile: true, EditAnswers: true}
	timing := s.bot.timing
	s.with(t, cfg)
	s.bot.timing = timing
	s.bot.timing.interval = time.Millisecond
	s.run(t).ready(t)
	return s.log
}

// Lore from a proposal goes with its sources, and with it its messages in Discord; also when it is removed itself.
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
			lore, err := store.Lore(t.Context(), s.guildID)
			if err != nil || len(lore) != 1 || lore[0].By != s.anaID {
				t.Fatalf("kept %+v, %v", lore, err)
			}
			if err := forget(s, store, source, lore[0]); err != nil {
				t.Fatal(err)
			}
			s.discord.WaitFor("the message to go", func() bool { return s.now(m.Message).Deleted })
			s.shows(s.discord.Sent(s.channel)[0].Message, withdrawnText)
			if lore, err := store.Lore(t.Context(), s.guildID); err != nil || len(lore) != 0 {
				t.Errorf("kept %+v, %v", lore, err)
			}
		})
	}
}
