package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/golden"
	"hark/memory"
)

func TestCatchUpShowsASummary(t *testing.T) {
	t.Parallel()
	s := registeredScene(t)
	spoke := s.discord.Now().Add(-48 * time.Hour)
	var given time.Time
	s.oracle.catchUp = func(_ context.Context, _ answer.Question, since time.Time) (answer.CaughtUp, error) {
		given = since
		return answer.CaughtUp{
			Since: spoke, Spoke: spoke, Messages: 1234, Left: 7, Bounded: false, Model: "parrot-1", Text: "- The party is on 20 July [2].\n- https://evil.example",
			Sources: []answer.Source{{Number: 2, Guild: memory.GuildID(s.guild.ID),
				Channel: memory.ChannelID(s.channel), Message: 77}},
			Instead: errors.New("the first is down"),
		}, nil
	}
	s.says(t, s.use(t, s.ana, "catchup"))
	q := s.oracle.questions()[0]
	if !q.OnlyAsker || q.Roles == nil || q.Channel != memory.ChannelID(s.channel) || q.NoModel ||
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

func TestCatchUpSaysWhatItIs(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	later := at.Add(time.Hour)
	lost := errors.New("the model is down")
	var all []string
	for _, test := range []struct {
		name    string
		got     answer.CaughtUp
		since   time.Time
		noModel bool
	}{
		{"nothing since they wrote", answer.CaughtUp{Since: at, Spoke: at}, time.Time{}, false},
		{"nothing, and they never wrote", answer.CaughtUp{Since: at}, time.Time{}, false},
		{"nothing since a day", answer.CaughtUp{Since: at}, at, false},
		{"nothing since a day, and they wrote", answer.CaughtUp{Since: at, Spoke: later}, at, false},
		{"nothing within a week", answer.CaughtUp{Since: later, Spoke: at, Bounded: true}, time.Time{}, false},
		{"no model", answer.CaughtUp{Since: at, Messages: 1, Text: "x"}, time.Time{}, false},
		{"no tokens", answer.CaughtUp{Since: at, Spoke: at, Messages: 1, Text: "x", Left: 3}, time.Time{}, true},
		{"away", answer.CaughtUp{Since: at, Spoke: later, Messages: 2, Text: "x", Away: lost, Bounded: true},
			at, false},
	} {
		got := showCaughtUp(locale.Locale{}, test.got, test.since, test.noModel)
		if len(got.More) > 0 {
			t.Errorf("%s: more than a page", test.name)
		}
		all = append(all, "== "+test.name+"\n"+got.Content)
	}
	golden.Seen(t, strings.Join(all, "\n"))
	long := showCaughtUp(locale.Locale{},
		answer.CaughtUp{Since: at, Messages: 9, Text: strings.Repeat("> many words\n", 400)}, at, false)
	for _, page := range append(long.More, long.Content) {
		if markdown.Units(page) > markdown.MessageLimit {
			t.Errorf("a page has %d units", markdown.Units(page))
		}
	}
	if len(long.More) == 0 {
		t.Error("there is one page")
	}
}

func TestCatchUpIsRefused(t *testing.T) {
	t.Parallel()
	s := registeredScene(t)
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

// What catching up takes of the model is counted for whoever asks, also where it fails, and where nothing is
// left the model isn't asked.
func TestCatchUpIsPaidFor(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, reply.Limits{Member: memory.Limit{Tokens: 100}, Reserve: 10}).run(t).ready(t)
	s.waitRegistered()
	s.oracle.catchUp = func(_ context.Context, q answer.Question, _ time.Time) (answer.CaughtUp, error) {
		if q.NoModel {
			return answer.CaughtUp{Messages: 1, Since: q.Now, Text: "x"}, nil
		}
		return answer.CaughtUp{Usage: answer.Usage{Calls: 1, Prompt: 90, Completion: 20}},
			errors.New("the disk is on fire")
	}
	s.use(t, s.ana, "catchup")
	s.log.wait(t, "what it took", func() bool {
		e, ok := find(s.log, func(e memory.Spent) bool { return e.User == memory.UserID(s.ana.ID) })
		return ok && e.Tokens == 110
	})
	s.says(t, s.use(t, s.ana, "catchup"))
	if all := s.oracle.questions(); len(all) != 2 || !all[1].NoModel {
		t.Errorf("asked %+v", all)
	}
}

// Days are read in the language of whoever asks, and named in it.
func TestDaysInTheLanguageOfWhoeverAsks(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "fr", "es", "ja", "zh-TW"} {
		l := locale.Of(language)
		given := (&exchange{Locale: l, server: &memory.Guild{},
			Interaction: typing("since", strings.ToUpper(l.Text("yesterday")))})
		o := ingest.Options{Now: func() time.Time { return time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC) },
			Filter: ingest.NewFilter(newNotebook(t), memory.Policy{}, nil, nil)}
		c := commands{commandOptions: offline(o, answer.Choices{})}
		if from, _, err := c.span(given, "since"); err != nil || from.Day() != 2 {
			t.Errorf("%s: yesterday is %v, %v", language, from, err)
		}
		bad := &exchange{Locale: l, server: &memory.Guild{}, Interaction: typing("since", "soon")}
		if _, _, err := c.span(bad, "since"); err == nil ||
			!strings.Contains(err.Error(), "`"+l.Text("today")+"`") ||
			!strings.Contains(err.Error(), "`"+l.Text("yesterday")+"`") {
			t.Errorf("%s: %v", language, err)
		}
	}
}

// typing is a use of a command with one option.
func typing(name, value string) (i discord.Interaction) {
	i.Data.Options = []discord.Option{{Name: name, Value: value}}
	return i
}
