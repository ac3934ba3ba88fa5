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
	// pausedQuestion is in /metrics what refused a question because Hark was paused.
	pausedQuestion = "paused"
	// pausedAgain is for how long nobody in a channel is told again that Hark is paused.
	pausedAgain = 10 * time.Minute
	// The bounds of a pause.
	shortestPause, longestPause = time.Minute, 366 * 24 * time.Hour

	pauseSpan = "I don't understand for how long. Please write it like `30m`, `2h`, `1d` or `1d 12h`: from a minute to a year."
)

// pause is how long mentions aren't answered, in a guild where that is so.
type pause struct {
	until time.Time // zero: nobody knows
	locale
}

// paused is the pause that a channel's questions fall into; nil if there is none.
func (b *Bot) paused(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, at time.Time) *pause {
	g, err := b.admit.guild(ctx, guild)
	if err != nil || guild == memory.DirectGuild {
		return nil // where nobody can pause it, or the log can't tell, as with limits
	}
	holds := b.cfg.Choices.In(g, channel)
	until, is := holds.PausedAt(at)
	if !is {
		return nil
	}
	return &pause{until, localeOf(holds.Language)}
}

// sentence is what those are told who ask meanwhile.
func (p *pause) sentence() string {
	if p.until.IsZero() {
		return p.text("Those who manage this server have paused me, so I don't answer for now.")
	}
	return p.text("Those who manage this server have paused me, so I don't answer for now. Please ask again <t:%d:R>.", p.until.Unix())
}

// isPaused reports whether a question isn't answered because Hark is paused. The channel is told once in a while.
func (b *Bot) isPaused(last context.Context, a *ask) bool {
	p := b.paused(last, a.guild, a.channel, a.when())
	if p == nil {
		return false
	}
	b.lives.refuse(a.id)
	b.cfg.Metrics.QuestionsRefused.WithLabelValues(pausedQuestion).Inc()
	h := &hit{of: pausedQuestion, until: a.when().Add(pausedAgain)}
	if !p.until.IsZero() && p.until.Before(h.until) {
		h.until = p.until
	}
	if b.limiter.isFirst(telling{membership{guild: a.guild}, a.channel, pausedQuestion}, a.when(), h) {
		b.desk.tell(func() { b.say(last, a, "p", p.sentence()) })
	}
	return true
}

// pause pauses Hark in a guild, has it go on, or shows whether it is paused.
func (c *commands) pause(ctx context.Context, x *exchange) (sheet, error) {
	state, span := x.option("state"), x.option("for")
	if state == "" && span == "" {
		return sheet{Content: c.pauseLine(x.locale, x.server)}, nil
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
	if err := c.setAt(ctx, x, 0, memory.SettingPaused, value); err != nil {
		return sheet{}, err
	}
	text := c.pauseLine(x.locale, x.server)
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

// setAt sets a key at a place to a value that was checked.
func (c *commands) setAt(ctx context.Context, x *exchange, at memory.ChannelID, key memory.Setting, value string) error {
	if key.OfGuild() {
		at = 0
	}
	return c.apply(ctx, x, fmt.Sprintf("keep the %s of channel %d", key, at),
		memory.SettingChosen{Guild: x.guild(), Channel: at, Key: key, Value: value, At: c.bot.now()})
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
