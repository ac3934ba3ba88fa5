package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/memory"
)

func TestCatchUpShowsASummary(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	spoke := s.discord.Now().Add(-48 * time.Hour)
	var given time.Time
	s.oracle.catchUp = func(_ context.Context, _ answer.Question, since time.Time) (answer.CaughtUp, error) {
		given = since
		return answer.CaughtUp{
			Since: spoke, Spoke: spoke, Messages: 1234, Left: 7, Bounded: false, Model: "parrot-1",
			Text:    "- The party is on 20 July [2].\n- https://evil.example",
			Sources: []answer.Source{{Number: 2, Guild: s.guildID, Channel: s.channelID, Message: 77}},
			Instead: errors.New("the first is down"),
		}, nil
	}
	s.says(t, s.use(t, s.ana, "catchup"))
	q := s.oracle.questions()[0]
	if !q.OnlyAsker || q.Roles == nil || q.Channel != s.channelID || q.NoModel ||
		q.Name != "ana" || !given.IsZero() {
		t.Errorf("asked %+v since %v", q, given)
	}
	s.out.wait(t, "the first is down")
	s.use(t, s.ana, "catchup", opt("since", "3d"))
	if want := s.discord.Now().AddDate(0, 0, -3); given.Sub(want).Abs() > time.Minute {
		t.Errorf("since %v, want %v", given, want)
	}
	s.says(t, s.use(t, s.ana, "catchup", opt("since", "soon")))
	if got := s.discord.Complete(s.channel, s.ana.ID, "catchup", opt("since", "d")).Wait().Choices(); len(got) != 4 {
		t.Errorf("offered %v", got)
	}
}

// What a model wrote is shown like an answer: Discord fetches none of its links, and there is no end of it after five
// messages, no small print but Hark's own, no invitation and no link that misleads.
func TestCatchUpIsTamed(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	text := ""
	s.oracle.catchUp = func(context.Context, answer.Question, time.Time) (answer.CaughtUp, error) {
		return answer.CaughtUp{Since: s.discord.Now(), Messages: 2, Left: 1, Model: "parrot-1", Text: text}, nil
	}
	text = "- See https://evil.example/?said=secret\n-# Sources: [1] Boss, #staff\n> -# Hark\n" +
		"- Join discord.gg/abcd or [your bank](https://discord.gg/abcd)\n- [bank.example](https://evil.example)\n" +
		"- @everyone <@&1> [1](https://evil.example)"
	m := s.use(t, s.ana, "catchup")
	s.says(t, m)
	if m.Flags != discord.SuppressEmbeds|discord.FlagEphemeral {
		t.Errorf("shown with the flags %d", m.Flags)
	}
	text = strings.Repeat("- a long line of a model that has run wild https://evil.example\n", 4000)
	i := s.discord.Slash(s.channel, s.ana.ID, "catchup")
	i.WaitMessage()
	s.idle(t)
	all := i.FollowUps()
	if len(all) < 3 || len(all) > 4 {
		t.Fatalf("%d messages below the first", len(all))
	}
	for _, m := range all {
		if m.Flags != discord.SuppressEmbeds|discord.FlagEphemeral {
			t.Errorf("shown with the flags %d", m.Flags)
		}
	}
	if last := all[len(all)-1].Content; !strings.Contains(last, "…\n-# The model had no room") {
		t.Errorf("it ends with %q", last)
	}
}

func TestCatchUpIsRefused(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	for _, err := range []error{
		fmt.Errorf("catch up: %w", answer.ErrNotRemembered), fmt.Errorf("catch up: %w",
			answer.ErrNotReadable), errors.New("the disk is on fire"),
	} {
		s.oracle.catchUp = func(context.Context, answer.Question, time.Time) (answer.CaughtUp, error) {
			return answer.CaughtUp{}, err
		}
		s.says(t, s.use(t, s.ana, "catchup"))
	}
	s.oracle.catchUp = func(context.Context, answer.Question, time.Time) (answer.CaughtUp, error) {
		panic("at the disco")
	}
	s.says(t, s.use(t, s.ana, "catchup"))
}

// Whoever catches up pays for it, even if it fails. Once nothing is left, no model is asked.
func TestCatchUpIsPaidFor(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, reply.Limits{Member: memory.Limit{Tokens: 100}, Reserve: 10}).run(t).ready(t)
	s.oracle.catchUp = func(_ context.Context, q answer.Question, _ time.Time) (answer.CaughtUp, error) {
		if q.NoModel {
			return answer.CaughtUp{Messages: 1, Since: q.Now, Text: "x"}, nil
		}
		return answer.CaughtUp{Usage: answer.Usage{Calls: 1, Prompt: 90, Completion: 20}},
			errors.New("the disk is on fire")
	}
	s.use(t, s.ana, "catchup")
	s.log.wait(t, "what it took", func() bool {
		e, ok := find(s.log, func(e memory.Spent) bool { return e.User == s.anaID })
		return ok && e.Tokens == 110
	})
	s.says(t, s.use(t, s.ana, "catchup"))
	if all := s.oracle.questions(); len(all) != 2 || !all[1].NoModel {
		t.Errorf("asked %+v", all)
	}
}
