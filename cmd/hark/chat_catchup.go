package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/internal/dates"
)

// catchUpCommand tells what was said since whoever speaks now last wrote.
func (t *conversation) catchUpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "catchup [SINCE]",
		Short: "Tell what was said here since I last wrote, or since a day or so long ago, such as yesterday or 3d",
		RunE: func(c *cobra.Command, args []string) error {
			zone := t.app.config.Answer.Location()
			var since time.Time
			if len(args) > 0 {
				var err error
				if since, _, err = dates.Parse(strings.Join(args, " "), t.now(), zone); err != nil {
					return err
				}
			}
			p, err := t.me(c.Context())
			if err != nil {
				return err
			}
			q := t.place.question("", t.now())
			q.Asker, q.Name = p.ID, t.speaker
			got, err := t.app.answers.CatchUp(c.Context(), q, since)
			switch {
			case errors.Is(err, answer.ErrNotRemembered), errors.Is(err, answer.ErrNotReadable):
				return errors.New("nothing of this channel is remembered that you may read here")
			case err != nil:
				return err
			}
			t.warns(got.Away, instead(got.Model, got.Instead))
			fmt.Fprintf(t.out, "%s here since %s\n", plural(got.Messages, "message"), got.Since.In(zone).Format(toTheMinute))
			if got.Messages > 0 {
				t.print(answer.Answer{Text: got.Text})
				t.cite(got.Sources)
			}
			if got.Bounded {
				fmt.Fprintf(t.out, "It goes back 7 days and %d messages at most.\n", answer.CatchUpMost)
			}
			return nil
		},
	}
}
