package memorytest

import (
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

// Canaries returns events that put a text of their own into everything that a store keeps of what people say, what they
// are called and what is made from it, of a server, of direct messages and of the terminal. Each text begins with word.
func Canaries(word string) []memory.Event {
	n := 0
	w := func() string { n++; return fmt.Sprintf("%s%dq", word, n) }
	began := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	id := func(n int) memory.MessageID { return memory.FirstMessageID(began.Add(time.Duration(n) * time.Minute)) }
	const guild, channel, asker = memory.GuildID(100), memory.ChannelID(1000), memory.UserID(1)
	events := []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: w(), Roles: []memory.Role{{ID: 100, Name: w()}, {ID: 7, Name: w()}},
			Channels: []memory.Channel{{ID: channel, Guild: guild, Name: w()},
				{ID: 1001, Guild: guild, Kind: memory.ForumChannel, Name: w(), Tags: []memory.Tag{{ID: 5, Name: w()}}},
				{ID: 1002, Guild: guild, Kind: memory.PublicThread, Parent: 1001, Name: w(), Tags: []memory.Tag{{Name: w()}}}}}},
		memory.GuildNamed{Guild: memory.LocalGuild, Name: w()},
	}
	for i, c := range []memory.Channel{{ID: 900, Guild: memory.DirectGuild, Kind: memory.DirectChannel, Name: w()},
		{ID: 901, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: w()}} {
		events = append(events, memory.ChannelSeen{Channel: c}, memory.Posted{Message: memory.Message{ID: id(100 + i),
			Guild: c.Guild, Channel: c.ID, Author: asker, Content: w()}})
	}
	source := []memory.Source{{Kind: memory.SourceMessage, Channel: channel, ID: int64(id(2)), Repeats: true}}
	built := began.Add(time.Hour)
	return append(events,
		memory.PersonSeen{Person: memory.Person{ID: asker, Guild: guild, Username: w(), Name: w(), Nick: w()}},
		memory.Posted{Message: memory.Message{ID: id(1), Guild: guild, Channel: channel, Author: asker, Content: w(),
			Files: []memory.File{{Name: w() + ".ogg", Description: w(), ID: 5, Kind: memory.VoiceFile}},
			Links: []memory.Link{{Title: w(), Description: w()}}}},
		memory.Told{Guild: guild, Channel: channel, ID: id(1), File: 5, Text: w() + " was said"},
		memory.ExternalIDSeen{Channel: channel, ID: id(1), ExternalID: w()},
		memory.Posted{Message: memory.Message{ID: id(2), Guild: guild, Channel: channel, Author: 2, Content: w() + " asks"}},
		memory.Posted{Message: memory.Message{ID: id(3), Guild: guild, Channel: channel, Author: 99, Kind: memory.FromHark,
			Content: w()}},
		memory.Posted{Message: memory.Message{ID: id(4), Guild: guild, Channel: channel, Author: 2, Content: w() + " once"}},
		memory.Edited{Guild: guild, Channel: channel, ID: id(4), Content: w() + " now", At: built},
		memory.Edited{Guild: guild, Channel: channel, ID: id(90), Content: w() + " early", At: built},
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: channel, Answer: id(3), Question: id(2), Asker: 2,
			Model: "toy", Mode: w(), Sources: source, Prompt: &memory.Prompt{Built: built,
				Messages: []memory.PromptMessage{{Role: "user", Content: w()}}}}},
		memory.FactTold{Guild: guild, User: asker, Fact: memory.Fact{ID: 61, Text: w(), By: asker}},
		memory.LoreTold{Lore: memory.Lore{ID: 62, Guild: guild, Name: w(), Text: w(), Own: []string{w()}, By: asker, At: built}},
		memory.Summarised{Guild: guild, Channel: channel, After: id(0), Until: id(2), Summary: &memory.Summary{ID: id(2),
			Guild: guild, Channel: channel, Text: w(), Topics: []string{w()}, Kind: memory.SummaryTalk, Model: "toy",
			Made: built, Sources: []memory.SummarySource{{Message: id(2)}}}},
		memory.SessionCondensed{Condensed: memory.Condensed{Guild: guild, Channel: channel, Until: id(2), Text: w(),
			Made: built, Model: "toy", Sources: []memory.SummarySource{{Message: id(2)}}}},
		memory.SettingChosen{Guild: guild, Key: memory.SettingPersona, Value: w(), At: built},
		memory.Recorded{Record: memory.Record{CallID: "call-1", Timestamp: built, Speaker: memory.SpeakerTool, Method: "search",
			Args: []any{}, Kwargs: map[string]any{}, Outcome: w(), Guild: guild, Channel: channel, Asker: asker}},
		memory.Recorded{Record: memory.Record{CallID: "call-2", Timestamp: built, Speaker: memory.SpeakerTool, Method: "search",
			Args: []any{}, Kwargs: map[string]any{}, Outcome: w(), Guild: guild, Channel: channel, Asker: asker}},
		memory.LoreTold{Lore: memory.Lore{ID: 63, Guild: guild, Name: w(), Text: w(), Own: []string{w()}, By: asker, At: built}},
		memory.FactTold{Guild: guild, User: 2, Fact: memory.Fact{ID: 64, Text: w(), By: asker}},
		memory.PersonSeen{Person: memory.Person{ID: 2, Guild: guild, Username: w(), Name: w(), Nick: w()}},
		memory.Posted{Message: memory.Message{ID: id(5), Guild: guild, Channel: channel, Author: 2, Content: w(),
			Files: []memory.File{{Name: w()}}}},
		memory.ExternalIDSeen{Channel: channel, ID: id(5), ExternalID: w()},
		memory.Edited{Guild: guild, Channel: channel, ID: id(91), Content: w() + " early", At: built},
		memory.SettingChosen{Guild: guild, Channel: channel, Key: memory.SettingPersona, Value: w(), At: built},
		memory.Posted{Message: memory.Message{ID: id(6), Guild: guild, Channel: channel, Author: 99, Kind: memory.FromHark,
			Content: w()}},
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: channel, Answer: id(6), Question: id(2), Asker: 2,
			Model: "toy", Mode: w(), Sources: source, Prompt: &memory.Prompt{Built: built,
				Messages: []memory.PromptMessage{{Role: "user", Content: w()}}}}},
		memory.Summarised{Guild: guild, Channel: channel, After: id(4), Until: id(5), Summary: &memory.Summary{ID: id(5),
			Guild: guild, Channel: channel, Text: w(), Topics: []string{w()}, Kind: memory.SummaryTalk, Model: "toy",
			Made: built, Sources: []memory.SummarySource{{Message: id(5)}}}},
		memory.SessionCondensed{Condensed: memory.Condensed{Guild: memory.DirectGuild, Channel: 900, Until: id(100), Text: w(),
			Made: built, Model: "toy", Sources: []memory.SummarySource{{Message: id(100)}}}},
		memory.Posted{Message: memory.Message{ID: id(7), Guild: guild, Channel: channel, Author: 2, Content: w(),
			Original: memory.Original{Guild: guild, Channel: channel, Message: id(1)}}},
		memory.Posted{Message: memory.Message{ID: id(60), Guild: guild, Channel: channel, Author: 2,
			Content: strings.Repeat(w()+" ", 100)}},
	)
}
