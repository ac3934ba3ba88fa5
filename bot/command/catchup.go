package command

import (
	"context"
	"errors"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/internal/answer"
)

// catchUp shows what the user missed in a channel.
func (c *Commands) catchUp(ctx context.Context, x *interaction) (response, error) {
	since, _, err := c.timeOption(x, "since")
	if err != nil {
		return response{}, err
	}
	return c.spend(ctx, x, func(ctx context.Context, noModel bool) (response, answer.Usage, error) {
		q := c.question(x)
		q.NoModel = noModel
		got, err := c.Answers.CatchUp(ctx, q, since)
		switch {
		case errors.Is(err, answer.ErrNotRemembered):
			err = refusal(x.Text("I remember nothing of this channel, so I can't tell what was said here."))
		case errors.Is(err, answer.ErrNotReadable):
			err = refusal(x.Text("You may not read what was said in this channel before, so I can't tell you."))
		}
		if err != nil {
			return response{}, got.Usage, err
		}
		c.warn(x, got.Away, "caught somebody up without the model")
		if got.Instead != nil {
			c.Log.Warn().Err(got.Instead).Str("model", got.Model).Int64("interaction",
				int64(x.ID)).Msg("caught somebody up by another model")
		}
		if got.Cut {
			c.Log.Warn().Str("model", got.Model).Int64("interaction", int64(x.ID)).Msg(reply.WasCut)
		}
		shown, err := showCaughtUp(x.Locale, got, since, noModel)
		return shown, got.Usage, err
	})
}

// showCaughtUp shows what the user missed since the given time; zero: since they last wrote.
func showCaughtUp(l locale.Locale, got answer.CaughtUp, since time.Time, noModel bool) (response, error) {
	notes := missedNotes(l, got)
	if got.Messages == 0 {
		return response{Content: markdown.Lines(nothingMissed(l, got, since), notes)}, nil
	}
	switch {
	case got.Model != "":
	case noModel:
		notes = markdown.Lines(l.Text("-# There are no tokens left for the language model today, so these are the lines that tell most."), notes)
	case reply.IsLoading(got.Away):
		notes = markdown.Lines(l.Text("-# The language model is still being loaded, so these are the lines that tell most."), notes)
	case reply.IsCrowded(got.Away):
		notes = markdown.Lines(l.Text("-# The language model is asked too much right now, so these are the lines that tell most."), notes)
	case got.Away != nil:
		notes = markdown.Lines(l.Text("-# The language model couldn't sum this up, so these are the lines that tell most."), notes)
	default:
		notes = markdown.Lines(l.Text("-# No language model is available to sum this up, so these are the most telling lines."), notes)
	}
	return likeAnswer(l, missedHeading(l, got, since), got.Text, notes, got.Sources)
}

func missedHeading(l locale.Locale, got answer.CaughtUp, since time.Time) string {
	from := got.Since.Unix()
	switch {
	case !since.IsZero() || got.Bounded:
		return l.Count(got.Messages, "**%s message here since <t:%d:f>**", "**%s messages here since <t:%d:f>**", from)
	case got.Spoke.IsZero():
		return l.Count(got.Messages, "**%s message here within the last 24 hours** (I don't remember you writing here)",
			"**%s messages here within the last 24 hours** (I don't remember you writing here)")
	}
	return l.Count(got.Messages, "**%s message here since you last wrote, <t:%d:R>**",
		"**%s messages here since you last wrote, <t:%d:R>**", from)
}

// missedNotes says in small print what was left out.
func missedNotes(l locale.Locale, got answer.CaughtUp) string {
	return markdown.Lines(
		when(got.Cut, l.Keyed(reply.CutOff)),
		when(got.Bounded, l.Text("-# I go back 7 days and %s messages at most.", l.Number(answer.CatchUpMax))),
		when(got.Left > 0 && got.Model != "", l.Count(got.Left, "-# The model had no room for the oldest %s of them.",
			"-# The model had no room for the oldest %s of them.")))
}

// nothingMissed says so, and when the user last wrote.
func nothingMissed(l locale.Locale, got answer.CaughtUp, since time.Time) string {
	switch {
	case got.Spoke.IsZero() && since.IsZero():
		return l.Text("Nothing was said here within the last 24 hours. I don't remember you writing here, so I looked no further back; `since` says from when on.")
	case got.Spoke.IsZero():
		return l.Text("Nothing was said here since <t:%d:f>.", got.Since.Unix())
	case since.IsZero() && !got.Bounded:
		return l.Text("Nothing new was said here since you last wrote, <t:%d:R>.", got.Spoke.Unix())
	}
	return l.Text("Nothing was said here since <t:%d:f>. You last wrote here <t:%d:R>.", got.Since.Unix(),
		got.Spoke.Unix())
}
