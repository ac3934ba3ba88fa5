package command

import (
	"context"
	"strings"
	"time"

	"hark/bot/markdown"
	"hark/internal/dates"
	"hark/memory"
)

// longestTime is how many characters a time may have.
const longestTime = 40

const badTime = "I don't understand “%s” as a time. I know days such as `2026-07-01`, `%s` and `%s`, and spans such as `7d`, `12h` or `3 weeks`."

// timeChoices completes a time option: today, yesterday and days ago.
func timeChoices(days ...string) func(context.Context, *interaction) ([]optionChoice, error) {
	return func(_ context.Context, x *interaction) ([]optionChoice, error) {
		offered := []optionChoice{{Name: x.Text("today"), Value: dates.Today},
			{Name: x.Text("yesterday"), Value: dates.Yesterday}}
		for _, d := range days {
			offered = append(offered, optionChoice{Name: x.Text("%s ago", d), Value: d})
		}
		return offered, nil
	}
}

// timeOption returns the period that an option names, in the guild's time zone; zero times if it isn't given. The
// error is a refusal.
func (c *Commands) timeOption(x *interaction, name string) (from, to time.Time, err error) {
	text := strings.TrimSpace(x.Option(name))
	if text == "" {
		return from, to, nil
	}
	given := text
	switch {
	case strings.EqualFold(text, x.Text("today")):
		text = dates.Today
	case strings.EqualFold(text, x.Text("yesterday")):
		text = dates.Yesterday
	}
	now := c.at(x)
	from, to, err = dates.Parse(text, now, c.zone(x.server))
	if err != nil {
		return from, to, refusal(x.Text(badTime, markdown.Plain(given, longestTime), x.Text("today"),
			x.Text("yesterday")))
	}
	if name == "since" && from.After(now) {
		return from, to, refusal(x.Text("“%s” is in the future, so nothing has been said since then.",
			markdown.Plain(given, longestTime)))
	}
	return from, to, nil
}

func (c *Commands) zone(g *memory.Guild) *time.Location {
	if z := c.Replies.Choices.In(g, 0).Zone; z != nil {
		return z
	}
	return time.UTC
}

// usualZones are offered before anything is typed, from west to east.
var usualZones = []string{
	"UTC", "Pacific/Honolulu", "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York",
	"America/Halifax", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Africa/Lagos", "Africa/Cairo",
	"Africa/Johannesburg", "Europe/Istanbul",
	"Asia/Dubai", "Asia/Kolkata", "Asia/Bangkok", "Asia/Shanghai", "Asia/Taipei", "Asia/Tokyo",
	"Australia/Sydney", "Pacific/Auckland",
}
