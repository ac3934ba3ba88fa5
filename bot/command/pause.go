package command

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

const shortestPause, longestPause = time.Minute, 366 * 24 * time.Hour

// check returns a value for a key as it is stored. A pause may be given as a duration. The error is a refusal.
func (c *Commands) check(x *interaction, key memory.Setting, value string) (string, error) {
	if key == memory.SettingPrograms && c.Privacy.Programs == "" && strings.EqualFold(value, answer.SettingOn) {
		return "", refusal(x.Text(connectsNot))
	}
	if key == memory.SettingPaused && value != answer.SettingOn && value != answer.SettingDefault {
		d, ok := spanOf(value)
		if !ok {
			return "", refusal(x.Text("I don't understand for how long. Please write it like `30m`, `2h`, `1d` or `1d 12h`: from a minute to a year."))
		}
		return c.Now().Add(d).UTC().Truncate(time.Second).Format(time.RFC3339), nil
	}
	value, err := c.Replies.Choices.Check(key, value)
	if err != nil {
		return "", refusal(x.Text("I can't do that: %s.", markdown.Plain(x.ErrorText(err), 300)))
	}
	return value, nil
}

func (c *Commands) pauseLine(l locale.Locale, g *memory.Guild) string {
	until, paused := c.Replies.Choices.In(g, 0).PausedAt(c.Now())
	switch {
	case !paused:
		return l.Text("**Paused**: no")
	case until.IsZero():
		return l.Text("**Paused**: yes, until somebody ends it")
	}
	return l.Text("**Paused**: yes, until <t:%d:f> (<t:%[1]d:R>)", until.Unix())
}

// setAt sets a key for a channel to a checked value, together with more events.
func (c *Commands) setAt(ctx context.Context, x *interaction, at memory.ChannelID, key memory.Setting,
	value string, more ...memory.Event) error {
	if key.OfGuild() {
		at = 0
	}
	err := c.apply(ctx, x, fmt.Sprintf("keep the %s of channel %d", key, at), append(more,
		memory.SettingChosen{
			Guild:   x.guild(),
			Channel: at,
			Key:     key,
			Value:   value,
			By:      x.who(),
			At:      c.Now(),
		})...)
	if err == nil && key == memory.SettingMedia {
		_, _, err = c.Listener.Decided(ctx, x.guild())
	}
	return err
}

var (
	spanText = regexp.MustCompile(`^(?:\s*[0-9]{1,6}\s*[mhdw])+\s*$`)
	spanPart = regexp.MustCompile(`([0-9]+)\s*([mhdw])`)
)

// spanOf parses a duration such as "2h" or "1d 12h"; false if it isn't one that a pause may have.
func spanOf(text string) (time.Duration, bool) {
	text = strings.ToLower(text)
	if !spanText.MatchString(text) {
		return 0, false
	}
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	all := time.Duration(0)
	for _, part := range spanPart.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(part[1]) // at most six digits
		all += min(time.Duration(n), longestPause/unit[part[2]]+1) * unit[part[2]]
		if all > longestPause {
			return 0, false
		}
	}
	return all, all >= shortestPause
}
