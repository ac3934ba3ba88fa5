package memorytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"

	"pgregory.net/rapid"
)

// The world of random operations: few places and people, so that operations meet.
var (
	channels = []memory.ChannelID{general, staff, thread, local}
	ofGuild  = channels[:3]
	authors  = []memory.UserID{ada, ben, 503, 504}
	guilds   = []memory.GuildID{guild, memory.LocalGuild}
	words    = []string{"ferry", "noon", "harbour", "tomatoes", "printer", "chess", "flat", "the", "東京", "雨",
		"🎉", "running", "O'Brien",
		"\"AND\""}
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

// version is the v-th version of a message: what can change depends on v alone, what can't on the message.
func version(channel memory.ChannelID, slot, v int) memory.Message {
	m := said(channel, slotID(slot), authors[slot*7/3%len(authors)], content(channel, slot, v))
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
		return deletes(channel, ids...)
	case 1, 2:
		if v > 0 {
			return memory.Edited{Guild: m.Guild, Channel: channel, ID: m.ID, Content: m.Content, At: m.Edited}
		}
	}
	return memory.Posted{Message: m, Live: rapid.Bool().Draw(t, "live")}
}

// drawMinute is one of a few, so that the same one is drawn again. Of each kind of event two that are told at
// the same time are the same.
func drawMinute(t *rapid.T) int { return rapid.IntRange(0, 9).Draw(t, "minute") }

// drawPeople is something that somebody decides, or that is told of them.
func drawPeople(t *rapid.T) memory.Event {
	who, where := rapid.SampledFrom(authors).Draw(t, "who"), rapid.SampledFrom(guilds).Draw(t, "where")
	switch rapid.IntRange(0, 9).Draw(t, "people") {
	case 0:
		return memory.PersonLeft{Guild: where, User: who}
	case 1:
		n := drawMinute(t)
		return memory.Opted{Guild: where, User: who, Out: n%3 == 1, At: minute(n)}
	case 2:
		return memory.FactGone{Guild: guild, User: ada, Fact: int64(rapid.IntRange(1, 8).Draw(t, "fact"))}
	case 3, 4:
		return drawFact(t)
	case 7:
		return memory.LoreGone{Guild: where, ID: int64(rapid.IntRange(1, 6).Draw(t, "lore"))}
	case 8, 9:
		return drawLore(t)
	}
	return drawStar(t)
}

func drawStar(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	n := drawMinute(t)
	return stars(channel, slotID(slot), n%2 == 1, n)
}

// drawFact is one of a few facts; what it says depends on its id alone.
func drawFact(t *rapid.T) memory.Event {
	n := rapid.IntRange(1, 8).Draw(t, "fact")
	e := facts(authors[n%len(authors)], int64(n), fmt.Sprintf("fact %d", n))
	e.Fact.Alias, e.Fact.By = n%3 == 0, authors[n%2]
	if n > 2 {
		e.Fact.Channel, e.Fact.Message = channels[n%2], slotID(n%4)
	}
	return e
}

// drawLore is a version of one of a few pieces of lore. What it says depends on its id and time alone.
func drawLore(t *rapid.T) memory.Event {
	n, v := rapid.IntRange(1, 6).Draw(t, "lore"), drawMinute(t)
	// Who told it where is the same in all versions: those that are forgotten must be the older ones.
	channel := []memory.ChannelID{0, general, staff, thread}[n*n%7%4]
	if n%3 == 0 {
		channel = local
	}
	l := note(int64(n), []memory.UserID{0, ada, ben, 503}[n%4], channel, v)
	l.Text, l.Own = fmt.Sprintf("version %d of %d", v, n), nil
	if v%2 == 0 {
		l.Own = []string{fmt.Sprintf("the %dth", n)}
	}
	if n > 2 {
		l.Sources = []memory.Spot{spot(general, slotID(n%4)), spot(staff, slotID(v%3))}[:1+v%2]
	}
	return memory.LoreTold{Lore: l}
}

// drawHearing is something about what is to be heard and kept of a guild.
func drawHearing(t *rapid.T) memory.Event {
	channel, slot := rapid.SampledFrom(ofGuild).Draw(t, "channel"), rapid.IntRange(0, slots-1).Draw(t, "slot")
	gap := memory.Gap{Guild: guild, Channel: channel, Until: slotID(slot - slot%4 + 4),
		After: slotID(slot - slot%4), Past: slot%3 == 0}
	switch rapid.IntRange(0, 11).Draw(t, "hearing") {
	case 0:
		return memory.Heard{Guild: guild, Channel: channel, ID: slotID(slot)}
	case 1, 2:
		return memory.GapFound{Gap: gap}
	case 3:
		return drawSweep(t, channel, gap, slot)
	case 4:
		return memory.Asked{Guild: guild, Channel: channel, Message: slotID(slot)}
	case 5:
		return memory.GuildLeft{Guild: guild, At: minute(drawMinute(t))}
	case 6:
		n := drawMinute(t)
		return memory.Learn{Guild: guild, User: rapid.SampledFrom([]memory.UserID{0, ada}).Draw(t,
			"learn of"), On: n%3 == 1, At: minute(n)}
	case 7:
		return drawSetting(t)
	case 8:
		return drawLimit(t)
	case 9:
		return memory.Learned{Guild: guild, Channel: channel, Until: slotID(slot)}
	}
	n := drawMinute(t)
	choice := []memory.Choice{memory.Undecided, memory.Remember, memory.RememberPublic, memory.Ignore}[n%4]
	return chose(rapid.SampledFrom([]memory.ChannelID{0, channel}).Draw(t, "chosen"), choice, n)
}

// drawSweep is something about what is fetched, and compared.
func drawSweep(t *rapid.T, channel memory.ChannelID, gap memory.Gap, slot int) memory.Event {
	switch rapid.IntRange(0, 5).Draw(t, "sweep") {
	case 0:
		return memory.ShutOut{Guild: guild, Channel: channel}
	case 1, 2:
		return memory.Absent{Guild: guild, Channel: rapid.SampledFrom([]memory.ChannelID{0, channel}).Draw(t, "of"),
			At: rapid.SampledFrom([]time.Time{sweptAt, began}).Draw(t, "absent at")}
	case 3:
		gap.Sweep, gap.Until = true, rapid.SampledFrom(
			[]memory.MessageID{memory.FirstMessageID(sweptAt.Add(time.Millisecond)),
				memory.FirstMessageID(sweptAt.Add(-memory.SweptFirst))}).Draw(t, "until")
		return memory.GapFilled{Gap: gap,
			Through: rapid.SampledFrom([]memory.MessageID{slotID(slot), gap.Until}).Draw(t, "through")}
	}
	return memory.GapFilled{Gap: gap, Through: slotID(slot + rapid.IntRange(0, 4).Draw(t, "through"))}
}

// sweptAt is when nobody had told of changes: half of the slots are from within SweptFirst before.
var sweptAt = slotID(slots / 2).Time().Add(memory.SweptFirst)

// drawSetting is a setting, or none any more, of the guild, of one of two channels, or of one that nothing
// else tells of.
func drawSetting(t *rapid.T) memory.Event {
	n := drawMinute(t)
	channel := rapid.SampledFrom([]memory.ChannelID{general, general, thread, nowhere, 0}).Draw(t, "of channel")
	key := rapid.SampledFrom([]memory.Setting{memory.SettingMode, memory.SettingPersona,
		memory.SettingAnswers}).Draw(t, "key")
	return sets(channel, key, []string{"", "search", "analysis"}[n%3], n)
}

// drawLimit is a limit of one of two roles, or none any more.
func drawLimit(t *rapid.T) memory.Event {
	n := drawMinute(t)
	return limits(rapid.SampledFrom([]memory.RoleID{0, 951}).Draw(t, "of role"),
		[]int{memory.AsConfigured, memory.Unlimited, 5}[n%3],
		memory.AsConfigured, n)
}

// drawSpent is what one of a few questions took.
func drawSpent(t *rapid.T) memory.Event {
	n := rapid.IntRange(0, slots-1).Draw(t, "asked")
	return memory.Spent{Guild: []memory.GuildID{guild, guild, memory.LocalGuild}[n%3], User: authors[n/3%3],
		Question: slotID(n),
		Tokens:   rapid.IntRange(0, 3).Draw(t, "tokens")}
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
		f.Before = slotID(rapid.IntRange(0, slots/2).Draw(t, "before")).Time().Add(
			time.Duration(rapid.IntRange(0, 1).Draw(t,
				"and")) * time.Millisecond)
	}
	return f
}

// drawStructure is something that happens to a guild, or to somebody in it.
func drawStructure(t *rapid.T) memory.Event {
	channel := rapid.SampledFrom(ofGuild).Draw(t, "channel")
	switch rapid.IntRange(0, 6).Draw(t, "structure") {
	case 0:
		g := memory.Guild{ID: guild, Name: rapid.SampledFrom([]string{"Town", "City"}).Draw(t, "name"), Owner: ada,
			Self: rapid.SampledFrom([]memory.UserID{0, ben}).Draw(t, "self")}
		g.Roles = []memory.Role{{ID: 900, Name: "@everyone"}, drawRole(t)}
		for _, id := range ofGuild {
			if rapid.Bool().Draw(t, "listed") {
				g.Channels = append(g.Channels, drawChannel(t, id))
			}
		}
		return memory.GuildSeen{Guild: g, At: minute(drawMinute(t))}
	case 1:
		return memory.ChannelSeen{Channel: drawChannel(t, channel)}
	case 2:
		return memory.ChannelGone{Guild: guild, Channel: channel}
	case 3:
		return memory.RoleSeen{Guild: guild, Role: drawRole(t)}
	case 4:
		return memory.RoleGone{Guild: guild, Role: rapid.SampledFrom([]memory.RoleID{900, 951, 952}).Draw(t, "gone")}
	case 5:
		return memory.GuildNamed{Guild: rapid.SampledFrom(guilds).Draw(t, "guild"), Name: "Old Town"}
	}
	p := memory.Person{
		ID: rapid.SampledFrom(authors).Draw(t, "who"), Guild: rapid.SampledFrom(guilds).Draw(t, "guild"),
		Username: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t,
			"username"), Name: rapid.SampledFrom([]string{"", "A"}).Draw(t, "name"),
		Nick:       rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "nick"),
		RolesKnown: rapid.Bool().Draw(t, "known"), Bot: rapid.Bool().Draw(t, "bot"),
	}
	if p.RolesKnown {
		p.Roles = []memory.RoleID{drawRole(t).ID}
	}
	return memory.PersonSeen{Person: p,
		Said: rapid.SampledFrom([]memory.MessageID{0, slotID(1), slotID(slots)}).Draw(t, "said")}
}

func drawChannel(t *rapid.T, id memory.ChannelID) memory.Channel {
	c := memory.Channel{
		ID: id, Guild: guild, Name: rapid.SampledFrom([]string{"quay", "pier"}).Draw(t,
			"name"), AgeLimited: rapid.Bool().Draw(t, "aged"),
		Unplaced: rapid.Bool().Draw(t, "unplaced"),
	}
	if id == thread {
		c.Kind, c.Parent = memory.PublicThread, general
		c.Owner = rapid.SampledFrom([]memory.UserID{0, ada, ben}).Draw(t, "owner")
	} else if rapid.Bool().Draw(t, "closed") {
		c.Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, {Role: 951, Allow: memory.Connect},
			{User: 951, Allow: memory.ViewChannel}}
	}
	return c
}

func drawRole(t *rapid.T) memory.Role {
	return memory.Role{
		ID:   rapid.SampledFrom([]memory.RoleID{951, 952}).Draw(t, "role"),
		Name: rapid.SampledFrom([]string{"crew", "guests"}).Draw(t, "role name"), Permissions: memory.Connect,
	}
}

// drawCall is one of many; what it says depends on its name alone.
func drawCall(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	n := rapid.IntRange(0, 11).Draw(t, "call")
	e := called(fmt.Sprintf("%d-%d-%d", channel, slot, n), channel, 0, version(channel, slot, 0).Author, 60*(slot+n%3))
	r := &e.Record
	r.Speaker, r.Method = []memory.Speaker{memory.SpeakerUser, memory.SpeakerAgent, memory.SpeakerTool}[n%3],
		[]string{"ask", "answer", "search_memory"}[n%3]
	if n%4 > 0 {
		r.Question = slotID(slot)
	}
	if n%4 > 1 {
		r.Answer = slotID(slots) + memory.MessageID(100*(slot%3+1))
	}
	if n%5 == 4 {
		r.Args, r.Kwargs = []any{slot}, map[string]any{"user": authors[n%len(authors)]}
	}
	if n == 11 {
		r.Timestamp = later.Add(time.Hour)
		r.More = map[string]json.RawMessage{"extra": json.RawMessage("[1]")}
	}
	return e
}

// drawSummary sums up a stretch, mostly as it is.
func (m *machine) drawSummary(t *rapid.T) memory.Event {
	channel, until := drawSlot(t)
	after := rapid.IntRange(-1, until-1).Draw(t, "after")
	e := memory.Summarised{Guild: guildOf(channel), Channel: channel, After: slotID(after), Until: slotID(until)}
	if rapid.IntRange(0, 3).Draw(t, "evicts?") == 0 {
		e.Evicted = []memory.MessageID{slotID(rapid.IntRange(0, slots-1).Draw(t, "evicted"))}
	}
	if sources := m.drawSources(t, channel, after, until); len(sources) > 0 {
		made := drawMinute(t)
		s := summed(channel, e.Until, made)
		s.Text, s.Sources = fmt.Sprintf("summary %d of %d", made, until), sources
		s.Kind, s.Topics = memory.SummaryKinds()[until%len(memory.SummaryKinds())], words[:until%3]
		e.Summary = &s
	}
	return e
}

// drawSources are mostly of messages that are there, as they are.
func (m *machine) drawSources(t *rapid.T, channel memory.ChannelID, after, until int) (sources []memory.SummarySource) {
	for n := after + 1; n <= until && len(sources) < 3; n++ {
		now, ok := m.model.message(place{channel, slotID(n)})
		if !ok && rapid.IntRange(0, 7).Draw(t, "though it isn't there?") > 0 ||
			rapid.IntRange(0, 2).Draw(t, "left out?") == 0 {
			continue
		}
		source := memory.SummarySource{Message: slotID(n), Edited: editedAt(now)}
		if rapid.IntRange(0, 7).Draw(t, "another version?") == 0 {
			source.Edited = editedAt(version(channel, n, rapid.IntRange(0, versions-1).Draw(t, "version")))
		}
		sources = append(sources, source)
	}
	return sources
}

// drawUsedSummary is mostly none, or one that is there.
func (m *machine) drawUsedSummary(t *rapid.T, channel memory.ChannelID) []memory.Source {
	if rapid.Bool().Draw(t, "from a summary?") {
		return nil
	}
	for _, at := range sorted(slices.Collect(maps.Keys(m.model.summaries)), func(at place) memory.MessageID {
		return at.id
	}) {
		if s := m.model.summaries[at]; at.channel == channel &&
			(s.there() || rapid.IntRange(0, 7).Draw(t, "though it is gone?") == 0) {
			return []memory.Source{{Kind: memory.SourceSummary, Channel: channel, ID: int64(at.id),
				Version: s.Made.UnixMilli()}}
		}
	}
	return nil
}

// drawCondensed condenses what was said in a channel, mostly as it is, or says that a session is over.
func (m *machine) drawCondensed(t *rapid.T) memory.Event {
	channel, until := drawSlot(t)
	if rapid.IntRange(0, 7).Draw(t, "over?") == 0 {
		return memory.CondensedGone{Guild: guildOf(channel), Channel: channel, Until: slotID(until)}
	}
	sources := m.drawSources(t, channel, -1, until)
	if len(sources) == 0 {
		return nil
	}
	made := drawMinute(t)
	e := condenses(channel, fmt.Sprintf("condensed %d of %d", made, until), made, sources[len(sources)-1].Message)
	e.Condensed.Sources = slices.Clone(sources)
	return e
}

// drawPrompt is of one of a few moments, or none.
func drawPrompt(t *rapid.T, answer memory.MessageID) *memory.Prompt {
	if rapid.IntRange(0, 4).Draw(t, "no prompt?") == 0 {
		return nil
	}
	return sent(rapid.SampledFrom([]time.Time{minute(5), built, later.Add(time.Hour)}).Draw(t, "built"),
		answer.String()+rapid.SampledFrom([]string{"", " in #quay", " in #pier"}).Draw(t, "where"))
}

// drawScope is of some channels, and now and then of a time.
func drawScope(t *rapid.T) memory.Scope {
	scope := in(rapid.SliceOfNDistinct(rapid.SampledFrom(append(channels, nowhere)), 0, 4, rapid.ID).Draw(t,
		"scope")...)
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
		scope.Authors = rapid.SliceOfNDistinct(rapid.SampledFrom([]memory.UserID{ada, ben, 4711}), 1, 2,
			rapid.ID).Draw(t, "authors")
	}
	return scope
}

func drawTerms(t *rapid.T) []string {
	return text.Terms(strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "zeppelin")), 1, 3).Draw(t,
		"words"), " "))
}

func drawIDs(t *rapid.T) []memory.MessageID {
	var ids []memory.MessageID
	for _, n := range rapid.SliceOfN(rapid.IntRange(-2, slots+1), 0, 6).Draw(t, "ids") {
		ids = append(ids, slotID(n)+memory.MessageID(n%2))
	}
	return ids
}
