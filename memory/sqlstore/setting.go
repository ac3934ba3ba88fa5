package sqlstore

import (
	"slices"

	"hark/memory"
)

// chooseSetting keeps a setting, unless it is forgotten. The guild and the channel may be unknown.
func (t *transaction) chooseSetting(e memory.SettingChosen) {
	where := location{guild: e.Guild, channel: e.Channel, parent: t.locationAt(e.Guild, e.Channel).parent}
	id := memory.FirstMessageID(e.At)
	if slices.ContainsFunc(t.decisions().rules, func(o rule) bool {
		return o.coversSetting(e.Key) && o.coversEveryone(where, id)
	}) {
		return
	}
	t.changed.Text = t.changed.Text || e.Key == memory.SettingPersona // the earlier value
	t.putNewer(settingTable, e.Guild, e.Channel, e.Key, e.Value, millis(e.At))
}

// coversSettings reports whether a rule covers all of a channel or a guild, and so its settings.
func (o rule) coversSettings() bool { return o.User == 0 && (o.whole || o.end == endless) }

func (o rule) coversSetting(key memory.Setting) bool {
	return o.coversSettings() && (o.Channel == 0 || o.end == endless || !key.StaysWithChannel())
}

func (b *forgettingRun) dropSettings() {
	if !b.of.coversSettings() {
		return
	}
	end := millis(b.of.end.Time())
	if b.of.end == endless {
		end = 1<<63 - 1
	}
	b.run(`DELETE FROM setting WHERE at < ?7 AND (?8 OR key NOT IN (?9, ?10)) AND ((channel = ?5 OR ?5 = 0)
		OR channel IN (SELECT value FROM json_each(?1))) AND `+ofGuild, end, b.of.Channel == 0 || b.of.end == endless,
		memory.SettingAnswers, memory.SettingRetention)
}
