package bot

import (
	"time"

	"hark/memory"
)

// usualZones are offered where nothing is typed yet, from west to east.
var usualZones = []string{
	"UTC", "Pacific/Honolulu", "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York", "America/Halifax", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Africa/Lagos", "Africa/Cairo", "Africa/Johannesburg", "Europe/Istanbul",
	"Asia/Dubai", "Asia/Kolkata", "Asia/Bangkok", "Asia/Shanghai", "Asia/Taipei", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland",
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
	return l.text("**Time zone**: %s, where it is %s (%s)", zone, c.bot.now().In(zone).Format("2006-01-02 15:04"), c.setFor(l, g, 0, memory.SettingTimezone))
}
