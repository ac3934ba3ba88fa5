package sqlstore

import (
	"context"
	"slices"

	"hark/memory"
)

// chooseSetting keeps what was set, unless it falls under what was forgotten. The guild and the channel
// needn't be known yet.
func (t *transaction) chooseSetting(e memory.SettingChosen) error {
	if gone, err := t.isForgottenSetting(e); gone || err != nil {
		return err
	}
	t.changed.Text = t.changed.Text || e.Key == memory.SettingPersona // what it said before
	return t.exec(`INSERT INTO setting (guild, channel, key, value, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (guild, channel, key)
		DO UPDATE SET value = ?4, at = ?5 WHERE ?5 > setting.at`, int64(e.Guild), int64(e.Channel), string(e.Key), e.Value, millis(e.At))
}

func (t *transaction) isForgottenSetting(e memory.SettingChosen) (bool, error) {
	d, err := t.decisions()
	if err != nil || len(d.ledger) == 0 {
		return false, err
	}
	where := spot{guild: e.Guild, channel: e.Channel}
	c, err := t.knownChannel(e.Channel)
	if c != nil {
		where.parent = c.parent
	}
	id := memory.FirstMessageID(e.At)
	return slices.ContainsFunc(d.ledger, func(o order) bool {
		return o.takesSetting(e.Key) && o.coversAll(where, id)
	}), err
}

// takesSettings reports whether an order is about all of a channel or a guild, with which goes what was set there.
func (o order) takesSettings() bool { return o.user == 0 && (o.whole || o.end == endless) }

// takesSetting is takesSettings of one key.
func (o order) takesSetting(key memory.Setting) bool {
	return o.takesSettings() && (o.channel == 0 || o.end == endless || !key.StaysWithChannel())
}

// dropSettings deletes what was set for a channel or a guild of which everything is forgotten.
func (b *beginning) dropSettings() error {
	if !b.of.takesSettings() {
		return nil
	}
	end := millis(b.of.end.Time())
	if b.of.end == endless {
		end = 1<<63 - 1
	}
	return b.exec(`DELETE FROM setting WHERE (guild = ?1 OR ?1 = ?2) AND at < ?3 AND ((channel = ?4 OR ?4 = 0) OR channel IN (SELECT value FROM json_each(?5)))
		AND (?6 OR key NOT IN (?7, ?8))`, int64(b.of.guild), int64(memory.Everywhere), end, int64(b.of.channel), b.channels,
		b.of.channel == 0 || b.of.end == endless, string(memory.SettingAnswers), string(memory.SettingRetention))
}

// readSettings adds to guilds and their channels what was set for them.
func readSettings(ctx context.Context, q Querier, guilds map[memory.GuildID]*memory.Guild) error {
	type place struct {
		guild   memory.GuildID
		channel memory.ChannelID
	}
	set := map[place]map[memory.Setting]string{}
	err := Each(ctx, q, func(scan Scanner) error {
		var at place
		var key memory.Setting
		var value string
		err := scan(&at.guild, &at.channel, &key, &value)
		if set[at] == nil {
			set[at] = map[memory.Setting]string{}
		}
		set[at][key] = value
		return err
	}, "SELECT guild, channel, key, value FROM setting WHERE value <> ''")
	if err != nil || len(set) == 0 {
		return err
	}
	for _, g := range guilds {
		g.Settings = set[place{g.ID, 0}]
		for i := range g.Channels {
			g.Channels[i].Settings = set[place{g.ID, g.Channels[i].ID}]
		}
	}
	return nil
}

// takeSettings takes over what was set.
func (t *transaction) takeSettings(*Taken) error {
	t.changed.structure = true
	return t.exec(`INSERT INTO main.setting (guild, channel, key, value, at) SELECT guild, channel, key, value, at FROM old.setting WHERE true
		ON CONFLICT (guild, channel, key) DO UPDATE SET value = excluded.value, at = excluded.at WHERE excluded.at > setting.at`)
}
