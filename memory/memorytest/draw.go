package memorytest

import (
	"fmt"
	"strings"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

// The world of random operations: few places and people, so that operations meet.
var (
	channels = []memory.ChannelID{general, staff, thread, local}
	authors  = []memory.UserID{ada, ben, 503, 504}
	words    = []string{"ferry", "noon", "harbour", "tomatoes", "printer", "chess", "flat", "the", "東京", "雨", "🎉", "running", "O'Brien", "\"AND\""}
)

const (
	slots    = 24 // messages that a channel can have
	versions = 5  // of each
)

// slotID is of the n-th message of a channel: in bursts, some in the same millisecond.
func slotID(n int) memory.MessageID {
	at := began.Add(time.Duration(n-n/4%2)*40*time.Second + time.Duration(n/6)*20*time.Minute)
	return memory.FirstMessageID(at) + memory.MessageID(n)
}

func guildOf(channel memory.ChannelID) memory.GuildID {
	if channel == local {
		return memory.LocalGuild
	}
	return guild
}

// version is the v-th version of a message: what can change depends on v alone, what can't on the message.
func version(channel memory.ChannelID, slot, v int) memory.Message {
	m := memory.Message{
		ID: slotID(slot), Guild: guildOf(channel), Channel: channel, Author: authors[slot*7/3%len(authors)],
		Content: content(channel, slot, v),
	}
	m.Kind = map[memory.UserID]memory.Kind{503: memory.FromBot, 504: memory.FromWebhook}[m.Author]
	if slot%5 == 4 {
		m.ReplyTo = slotID(slot - 3)
	}
	if v > 0 {
		m.Edited = began.Add(24*time.Hour + time.Duration(v)*time.Second)
	}
	if mix := slot + v; mix%3 == 0 {
		m.Files = []memory.File{{Name: fmt.Sprintf("chess%d.png", v)}}
		m.Mentions = []memory.UserID{authors[v%len(authors)]}
		m.Starred = v%2 == 1
	}
	return m
}

func content(channel memory.ChannelID, slot, v int) string {
	n := int(channel)*31 + slot*17 + v*5
	var some []string
	for i := range n%4 + v%2 {
		some = append(some, words[(n/3+i*i+i*v)%len(words)])
	}
	return strings.Join(some, " ")
}

// drawSlot is often one of a few, so that much happens to them.
func drawSlot(t *rapid.T) (memory.ChannelID, int) {
	if rapid.Bool().Draw(t, "one of few") {
		return rapid.SampledFrom(channels[:2]).Draw(t, "channel"), rapid.IntRange(0, 2).Draw(t, "slot")
	}
	return rapid.SampledFrom(channels).Draw(t, "channel"), rapid.IntRange(0, slots-1).Draw(t, "slot")
}

// drawMessageEvent is something that happens to a message.
func drawMessageEvent(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	v := rapid.IntRange(0, versions-1).Draw(t, "version")
	m := version(channel, slot, v)
	switch rapid.IntRange(0, 9).Draw(t, "event") {
	case 0:
		ids := []memory.MessageID{m.ID}
		if rapid.Bool().Draw(t, "two") {
			ids = append(ids, slotID(rapid.IntRange(0, slots-1).Draw(t, "second")))
		}
		return memory.Deleted{Guild: m.Guild, Channel: channel, IDs: ids}
	case 1, 2:
		if v > 0 {
			return memory.Edited{Guild: m.Guild, Channel: channel, ID: m.ID, Content: m.Content, At: m.Edited}
		}
	}
	return memory.Posted{Message: m, Live: rapid.Bool().Draw(t, "live")}
}

// drawTime is one of a few, so that the same one is drawn again.
func drawTime(t *rapid.T, name string) time.Time {
	return began.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, name)) * time.Minute)
}

// drawPeopleEvent is something that somebody decides, or that is told of them. Of each kind two that are told at the
// same time are the same.
func drawPeopleEvent(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	who, where := rapid.SampledFrom(authors).Draw(t, "who"), rapid.SampledFrom([]memory.GuildID{guild, memory.LocalGuild}).Draw(t, "where")
	switch rapid.IntRange(0, 9).Draw(t, "people") {
	case 7:
		return memory.LoreGone{Guild: rapid.SampledFrom([]memory.GuildID{guild, guild, memory.LocalGuild}).Draw(t, "where"), ID: int64(rapid.IntRange(1, 6).Draw(t, "lore"))}
	case 8, 9:
		return drawLore(t)
	case 0:
		return memory.PersonLeft{Guild: where, User: who}
	case 1:
		at := drawTime(t, "opted at")
		return memory.Opted{Guild: where, User: who, Out: at.Minute()%3 == 1, At: at}
	case 2:
		return memory.FactGone{Guild: guild, User: ada, Fact: int64(rapid.IntRange(1, 8).Draw(t, "fact"))}
	case 3, 4:
		return drawFact(t)
	}
	at := drawTime(t, "starred at")
	return memory.Starred{Guild: guildOf(channel), Channel: channel, ID: slotID(slot), On: at.Minute()%2 == 1, At: at}
}

// drawFact is one of a few facts; what it says depends on its id alone.
func drawFact(t *rapid.T) memory.Event {
	n := rapid.IntRange(1, 8).Draw(t, "fact")
	f := memory.Fact{ID: int64(n), Text: fmt.Sprintf("fact %d", n), Alias: n%3 == 0, By: authors[n%2]}
	if n > 2 {
		f.Channel, f.Message = channels[n%2], slotID(n%4)
	}
	return memory.FactTold{Guild: guild, User: authors[n%len(authors)], Fact: f}
}

// drawLore is a version of one of a few pieces of lore. What it says depends on its id and time alone.
func drawLore(t *rapid.T) memory.Event {
	n, at := rapid.IntRange(1, 6).Draw(t, "lore"), drawTime(t, "told at")
	v := at.Minute()
	// Who told it where is the same in all versions: those that are forgotten must be the older ones.
	l := memory.Lore{
		ID: int64(n), Guild: guild, Name: fmt.Sprintf("Project %d", n), Text: fmt.Sprintf("version %d of %d", v, n), At: at,
		By: []memory.UserID{0, ada, ben, 503}[n%4], Channel: []memory.ChannelID{0, general, staff, thread}[n*n%7%4],
	}
	if n%3 == 0 {
		l.Guild, l.Channel = memory.LocalGuild, local
	}
	if v%2 == 0 {
		l.Own = []string{fmt.Sprintf("the %dth", n)}
	}
	if n > 2 {
		l.Sources = []memory.Spot{{Channel: general, Message: slotID(n % 4)}, {Channel: staff, Message: slotID(v % 3)}}[:1+v%2]
	}
	return memory.LoreTold{Lore: l}
}

// drawHearingEvent is something about what is to be heard and kept of a guild.
func drawHearingEvent(t *rapid.T) memory.Event {
	channel, slot := rapid.SampledFrom([]memory.ChannelID{general, staff, thread}).Draw(t, "channel"), rapid.IntRange(0, slots-1).Draw(t, "slot")
	gap := memory.Gap{Guild: guild, Channel: channel, Until: slotID(slot - slot%4 + 4), After: slotID(slot - slot%4), Past: slot%3 == 0}
	switch rapid.IntRange(0, 9).Draw(t, "hearing") {
	case 9:
		return drawLimit(t)
	case 8:
		return drawSetting(t)
	case 7:
		at := drawTime(t, "learn at")
		return memory.Learn{Guild: guild, On: at.Minute() == 7, At: at}
	case 0:
		return memory.Heard{Guild: guild, Channel: channel, ID: slotID(slot)}
	case 1, 2:
		return memory.GapFound{Gap: gap}
	case 3:
		return drawSweep(t, channel, gap, slot)
	case 4:
		return memory.Asked{Guild: guild, Channel: channel, Message: slotID(slot)}
	case 5:
		return memory.GuildLeft{Guild: guild, At: drawTime(t, "left at")}
	}
	at := drawTime(t, "chosen at")
	choice := []memory.Choice{memory.Undecided, memory.Remember, memory.RememberPublic, memory.Ignore}[at.Minute()%4]
	return memory.Chose{Guild: guild, Channel: rapid.SampledFrom([]memory.ChannelID{0, channel}).Draw(t, "chosen"), Choice: choice, At: at}
}

// drawSweep is something about what is fetched, and compared.
func drawSweep(t *rapid.T, channel memory.ChannelID, gap memory.Gap, slot int) memory.Event {
	switch rapid.IntRange(0, 5).Draw(t, "sweep") {
	case 0:
		return memory.ShutOut{Guild: guild, Channel: channel}
	case 1, 2:
		return memory.Absent{Guild: guild, Channel: rapid.SampledFrom([]memory.ChannelID{0, channel}).Draw(t, "of"), At: rapid.SampledFrom([]time.Time{sweptAt, began}).Draw(t, "absent at")}
	case 3:
		gap.Sweep, gap.Until = true, rapid.SampledFrom([]memory.MessageID{memory.FirstMessageID(sweptAt.Add(time.Millisecond)), memory.FirstMessageID(sweptAt.Add(-memory.SweptFirst))}).Draw(t, "until")
		return memory.GapFilled{Gap: gap, Through: rapid.SampledFrom([]memory.MessageID{slotID(slot), gap.Until}).Draw(t, "through")}
	}
	return memory.GapFilled{Gap: gap, Through: slotID(slot + rapid.IntRange(0, 4).Draw(t, "through"))}
}

// sweptAt is when nobody had told of changes: half of the slots are from within SweptFirst before.
var sweptAt = slotID(slots / 2).Time().Add(memory.SweptFirst)

// drawSetting is a setting, or none any more, of the guild, of one of two channels, or of one that nothing else tells of.
func drawSetting(t *rapid.T) memory.Event {
	at := drawTime(t, "set at")
	channel := rapid.SampledFrom([]memory.ChannelID{general, general, thread, nowhere, 0}).Draw(t, "of channel")
	key := rapid.SampledFrom([]memory.Setting{memory.SettingMode, memory.SettingPersona, memory.SettingAnswers}).Draw(t, "key")
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: key, Value: []string{"", "search", "analysis"}[at.Minute()%3], At: at}
}

// drawForgetting is mostly of little.
func drawForgetting(t *rapid.T) memory.Forgetting {
	f := memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: later}
	switch rapid.IntRange(0, 9).Draw(t, "where") {
	case 0:
		f.Guild = memory.LocalGuild
	case 1:
		f.Guild = memory.Everywhere
	}
	kind := rapid.IntRange(0, 15).Draw(t, "forgetting")
	if kind == 0 {
		f.Why = rapid.SampledFrom([]memory.Why{memory.WhyLeft, memory.WhyPurge}).Draw(t, "why")
		return f // all of it
	}
	if kind%4 == 1 || kind > 8 {
		f.User = rapid.SampledFrom(authors).Draw(t, "who")
	}
	if kind%4 == 2 {
		f.Channel = rapid.SampledFrom(channels).Draw(t, "channel")
	}
	if kind%4 != 1 {
		f.Before = slotID(rapid.IntRange(0, slots/2).Draw(t, "before")).Time().Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "and")) * time.Millisecond)
	}
	return f
}

// drawStructureEvent is something that happens to a guild, or to somebody in it.
func drawStructureEvent(t *rapid.T) memory.Event {
	channel := rapid.SampledFrom([]memory.ChannelID{general, staff, thread}).Draw(t, "channel")
	switch rapid.IntRange(0, 5).Draw(t, "structure") {
	case 0:
		return memory.GuildSeen{Guild: drawGuild(t), At: drawTime(t, "seen at")}
	case 1:
		return memory.ChannelSeen{Channel: drawChannel(t, channel)}
	case 2:
		return memory.ChannelGone{Guild: guild, Channel: channel}
	case 3:
		return memory.RoleSeen{Guild: guild, Role: drawRole(t)}
	case 4:
		return memory.RoleGone{Guild: guild, Role: drawRole(t).ID}
	}
	p := memory.Person{
		ID: rapid.SampledFrom(authors).Draw(t, "who"), Guild: rapid.SampledFrom([]memory.GuildID{guild, memory.LocalGuild}).Draw(t, "guild"),
		Username: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "username"), Name: rapid.SampledFrom([]string{"", "A"}).Draw(t, "name"),
		Nick:       rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "nick"),
		RolesKnown: rapid.Bool().Draw(t, "known"), Bot: rapid.Bool().Draw(t, "bot"),
	}
	if p.RolesKnown {
		p.Roles = []memory.RoleID{drawRole(t).ID}
	}
	return memory.PersonSeen{Person: p}
}

func drawGuild(t *rapid.T) memory.Guild {
	g := memory.Guild{ID: guild, Name: rapid.SampledFrom([]string{"Town", "City"}).Draw(t, "name"), Owner: ada, Self: rapid.SampledFrom([]memory.UserID{0, ben}).Draw(t, "self")}
	g.Roles = []memory.Role{{ID: 900, Name: "@everyone"}, drawRole(t)}
	for _, id := range []memory.ChannelID{general, staff, thread} {
		if rapid.Bool().Draw(t, "listed") {
			g.Channels = append(g.Channels, drawChannel(t, id))
		}
	}
	return g
}

func drawChannel(t *rapid.T, id memory.ChannelID) memory.Channel {
	c := memory.Channel{
		ID: id, Guild: guild, Name: rapid.SampledFrom([]string{"quay", "pier"}).Draw(t, "name"), AgeLimited: rapid.Bool().Draw(t, "aged"),
		Unplaced: rapid.Bool().Draw(t, "unplaced"),
	}
	if id == thread {
		c.Kind, c.Parent = memory.PublicThread, general
		c.Owner = rapid.SampledFrom([]memory.UserID{0, ada, ben}).Draw(t, "owner")
	} else if rapid.Bool().Draw(t, "closed") {
		c.Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, {User: ben, Allow: memory.ViewChannel}}
	}
	return c
}

func drawRole(t *rapid.T) memory.Role {
	return memory.Role{
		ID:   rapid.SampledFrom([]memory.RoleID{951, 952}).Draw(t, "role"),
		Name: rapid.SampledFrom([]string{"crew", "guests"}).Draw(t, "role name"), Permissions: memory.Connect,
	}
}

// drawScope is of some channels, and now and then of a time.
func drawScope(t *rapid.T) memory.Scope {
	scope := memory.Scope{Channels: rapid.SliceOfNDistinct(rapid.SampledFrom(append(channels, nowhere)), 0, 4, rapid.ID).Draw(t, "scope")}
	bound := func(name string) time.Time {
		at := slotID(rapid.IntRange(0, slots-1).Draw(t, name)).Time()
		return at.Add(rapid.SampledFrom([]time.Duration{0, 1, -1, time.Second}).Draw(t, name+" moved"))
	}
	if rapid.IntRange(0, 3).Draw(t, "since?") == 0 {
		scope.Since = bound("since")
	}
	if rapid.IntRange(0, 3).Draw(t, "until?") == 0 {
		scope.Until = bound("until")
	}
	if rapid.IntRange(0, 3).Draw(t, "authors?") == 0 {
		scope.Authors = rapid.SliceOfNDistinct(rapid.SampledFrom([]memory.UserID{ada, ben, 4711}), 1, 2, rapid.ID).Draw(t, "authors")
	}
	return scope
}

func drawWords(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom(append(words, "zeppelin")), 1, 3).Draw(t, "words")
}

func drawIDs(t *rapid.T) []memory.MessageID {
	var ids []memory.MessageID
	for _, n := range rapid.SliceOfN(rapid.IntRange(-2, slots+1), 0, 6).Draw(t, "ids") {
		ids = append(ids, slotID(n)+memory.MessageID(n%2))
	}
	return ids
}
