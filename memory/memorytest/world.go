package memorytest

import (
	"cmp"
	"slices"
	"time"

	"hark/memory"
)

// Places and people of the test cases.
const (
	guild   memory.GuildID   = 900
	general memory.ChannelID = 911
	staff   memory.ChannelID = 912
	thread  memory.ChannelID = 913 // of general
	local   memory.ChannelID = 921
	village memory.GuildID   = 901
	square  memory.ChannelID = 941 // of village
	nowhere memory.ChannelID = 999 // never has a message

	ada  memory.UserID = 501
	ben  memory.UserID = 502
	hark memory.UserID = 509
	// nobody never says anything, and isn't mentioned.
	nobody memory.UserID = 599
)

var (
	began = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	// when prompts are built: after all messages, before later
	built = began.Add(100 * time.Hour)
	later = began.Add(1000 * time.Hour) // when forgettings begin: after all messages
)

// id is the id of a message sent seconds after began.
func id(seconds int) memory.MessageID {
	return memory.FirstMessageID(began.Add(time.Duration(seconds)*time.Second)) + 1
}

func minute(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }

func guildOf(channel memory.ChannelID) memory.GuildID {
	switch channel {
	case local:
		return memory.LocalGuild
	case square:
		return village
	}
	return guild
}

func in(channels ...memory.ChannelID) memory.Scope { return memory.Scope{Channels: channels} }

func said(channel memory.ChannelID, id memory.MessageID, author memory.UserID, content string) memory.Message {
	m := memory.Message{ID: id, Guild: guildOf(channel), Channel: channel, Author: author, Content: content}
	if author == hark {
		m.Kind = memory.FromHark
	}
	return m
}

func post(m memory.Message) memory.Event { return memory.Posted{Message: m} }

func posted(messages ...memory.Message) (events []memory.Event) {
	for _, m := range messages {
		events = append(events, memory.Posted{Message: m})
	}
	return events
}

func edited(m memory.Message, minutes int, content string) memory.Message {
	m.Content, m.Edited = content, minute(minutes)
	return m
}

// edits is the event of that edit.
func edits(m memory.Message, minutes int, content string) memory.Edited {
	return memory.Edited{Guild: m.Guild, Channel: m.Channel, ID: m.ID, Content: content, At: minute(minutes)}
}

func deletes(channel memory.ChannelID, ids ...memory.MessageID) memory.Deleted {
	return memory.Deleted{Guild: guildOf(channel), Channel: channel, IDs: ids}
}

func stars(channel memory.ChannelID, id memory.MessageID, on bool, minutes int) memory.Starred {
	return memory.Starred{Guild: guildOf(channel), Channel: channel, ID: id, On: on, At: minute(minutes)}
}

func opts(user memory.UserID, out bool, minutes int) memory.Opted {
	return memory.Opted{Guild: guild, User: user, Out: out, At: minute(minutes)}
}

// chose is a choice for a channel, or for 0 the guild.
func chose(channel memory.ChannelID, choice memory.Choice, minutes int) memory.Chose {
	return memory.Chose{Guild: guild, Channel: channel, Choice: choice, At: minute(minutes)}
}

// sets is a setting of a channel, or for 0 of the guild.
func sets(channel memory.ChannelID, key memory.Setting, value string, minutes int) memory.SettingChosen {
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: key, Value: value, At: minute(minutes)}
}

func limits(role memory.RoleID, messages, tokens, minutes int) memory.LimitChosen {
	return memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Role: role,
		Limit: memory.Limit{Messages: messages, Tokens: tokens}}, At: minute(minutes)}
}

// spent is the tokens of a question asked hours after began.
func spent(user memory.UserID, hours, tokens int) memory.Spent {
	return memory.Spent{Guild: guild, User: user, Question: id(hours * 3600), Tokens: tokens}
}

func facts(user memory.UserID, id int64, text string, source ...memory.MessageRef) memory.FactTold {
	f := memory.Fact{ID: id, Text: text, By: user}
	for _, s := range source {
		f.Channel, f.Message = s.Channel, s.Message
	}
	return memory.FactTold{Guild: guild, User: user, Fact: f}
}

// note is lore told minutes after began.
func note(id int64, by memory.UserID, channel memory.ChannelID, minutes int, sources ...memory.MessageRef) memory.Lore {
	return memory.Lore{
		ID: id, Guild: guildOf(channel), Name: "Project X", Text: "is due on Friday",
		Own: []string{"the big one"}, By: by, Channel: channel, At: minute(minutes), Sources: sources,
	}
}

func spot(channel memory.ChannelID, id memory.MessageID) memory.MessageRef {
	return memory.MessageRef{Channel: channel, Message: id}
}

// summed is a summary of a channel up to a message, made minutes after began from unedited messages.
func summed(channel memory.ChannelID, until memory.MessageID, minutes int, sources ...memory.MessageID) memory.Summary {
	return memory.Summary{
		ID: until, Guild: guildOf(channel), Channel: channel, Text: "Ada: the ferry leaves at noon",
		Topics: []string{"ferry", "noon"}, Kind: memory.SummaryFact, Made: minute(minutes), Model: "toy",
		Sources: unedited(sources...),
	}
}

func sums(after memory.MessageID, s memory.Summary) memory.Summarised {
	return memory.Summarised{Guild: s.Guild, Channel: s.Channel, After: after, Until: s.ID, Summary: &s}
}

// condenses is a condensed session of a channel, with parameters as in summed.
func condenses(channel memory.ChannelID, text string, minutes int,
	sources ...memory.MessageID) memory.SessionCondensed {
	return memory.SessionCondensed{Condensed: memory.Condensed{
		Guild: guildOf(channel), Channel: channel, Until: slices.Max(sources), Text: text,
		Made: minute(minutes), Model: "toy", Sources: unedited(sources...),
	}}
}

func unedited(ids ...memory.MessageID) (sources []memory.SummarySource) {
	for _, id := range ids {
		sources = append(sources, memory.SummarySource{Message: id})
	}
	return sources
}

// called is the record of a tool's call, seconds after began, that came from a question there.
func called(name string, channel memory.ChannelID, question memory.MessageID, asker memory.UserID,
	seconds int) memory.Recorded {
	return memory.Recorded{Record: memory.Record{
		CallID: name, Timestamp: began.Add(time.Duration(seconds) * time.Second), Speaker: memory.SpeakerTool,
		Method: "search_memory", Args: []any{}, Kwargs: map[string]any{}, Outcome: "3 messages",
		Guild: guildOf(channel), Channel: channel, Asker: asker, Question: question,
	}}
}

// repeated is a message that an answer repeats, as its source; edited is in milliseconds since 1970.
func repeated(channel memory.ChannelID, id memory.MessageID, edited int64) memory.Source {
	return memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(id), Version: edited, Repeats: true}
}

// shown is an unedited message that an answer doesn't repeat, as its source.
func shown(channel memory.ChannelID, id memory.MessageID) memory.Source {
	return memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(id)}
}

func factSource(id int64) memory.Source {
	return memory.Source{Kind: memory.SourceFact, ID: id, Repeats: true}
}

func loreSource(id int64) memory.Source {
	return memory.Source{Kind: memory.SourceLore, ID: id, Repeats: true}
}

func summarySource(s memory.Summary) memory.Source {
	return memory.Source{Kind: memory.SourceSummary, Channel: s.Channel, ID: int64(s.ID),
		Version: s.Made.UnixMilli(), Repeats: true}
}

func sent(at time.Time, content string) *memory.Prompt {
	return &memory.Prompt{
		Built: at,
		Messages: []memory.PromptMessage{{Role: "system", Content: "=== SYSTEM ===\nBe <kind> & \"brief\"."},
			{Role: "user", Content: content}},
		Boundaries: []memory.Boundary{{Section: "system_prompt", Start: 0, End: 35},
			{Section: "current_query", Message: 1, Start: 0, End: 13}},
	}
}

// completed returns f; by default with WhyPurge, and after all messages.
func completed(f memory.Forgetting) memory.Forgetting {
	if f.At.IsZero() {
		f.At = later
	}
	f.Why = cmp.Or(f.Why, memory.WhyPurge)
	return f
}

func threadOf(parent memory.ChannelID, id memory.ChannelID, owner memory.UserID, name string) memory.ChannelSeen {
	return memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: parent,
		Kind: memory.PublicThread, Name: name, Owner: owner}}
}

// town is a guild with two channels and a thread.
func town() memory.Guild {
	return memory.Guild{
		ID: guild, Name: "Town", Owner: ada,
		Roles: []memory.Role{{ID: 900, Name: "@everyone", Permissions: memory.ViewChannel},
			{ID: 950, Name: "crew", Permissions: 1 << 63, Bot: hark}},
		Channels: []memory.Channel{
			{ID: general, Guild: guild, Parent: 910, Name: "general"},
			{ID: staff, Guild: guild, Kind: memory.VoiceChannel, Name: "staff", AgeLimited: true,
				Overwrites: []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel},
					{User: ben, Allow: memory.ViewChannel | memory.Connect}}},
			{ID: thread, Guild: guild, Parent: general, Kind: memory.PrivateThread, Name: "thread"},
		},
	}
}

// scattered returns messages in two guilds and at the terminal by two people, each in words of its own.
func scattered() []memory.Message {
	return []memory.Message{
		said(general, id(1), ada, "apricots in general"), said(general, id(2), ben, "barley in general"),
		said(staff, id(3), ada, "cinnamon at work"), said(staff, id(4), ben, "dill at work"),
		said(thread, id(5), ada, "elderberries in a thread"),
		said(square, id(6), ada, "zeppelins over the square"),
		said(local, id(7), ada, "figs at the terminal"), said(general, id(8), ada, "ginger much later"),
	}
}

// settle posts scattered in two guilds with known people, and embeds it.
func (t *harness) settle() {
	t.Helper()
	t.apply(memory.GuildSeen{Guild: town(), At: began}, memory.GuildSeen{Guild: memory.Guild{
		ID: village, Name: "Village", Roles: []memory.Role{{ID: memory.RoleID(village), Name: "@everyone"}},
		Channels: []memory.Channel{{ID: square, Guild: village, Name: "square"}},
	}, At: began})
	t.post(scattered()...)
	for _, who := range []memory.UserID{ada, ben} {
		for _, where := range []memory.GuildID{guild, village} {
			fact := facts(who, int64(who), "sails")
			fact.Guild = where
			t.apply(memory.PersonSeen{Person: memory.Person{ID: who, Guild: where,
				Username: map[memory.UserID]string{ada: "ada", ben: "ben"}[who]}}, fact)
		}
	}
	t.apply(facts(ben, 77, "eats apricots", spot(general, id(1))), memory.ExternalIDSeen{Channel: general, ID: id(1),
		ExternalID: "m1"})
	t.embedAll()
}
