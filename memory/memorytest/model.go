package memorytest

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

type place struct {
	channel memory.ChannelID
	id      memory.MessageID
}

// inGuild is an id that is unique in its guild.
type inGuild struct {
	guild memory.GuildID
	id    int64
}

// entry is everything heard of a message: the newest whole version, the newest edit, the last star, and
// whether it was deleted.
type entry struct {
	posted  *memory.Message
	edit    *memory.Edited
	star    memory.Starred
	deleted bool
	taken   bool // with a source, not directly
	// anew says that it was rewritten. Versions edited before since are gone; nil while since is unknown.
	anew  bool
	since *int64
	// emptied is the version of a copy that lost its text with the original; nil: none did.
	emptied *int64
}

type channel struct {
	memory.Channel
	seen              bool // known by more than a message
	heard, summarised memory.MessageID
	condensed         memory.Condensed
}

// model keeps every event, and answers every question by looking at all of them.
type model struct {
	entries map[place]*entry
	names   map[place]string
	// messages not logged because of their author or channel, of which nothing is kept
	dropped map[place]memory.Opted
	spoken  map[string]bool // every term ever said
	gaps    map[gapKey]memory.Gap
	open    map[place]memory.OpenQuestion

	guilds      map[memory.GuildID]*memory.Guild // without channels
	channels    map[memory.ChannelID]*channel
	people      map[inGuild]memory.Person
	decided     map[memory.Event]decision     // by the event without the decision
	spent       map[inGuild]memory.Spent      // by question
	connections map[inGuild]memory.Connection // by user

	facts     map[inGuild]*fact
	lore      map[inGuild]*lore
	summaries map[place]*summary // by channel and last message
	records   []memory.Record    // in order of arrival
	traces    map[place]answer   // without prompts
	prompts   map[place]memory.Prompt
	shown     map[place]answer // deleted, but still shown by Discord: Answer and Parts are what it shows

	forgettings []*forgetting
	withdrawn   map[place]memory.Withdrawn
	lost        map[string]int // deleted things, by kind
}

func newModel() *model {
	return &model{
		entries: map[place]*entry{}, names: map[place]string{}, dropped: map[place]memory.Opted{},
		spoken: map[string]bool{}, gaps: map[gapKey]memory.Gap{}, open: map[place]memory.OpenQuestion{},
		guilds: map[memory.GuildID]*memory.Guild{}, channels: map[memory.ChannelID]*channel{},
		people: map[inGuild]memory.Person{}, decided: map[memory.Event]decision{}, spent: map[inGuild]memory.Spent{},
		connections: map[inGuild]memory.Connection{},
		facts:       map[inGuild]*fact{}, lore: map[inGuild]*lore{}, summaries: map[place]*summary{},
		traces: map[place]answer{}, prompts: map[place]memory.Prompt{}, shown: map[place]answer{},
		withdrawn: map[place]memory.Withdrawn{}, lost: map[string]int{},
	}
}

// modelRules has what the model does with each type of event.
var modelRules = byEvent(messageRules, answerRules, derivedRules, forgettingRules, guildRules, personRules, gapRules)

func byEvent(of ...[]modelRule) map[reflect.Type]modelRule {
	all := map[reflect.Type]modelRule{}
	for _, r := range slices.Concat(of...) {
		all[r.event] = r
	}
	return all
}

func (m *model) apply(events ...memory.Event) {
	for _, e := range events {
		modelRules[reflect.TypeOf(e)].apply(m, e)
	}
}

func (m *model) speak(what string) {
	for _, term := range text.Terms(what) {
		m.spoken[term] = true
	}
}

func (m *model) entry(at place) *entry {
	if m.entries[at] == nil {
		m.entries[at] = &entry{}
	}
	return m.entries[at]
}

// delete deletes a message and what was derived from it. most is going.hide for what repeats it.
func (m *model) delete(at place, most int) {
	*m.entry(at) = entry{deleted: true}
	delete(m.names, at)
	delete(m.open, at)
	m.unshow(at)
	if a, known := m.traces[at]; known {
		m.dropTrace(at)
		if m.stand(&a.Trace) {
			m.traces[place{at.channel, a.Answer}] = a
		}
	}
	m.invalidate(fromMessage(at, most), at)
}

func (m *model) name(n memory.ExternalIDSeen) {
	at := place{n.Channel, n.ID}
	if _, there := m.message(at); !there || m.names[at] != "" {
		return
	}
	for other, name := range m.names {
		if other.channel == n.Channel && name == n.ExternalID {
			return
		}
	}
	m.names[at] = n.ExternalID
}

func (m *model) log(channel memory.ChannelID) []memory.Message {
	var all []memory.Message
	for at := range m.entries {
		if message, ok := m.message(at); ok && at.channel == channel {
			all = append(all, message)
		}
	}
	return byID(all)
}

func byID(all []memory.Message) []memory.Message {
	return sorted(all, func(m memory.Message) memory.MessageID { return m.ID })
}

func (m *model) around(channel memory.ChannelID, ids []memory.MessageID, before, after int) []memory.Message {
	log := m.log(channel)
	wanted := map[memory.MessageID]bool{}
	for _, id := range ids {
		first, end := 0, 0
		for _, message := range log {
			if message.ID < id {
				first++
			}
			if message.ID <= id {
				end++
			}
		}
		for _, message := range log[max(0, first-before):min(len(log), end+after)] {
			wanted[message.ID] = true
		}
	}
	return slices.DeleteFunc(log, func(m memory.Message) bool { return !wanted[m.ID] })
}

// stretches returns a channel's messages round ids, with reach before and after each; those that meet are
// one.
func (m *model) stretches(channel memory.ChannelID, reach map[memory.MessageRef]int) [][]memory.Message {
	read, follows := map[memory.MessageID]bool{}, map[memory.MessageID]bool{}
	for spot, n := range reach {
		if spot.Channel != channel {
			continue
		}
		for i, message := range m.around(channel, []memory.MessageID{spot.Message}, n, n) {
			read[message.ID] = true
			follows[message.ID] = follows[message.ID] || i > 0
		}
	}
	var stretches [][]memory.Message
	for _, message := range m.log(channel) {
		if last := len(stretches) - 1; read[message.ID] && follows[message.ID] {
			stretches[last] = append(stretches[last], message)
		} else if read[message.ID] {
			stretches = append(stretches, []memory.Message{message})
		}
	}
	return stretches
}

// inScope returns the messages in scope that can be recalled, in no order.
func (m *model) inScope(scope memory.Scope) []memory.Message {
	var all []memory.Message
	for at := range m.entries {
		message, ok := m.message(at)
		if ok && message.Kind.Recalled() && slices.Contains(scope.Channels, at.channel) && within(scope, message) {
			all = append(all, message)
		}
	}
	return all
}

func within(scope memory.Scope, m memory.Message) bool {
	at := m.Time()
	return (len(scope.Authors) == 0 || slices.Contains(scope.Authors, m.Author)) &&
		(scope.Since.IsZero() || !at.Before(scope.Since)) &&
		(scope.Until.IsZero() || at.Before(scope.Until))
}

func (m *model) presence(scope memory.Scope, users []memory.UserID) map[memory.UserID]memory.Presence {
	present := map[memory.UserID]memory.Presence{}
	for _, message := range byID(m.inScope(in(scope.Channels...))) {
		if slices.Contains(users, message.Author) {
			present[message.Author] = memory.Presence{Messages: present[message.Author].Messages + 1,
				Last: message.Time()}
		}
	}
	return present
}

// activity counts of each channel the newest limit messages between scope's times, or all.
func (m *model) activity(scope memory.Scope, byAuthor bool, limit int) (all []memory.Activity) {
	times := scope
	times.Authors = nil
	counts := map[memory.Activity]int{}
	for id := range m.channels {
		if !slices.Contains(scope.Channels, id) {
			continue
		}
		log := slices.DeleteFunc(m.log(id), func(message memory.Message) bool { return !within(times, message) })
		if limit > 0 {
			log = log[max(0, len(log)-limit):]
		}
		for _, message := range log {
			if !within(scope, message) {
				continue
			}
			of := memory.Activity{Day: message.Time().Truncate(24 * time.Hour)}
			if byAuthor {
				of.Author = message.Author
			}
			counts[of]++
		}
	}
	for of, n := range counts {
		of.Messages = n
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b memory.Activity) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Author, b.Author))
	})
	return all
}

// fullText returns the messages in scope that hold any of terms.
func (m *model) fullText(scope memory.Scope, terms []string) map[place]bool {
	found := map[place]bool{}
	for _, message := range m.inScope(scope) {
		if slices.ContainsFunc(text.Terms(message.Text()), func(t string) bool { return slices.Contains(terms, t) }) {
			found[place{message.Channel, message.ID}] = true
		}
	}
	return found
}

// starred returns the starred messages in scope, newest first.
func (m *model) starred(scope memory.Scope) []memory.MessageRef {
	var spots []memory.MessageRef
	for _, message := range m.inScope(scope) {
		if message.Starred {
			spots = append(spots, memory.MessageRef{Channel: message.Channel, Message: message.ID})
		}
	}
	sorted(spots, func(s memory.MessageRef) memory.ChannelID { return s.Channel })
	slices.SortStableFunc(spots, func(a, b memory.MessageRef) int { return cmp.Compare(b.Message, a.Message) })
	return spots
}

// frequencies counts in scope's channels, at all times.
func (m *model) frequencies(scope memory.Scope, terms []string) (messages int, counts []int) {
	always := in(scope.Channels...)
	for _, term := range terms {
		counts = append(counts, len(m.fullText(always, []string{term})))
	}
	return len(m.inScope(always)), counts
}

// decision is the latest decision by time.
type decision struct {
	at time.Time
	memory.Event
}

// decide keeps a decision, unless there is one as new, and returns the previous one. key is e without the
// decision.
func decide[E memory.Event](m *model, key E, at time.Time, e E) (was E, newer bool) {
	old, known := m.decided[key]
	if known && !at.After(old.at) {
		return was, false
	}
	m.decided[key] = decision{at, e}
	was, _ = old.Event.(E)
	return was, true
}

// decided returns the latest decision, or a zero value.
func decided[E memory.Event](m *model, key E) E {
	e, _ := m.decided[key].Event.(E)
	return e
}

func (m *model) isOut(guild memory.GuildID, user memory.UserID) bool {
	return decided(m, memory.Opted{Guild: guild, User: user}).Out
}

// editedAt is when m was edited, as traces write it.
func editedAt(m memory.Message) int64 { return m.AsSource(false).Version }
