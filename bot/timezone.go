package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// usualZones are offered where nothing is typed yet, from west to east.
var usualZones = []string{
	"UTC", "Pacific/Honolulu", "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York", "America/Halifax", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Africa/Lagos", "Africa/Cairo", "Africa/Johannesburg", "Europe/Istanbul",
	"Asia/Dubai", "Asia/Kolkata", "Asia/Bangkok", "Asia/Shanghai", "Asia/Taipei", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland",
}

// timezoneOptions are those of /hark timezone.
func timezoneOptions() []option {
	return []option{{
		Type: optionText, Name: "zone", Description: "A place in it, such as Europe/Berlin, or default (left out: shows what holds)", MaxLength: 100, Autocomplete: true,
	}}
}

// timezone sets the zone of the times that Hark speaks of in a guild, or shows it.
func (c *commands) timezone(ctx context.Context, x *exchange) (sheet, error) {
	value := x.option("zone")
	if value == "" {
		g, err := c.bot.admit.guild(ctx, x.guild())
		return sheet{Content: c.zoneLine(x.locale, g)}, err
	}
	name, err := c.bot.cfg.Choices.Check(memory.SettingTimezone, value)
	if err != nil {
		return sheet{}, refusal(x.text("I know no time zone “%s”. Please choose one of those that I show while you type, such as Europe/Berlin or UTC.", plain(value, 60)))
	}
	g, err := c.setGuild(ctx, x, memory.SettingTimezone, name)
	if err != nil {
		return sheet{}, err
	}
	return sheet{Content: c.zoneLine(x.locale, g) + "\n" +
		x.text("That is the zone of the times in my answers, and of days such as “yesterday” in questions. Times that Discord shows are in everybody's own.")}, nil
}

// zone is the time zone of a guild.
func (c *commands) zone(g *memory.Guild) *time.Location {
	if z := c.bot.cfg.Choices.In(g, 0).Zone; z != nil {
		return z
	}
	return time.UTC
}

// zoneLine says which zone holds in a guild, and how late it is there.
func (c *commands) zoneLine(l locale, g *memory.Guild) string {
	zone := c.zone(g)
	return l.text("**Time zone**: %s, where it is %s (%s)", zone, c.bot.now().In(zone).Format("2006-01-02 15:04"), setFor(l, g, 0, memory.SettingTimezone))
}

// zoneNames are the zones that what is typed may mean: first those that begin with it, or whose place does.
func (c *commands) zoneNames(_ context.Context, x *exchange) ([]optionChoice, error) {
	typed := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(x.typed()), " ", "_"))
	names := usualZones
	if typed != "" {
		names = zonesLike(typed)
	}
	var choices []optionChoice
	for _, name := range names {
		label := name
		if zone, err := time.LoadLocation(name); err == nil {
			label += " · " + c.bot.now().In(zone).Format("15:04")
		}
		choices = append(choices, optionChoice{label, name})
	}
	if typed == "" || strings.HasPrefix(answer.SettingDefault, typed) {
		choices = append(choices, optionChoice{answer.SettingDefault, answer.SettingDefault})
	}
	return choices, nil
}

func zonesLike(typed string) []string {
	var first, then []string
	for _, name := range answer.Zones() {
		lower := strings.ToLower(name)
		switch {
		case strings.HasPrefix(lower, typed), strings.Contains(lower, "/"+typed):
			first = append(first, name)
		case strings.Contains(lower, typed):
			then = append(then, name)
		}
	}
	return slices.Concat(first, then)[:min(len(first)+len(then), mostCompletions-1)]
}
