package memorytest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"

	"pgregory.net/rapid"
)

// The world of random operations is small, so that operations meet.
var (
	channels = []memory.ChannelID{general, staff, thread, local}
	ofGuild  = channels[:3]
	authors  = []memory.UserID{ada, ben, 503, 504}
	guilds   = []memory.GuildID{guild, memory.LocalGuild}
	words    = []string{"ferry", "noon", "harbour", "tomatoes", "printer", "chess", "flat", "the", "東京", "雨",
		"🎉", "running", "O'Brien", "\"AND\""}
)

const (
	slots    = 24 // messages a channel can have
	versions = 5  // of each message
)

// slotID is the id of a channel's n-th message: in bursts, some in the same millisecond.
func slotID(n int) memory.MessageID {
	at := began.Add(time.Duration(n-n/4%2)*40*time.Second + time.Duration(n/6)*20*time.Minute)
	return memory.FirstMessageID(at) + memory.MessageID(n)
}

// version is the v-th version of a message. What an edit can change depends on v alone, the rest on the
// message.
func version(channel memory.ChannelID, slot, v int) memory.Message {
	m := said(channel, slotID(slot), authors[slot*7/3%len(authors)], content(channel, slot, v))
	m.Kind = map[memory.UserID]memory.Kind{503: memory.FromBot, 504: memory.FromWebhook}[m.Author]
	if slot%5 == 4 {
		m.ReplyTo = slotID(slot - 3)
	}
	if v > 0 {
		m.Edited = began.Add(24*time.Hour + time.Duration(v)*time.Second)
	}
	if slot%4 == 1 {
		m.Original = originalOf(channel, slot, v)
	}
	if mix := slot + v; mix%3 == 0 {
		m.Files = []memory.File{{Name: fmt.Sprintf("chess%d.png", v), ID: int64(1 + mix%2), Kind: memory.ImageFile}}
		m.Mentions = []memory.UserID{authors[v%len(authors)]}
		m.Starred = v%2 == 1
	}
	return m
}

// originalOf is what version v of a message copies: an earlier message, mostly of another channel, which may be a copy
// itself.
func originalOf(channel memory.ChannelID, slot, v int) memory.Original {
	from := []memory.ChannelID{general, staff, thread, local, general}[slot*3%5]
	o := memory.Original{Guild: guildOf(from), Channel: from, Message: slotID(slot - slot%3 - 1)}
	if v > 0 {
		o.Version = version(from, 0, v).Edited.UnixMilli()
	}
	return o
}

func content(channel memory.ChannelID, slot, v int) string {
	n := int(channel)*31 + slot*17 + v*5
	var some []string
	for i := range n%4 + v%2 {
		some = append(some, words[(n/3+i*i+i*v)%len(words)])
	}
	return strings.Join(some, " ")
}

// drawSlot prefers a few messages, so that much happens to them.
func drawSlot(t *rapid.T) (memory.ChannelID, int) {
	if coin(t, "one of few") {
		return pick(t, "channel", channels[:2]...), between(t, "slot", 0, 2)
	}
	return pick(t, "channel", channels...), between(t, "slot", 0, slots-1)
}

func drawMessageEvent(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	v := between(t, "version", 0, versions-1)
	m := version(channel, slot, v)
	switch between(t, "event", 0, 9) {
	case 0:
		ids := []memory.MessageID{m.ID}
		if coin(t, "two") {
			ids = append(ids, slotID(between(t, "second", 0, slots-1)))
		}
		return deletes(channel, ids...)
	case 1, 2:
		if v > 0 {
			return memory.Edited{Guild: m.Guild, Channel: channel, ID: m.ID, Content: m.Content, At: m.Edited,
				Unlogged: between(t, "unlogged?", 0, 7) == 0}
		}
	case 3:
		return memory.Told{Guild: m.Guild, Channel: channel, ID: m.ID, File: int64(1 + v%2), Text: words[(slot+v)%len(words)]}
	}
	if of := between(t, "links", 0, 7); of < 2 { // a version's previews come later, and not all at once
		m.Links = []memory.Link{{Title: fmt.Sprintf("%s %d", words[(slot+of)%len(words)], of), Description: words[v%len(words)]}}
	}
	return memory.Posted{Message: m, Live: coin(t, "live")}
}

// drawMinute draws one of a few, so that times repeat. Two events of a kind with the same time are equal.
func drawMinute(t *rapid.T) int { return between(t, "minute", 0, 9) }

func drawPeople(t *rapid.T) memory.Event {
	who, where := pick(t, "who", authors...), pick(t, "where", guilds...)
	switch between(t, "people", 0, 9) {
	case 0:
		return memory.PersonLeft{Guild: where, User: who}
	case 1:
		n := drawMinute(t)
		return memory.Opted{Guild: where, User: who, Out: n%3 == 1, At: minute(n)}
	case 2:
		return memory.FactGone{Guild: guild, User: ada, Fact: int64(between(t, "fact", 1, 8))}
	case 3, 4:
		return drawFact(t)
	case 5:
		n := drawMinute(t)
		return memory.Connected{Guild: where, User: who, Hash: memory.TokenHash{byte(n % 3)}, At: minute(n)}
	case 6:
		n := drawMinute(t)
		return memory.ConnectionUsed{Guild: where, User: who, Hash: memory.TokenHash{byte(1 + n%2)}, Uses: n, At: minute(n)}
	case 7:
		return memory.LoreGone{Guild: where, ID: int64(between(t, "lore", 1, 6))}
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

// drawFact draws one of a few facts. Its text depends on its id alone.
func drawFact(t *rapid.T) memory.Event {
	n := between(t, "fact", 1, 8)
	e := facts(authors[n%len(authors)], int64(n), fmt.Sprintf("fact %d", n))
	e.Fact.Alias, e.Fact.By = n%3 == 0, authors[n%2]
	if n > 2 {
		e.Fact.Channel, e.Fact.Message = channels[n%2], slotID(n%4)
	}
	return e
}

// drawLore draws a version of one of a few pieces of lore. Its text depends on its id and time alone.
func drawLore(t *rapid.T) memory.Event {
	n, v := between(t, "lore", 1, 6), drawMinute(t)
	// All versions have the same teller and channel: the forgotten versions must be the older ones.
	channel := []memory.ChannelID{0, general, staff, thread}[n*n%7%4]
	if n%3 == 0 {
		channel = local
	}
	l := note(int64(n), []memory.UserID{0, ada, ben, 503}[n%4], channel, v)
	l.Text, l.Own = fmt.Sprintf("version %d of %d", v, n), nil
	if v%2 == 0 {
		l.Own = []string{fmt.Sprintf("the %dth", n)}
	}
	l.Scheduled = n == 5
	if n > 2 {
		l.Sources = []memory.MessageRef{spot(general, slotID(n%4)), spot(staff, slotID(v%3))}[:1+v%2]
	}
	return memory.LoreTold{Lore: l}
}

func drawHearing(t *rapid.T) memory.Event {
	channel, slot := pick(t, "channel", ofGuild...), between(t, "slot", 0, slots-1)
	gap := memory.Gap{Guild: guild, Channel: channel, Until: slotID(slot - slot%4 + 4),
		After: slotID(slot - slot%4), Past: slot%3 == 0}
	switch between(t, "hearing", 0, 11) {
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
		return memory.Learn{Guild: guild, User: pick(t, "learn of", 0, ada), On: n%3 == 1, At: minute(n)}
	case 7:
		return drawSetting(t)
	case 8:
		return drawLimit(t)
	case 9:
		return memory.Learned{Guild: guild, Channel: channel, Until: slotID(slot)}
	}
	n := drawMinute(t)
	choice := []memory.Choice{memory.Undecided, memory.Remember, memory.RememberPublic, memory.Ignore}[n%4]
	e := chose(pick(t, "chosen", 0, channel), choice, n)
	e.By = choosers[n%3]
	return e
}

func drawSweep(t *rapid.T, channel memory.ChannelID, gap memory.Gap, slot int) memory.Event {
	switch between(t, "sweep", 0, 5) {
	case 0:
		return memory.ShutOut{Guild: guild, Channel: channel}
	case 1, 2:
		of, at := pick(t, "of", 0, channel), pick(t, "absent at", sweptAt, began)
		return memory.Absent{Guild: guild, Channel: of, At: at}
	case 3:
		until := pick(t, "until", sweptAt.Add(time.Millisecond), sweptAt.Add(-memory.SweptFirst))
		gap.Sweep, gap.Until = true, memory.FirstMessageID(until)
		return memory.GapFilled{Gap: gap, Through: pick(t, "through", slotID(slot), gap.Until)}
	}
	return memory.GapFilled{Gap: gap, Through: slotID(slot + between(t, "through", 0, 4))}
}

// sweptAt is the time of an Absent: half of the slots lie within SweptFirst before it.
var sweptAt = slotID(slots / 2).Time().Add(memory.SweptFirst)

// drawSetting draws a setting, or its removal; one channel is otherwise unknown.
func drawSetting(t *rapid.T) memory.Event {
	n := drawMinute(t)
	channel := pick(t, "of channel", general, general, thread, nowhere, 0)
	key := pick(t, "key", memory.SettingMode, memory.SettingPersona, memory.SettingAnswers,
		memory.SettingBots)
	e := sets(channel, key, []string{"", "search", "analysis"}[n%3], n)
	e.By = choosers[n%3]
	return e
}

// choosers are who chooses in a minute: two choices of the same time are equal.
var choosers = []memory.UserID{0, ada, ben}

func drawLimit(t *rapid.T) memory.Event {
	n := drawMinute(t)
	messages := []int{memory.AsConfigured, memory.Unlimited, 5}[n%3]
	e := limits(pick[memory.RoleID](t, "of role", 0, 951), messages, memory.AsConfigured, n)
	e.By = choosers[n%3]
	return e
}

func drawSpent(t *rapid.T) memory.Event {
	n := between(t, "asked", 0, slots-1)
	return memory.Spent{Guild: []memory.GuildID{guild, guild, memory.LocalGuild}[n%3], User: authors[n/3%3],
		Question: slotID(n), Tokens: between(t, "tokens", 0, 3)}
}

// drawForgetting mostly selects little.
func drawForgetting(t *rapid.T) memory.Forgetting {
	f := memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: later}
	switch between(t, "where", 0, 9) {
	case 0:
		f.Guild = memory.LocalGuild
	case 1:
		f.Guild = memory.Everywhere
	}
	kind := between(t, "forgetting", 0, 15)
	if kind == 0 {
		f.Why = pick(t, "why", memory.WhyLeft, memory.WhyPurge)
		return f // everything
	}
	if kind%4 == 1 || kind > 8 {
		f.User = pick(t, "who", authors...)
	}
	if kind%4 == 2 {
		f.Channel = pick(t, "channel", channels...)
	}
	if kind%4 != 1 {
		after := time.Duration(between(t, "and", 0, 1)) * time.Millisecond
		f.Before = slotID(between(t, "before", 0, slots/2)).Time().Add(after)
	}
	return f
}

func drawStructure(t *rapid.T) memory.Event {
	channel := pick(t, "channel", ofGuild...)
	switch between(t, "structure", 0, 6) {
	case 0:
		g := memory.Guild{ID: guild, Name: pick(t, "name", "Town", "City"), Owner: ada,
			Self: pick(t, "self", 0, ben)}
		g.Roles = []memory.Role{{ID: 900, Name: "@everyone"}, drawRole(t)}
		for _, id := range ofGuild {
			if coin(t, "listed") {
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
		return memory.RoleGone{Guild: guild, Role: pick[memory.RoleID](t, "gone", 900, 951, 952)}
	case 5:
		return memory.GuildNamed{Guild: pick(t, "guild", guilds...), Name: "Old Town"}
	}
	p := memory.Person{
		ID: pick(t, "who", authors...), Guild: pick(t, "guild", guilds...),
		Username: pick(t, "username", "", "a", "b"), Name: pick(t, "name", "", "A"),
		Nick:       pick(t, "nick", "", "n", "m"),
		RolesKnown: coin(t, "known"), Bot: coin(t, "bot"),
	}
	if p.RolesKnown {
		p.Roles = pick(t, "roles", nil, []memory.RoleID{951}, []memory.RoleID{952})
	}
	return memory.PersonSeen{Person: p, Said: pick(t, "said", 0, slotID(1), slotID(slots))}
}

func drawChannel(t *rapid.T, id memory.ChannelID) memory.Channel {
	c := memory.Channel{ID: id, Guild: guild, Name: pick(t, "name", "quay", "pier"),
		Tags:       pick(t, "tags", nil, []memory.Tag{{ID: 5, Name: "solved"}}),
		AgeLimited: coin(t, "aged"), Unplaced: coin(t, "unplaced")}
	if id == thread {
		c.Kind, c.Parent = memory.PublicThread, general
		c.Owner = pick(t, "owner", 0, ada, ben)
	} else if coin(t, "closed") {
		c.Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, {Role: 951, Allow: memory.Connect},
			{User: 951, Allow: memory.ViewChannel}}
	}
	return c
}

func drawRole(t *rapid.T) memory.Role {
	return memory.Role{ID: pick[memory.RoleID](t, "role", 951, 952), Name: pick(t, "role name", "crew", "guests"),
		Permissions: memory.Connect}
}

// drawCall draws one of many calls. Its content depends on its name alone.
func drawCall(t *rapid.T) memory.Event {
	channel, slot := drawSlot(t)
	n := between(t, "call", 0, 11)
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

// drawPrompt draws a prompt of one of a few moments, or none.
func drawPrompt(t *rapid.T, answer memory.MessageID) *memory.Prompt {
	if between(t, "no prompt?", 0, 4) == 0 {
		return nil
	}
	return sent(pick(t, "built", minute(5), built, later.Add(time.Hour)),
		answer.String()+pick(t, "where", "", " in #quay", " in #pier"))
}

func drawScope(t *rapid.T) memory.Scope {
	somewhere := rapid.SampledFrom(append(channels, nowhere))
	scope := in(rapid.SliceOfNDistinct(somewhere, 0, 4, rapid.ID).Draw(t, "scope")...)
	bound := func(name string) time.Time {
		at := slotID(between(t, name, 0, slots-1)).Time()
		return at.Add(pick(t, name+" moved", 0, 1, -1, time.Second))
	}
	if between(t, "since?", 0, 3) == 0 {
		scope.Since = bound("since")
	}
	if between(t, "until?", 0, 3) == 0 {
		scope.Until = bound("until")
	}
	if between(t, "authors?", 0, 3) == 0 {
		scope.Authors = rapid.SliceOfNDistinct(rapid.SampledFrom([]memory.UserID{ada, ben, 4711}), 1, 2,
			rapid.ID).Draw(t, "authors")
	}
	return scope
}

func drawTerms(t *rapid.T) []string {
	some := rapid.SliceOfN(rapid.SampledFrom(append(words, "zeppelin")), 1, 3).Draw(t, "words")
	return text.Terms(strings.Join(some, " "))
}

func drawIDs(t *rapid.T) []memory.MessageID {
	var ids []memory.MessageID
	for _, n := range rapid.SliceOfN(rapid.IntRange(-2, slots+1), 0, 6).Draw(t, "ids") {
		ids = append(ids, slotID(n)+memory.MessageID(n%2))
	}
	return ids
}

func coin(t *rapid.T, what string) bool { return rapid.Bool().Draw(t, what) }

func between(t *rapid.T, what string, least, most int) int {
	return rapid.IntRange(least, most).Draw(t, what)
}

func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }
