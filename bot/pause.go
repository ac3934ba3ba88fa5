package bot

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

const (
	// The bounds of a pause.
	shortestPause, longestPause = time.Minute, 366 * 24 * time.Hour

	pauseSpan = "I don't understand for how long. Please write it like `30m`, `2h`, `1d` or `1d 12h`: from a minute to a year."
)

// pauseOptions are those of /hark pause.
func pauseOptions() []option {
	return []option{
		{Type: optionText, Name: "state", Description: "Whether to pause or to go on (left out: shows whether I'm paused)", Choices: []optionChoice{
			{answer.SettingOn, answer.SettingOn}, {answer.SettingOff, answer.SettingOff},
		}},
		{Type: optionText, Name: "for", Description: "For how long, such as 2h or 1d (left out: until somebody ends it)", MaxLength: 30},
	}
}

// pause pauses Hark in a guild, has it go on, or shows whether it is paused.
func (c *commands) pause(ctx context.Context, x *exchange) (sheet, error) {
	state, span := x.option("state"), x.option("for")
	if state == "" && span == "" {
		g, err := c.bot.admit.guild(ctx, x.guild())
		return sheet{Content: c.pauseLine(x.locale, g)}, err
	}
	value := answer.SettingOn
	switch {
	case state == answer.SettingOff && span != "":
		return sheet{}, refusal(x.text("There is no time after which a pause begins again. Please leave out `for`, or choose `on`."))
	case state == answer.SettingOff:
		value = ""
	case span != "":
		d, ok := spanOf(span)
		if !ok {
			return sheet{}, refusal(x.text(pauseSpan))
		}
		value = c.pauseUntil(d)
	}
	g, err := c.setAt(ctx, x, 0, memory.SettingPaused, value)
	if err != nil {
		return sheet{}, err
	}
	text := c.pauseLine(x.locale, g)
	if value != "" {
		text += "\n" + x.text("Those who mention me are told so now and then. I go on remembering what I may, and commands work. `/hark pause state:off` has me answer again.")
	}
	return sheet{Content: text}, nil
}

// pauseUntil is the value of a pause of that length from now on.
func (c *commands) pauseUntil(d time.Duration) string {
	return c.bot.now().Add(d).UTC().Truncate(time.Second).Format(time.RFC3339)
}

// pauseLine says whether Hark is paused in a guild.
func (c *commands) pauseLine(l locale, g *memory.Guild) string {
	until, paused := c.bot.cfg.Choices.In(g, 0).PausedAt(c.bot.now())
	switch {
	case !paused:
		return l.text("**Paused**: no")
	case until.IsZero():
		return l.text("**Paused**: yes, until somebody ends it")
	}
	return l.text("**Paused**: yes, until <t:%d:f> (<t:%[1]d:R>)", until.Unix())
}

// setAt sets a key at a place to a value that was checked, and is the guild then.
func (c *commands) setAt(ctx context.Context, x *exchange, at memory.ChannelID, key memory.Setting, value string) (*memory.Guild, error) {
	if key.OfGuild() {
		at = 0
	}
	e := memory.SettingChosen{Guild: x.guild(), Channel: at, Key: key, Value: value, At: c.bot.now()}
	if err := c.bot.memory.Apply(ctx, e); err != nil {
		return nil, fmt.Errorf("keep the %s of channel %d: %w", key, at, err)
	}
	return c.bot.admit.guild(ctx, x.guild())
}

var (
	spanText = regexp.MustCompile(`^(?:\s*[0-9]{1,6}\s*[mhdw])+\s*$`)
	spanPart = regexp.MustCompile(`([0-9]+)\s*([mhdw])`)
)

// spanOf reads a length of time such as "2h" or "1d 12h", if a pause may have it.
func spanOf(text string) (time.Duration, bool) {
	text = strings.ToLower(text)
	if !spanText.MatchString(text) {
		return 0, false
	}
	unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	all := time.Duration(0)
	for _, part := range spanPart.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(part[1]) // at most six digits
		if all += min(time.Duration(n), longestPause/unit[part[2]]+1) * unit[part[2]]; all > longestPause {
			return 0, false
		}
	}
	return all, all >= shortestPause
}
