package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/builder"
	"hark/internal/answer"
	"hark/internal/cli"
	"hark/internal/dates"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

func (t *Talk) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why",
		Short: "Show how my last answer here was made: what was recalled and dropped, and what it cost",
		Args:  cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := t.lastAnswer(c.Context())
			if err != nil {
				return err
			}
			x, err := t.App.Answers.Explain(c.Context(), t.Place.Question("", time.Now()), id)
			if errors.Is(err, answer.ErrNoTrace) {
				return errors.New("I no longer know how I made it: one of its sources was changed or forgotten")
			}
			if err != nil {
				return err
			}
			printExplanation(c.OutOrStdout(), t.App, x)
			return nil
		},
	}
}

// lastAnswer looks up Hark's last answer each time, because it may have been forgotten.
func (t *Talk) lastAnswer(ctx context.Context) (memory.MessageID, error) {
	if !t.logs() {
		return 0, errors.New("this is a Discord channel, and I don't keep what I answer in it from here: " +
			"/context shows the prompt for a question")
	}
	const look = 200
	said, err := t.App.Store.Around(ctx, t.Place.Channel,
		[]memory.MessageID{memory.FirstMessageID(time.Now().Add(time.Hour))}, look, 0)
	if err != nil {
		return 0, err
	}
	for _, m := range slices.Backward(said) {
		if m.Kind == memory.FromHark {
			return m.ID, nil
		}
	}
	return 0, errors.New("I remember no answer of mine here")
}

func printExplanation(w io.Writer, a *setup.App, x answer.Explanation) {
	t := x.Trace
	p := printer{w}
	p.say("How the answer of %s came about", t.Answer.Time().In(a.Config.Answer.Location()).Format(cli.MinuteLayout))
	model := terminal.OneLine(t.Model)
	for _, sentence := range markdown.Origin(locale.Locale{}, t.Origin, model, terminal.OneLine(t.Mode)) {
		p.say("%s", sentence)
	}
	if t.TextOnly {
		p.say("Found by words only: I couldn't search by meaning.")
	}
	var used, dropped []answer.Explained
	around := 0
	for _, r := range x.Recalled {
		switch {
		case r.Number > 0 || r.Context && (len(r.Why) > 0 || r.Relevance > 0):
			used = append(used, r)
		case !r.Context:
			dropped = append(dropped, r)
		default:
			around++
		}
	}
	if len(x.Lore) > 0 {
		p.say("Lore, and used:")
	}
	for _, lore := range x.Lore {
		p.say("  %s\n%s", terminal.OneLine(lore.Name), cli.Indent(lore.Text))
	}
	p.explained("Recalled, and used:", used, a)
	p.explained("Recalled, and left out"+whyLeftOut(t)+":", dropped, a)
	if around > 0 {
		p.say("Besides, I had %s around these, or from the conversation, before me.",
			terminal.Plural(around, "message"))
	}
	if len(x.Recalled)+len(x.Lore) == 0 {
		p.say("Nothing was recalled for it, or nothing of that is left.")
	}
	if len(t.Sections) > 0 {
		cli.PrintSections(w, "", t.Sections, memory.Prompt{})
		p.say("%-18s %6d tokens of %d", "all", t.Tokens, t.MaxTokens)
	}
	cli.PrintCalls(w, t.Calls)
	p.say("It took %.2f s, of which the search took %.2f s.", t.Total.Seconds(), t.Search.Seconds())
}

// whyLeftOut says why messages that were recalled aren't in the prompt.
func whyLeftOut(t memory.Trace) string {
	for _, s := range t.Sections {
		if s.Section == string(builder.SectionHistory) && s.Why != "" {
			return " for want of room (" + terminal.OneLine(s.Why) + ")"
		}
	}
	return ", as there was no room or another told it already"
}

type printer struct{ io.Writer }

func (p printer) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// explained prints messages under a heading, or nothing.
func (p printer) explained(heading string, all []answer.Explained, a *setup.App) {
	if len(all) == 0 {
		return
	}
	p.say("%s", heading)
	for _, r := range all {
		line := "  "
		if r.Number > 0 {
			line += fmt.Sprintf("[%d] ", r.Number)
		}
		if r.Relevance > 0 {
			line += cli.Relevance(a.Builder.Labels(), r.Relevance)
		}
		line += fmt.Sprintf("%s in #%s, %s", terminal.OneLine(r.Source.By()), terminal.OneLine(r.Source.Place),
			r.Source.Time.Format(cli.MinuteLayout))
		if r.Changed {
			line += ", edited since"
		}
		cli.PrintHit(p, line, r.Text, r.Why)
	}
}

func (t *Talk) catchUpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "catchup [SINCE]",
		Short: "Tell what was said here since I last wrote, or since a time such as yesterday or 3d",
		RunE: func(c *cobra.Command, args []string) error {
			zone := t.App.Config.Answer.Location()
			var since time.Time
			if len(args) > 0 {
				var err error
				since, _, err = dates.Parse(strings.Join(args, " "), time.Now(), zone)
				if err != nil {
					return err
				}
			}
			p, err := t.me(c.Context())
			if err != nil {
				return err
			}
			q := t.Place.Question("", time.Now())
			q.Asker = p.ID
			q.Name = t.Speaker
			got, err := t.App.Answers.CatchUp(c.Context(), q, since)
			switch {
			case errors.Is(err, answer.ErrNotRemembered), errors.Is(err, answer.ErrNotReadable):
				return errors.New("I remember nothing of this channel that you may read here")
			case err != nil:
				return err
			}
			t.warns(got.Away, fallbackAnswered(got.Model, got.Instead))
			fmt.Fprintf(t.Out, "%s here since %s\n", terminal.Plural(got.Messages, "message"),
				got.Since.In(zone).Format(cli.MinuteLayout))
			if got.Messages > 0 {
				t.print(answer.Answer{Text: got.Text, Cut: got.Cut})
				t.cite(got.Sources)
			}
			if got.Bounded {
				fmt.Fprintf(t.Out, "It goes back 7 days and %d messages at most.\n", answer.CatchUpMax)
			}
			return nil
		},
	}
}
