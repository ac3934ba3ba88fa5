package answer

import (
	"strings"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// History is the part of a prompt's input that comes from a recall, for an answer in the channel at. Excerpts
// overlap: each message is shown where it stands best, and a hit that stands in a better one's excerpt needs none
// of its own.
func History(result search.Result, at memory.ChannelID, channelName func(memory.ChannelID) string,
	personName func(memory.UserID) string) builder.Input {
	var in builder.Input
	for _, p := range result.People {
		in.Participants = append(in.Participants, builder.Participant{
			ID: p.Person.ID, Name: p.Person.DisplayName(), LastActive: p.Presence.Last, Data: told(p.Person,
				personName), Main: p.Main,
		})
	}
	for _, hit := range result.Lore {
		in.Lore = append(in.Lore, hit.Lore.Name+": "+hit.Lore.Text)
	}
	shown := map[memory.MessageID]bool{}
	for _, hit := range result.Hits {
		if shown[hit.Message.ID] {
			continue
		}
		item := builder.Item{Relevance: hit.Relevance}
		if hit.Message.Channel != at && channelName != nil {
			item.Channel = channelName(hit.Message.Channel)
		}
		for _, m := range hit.Excerpt {
			if shown[m.ID] {
				continue
			}
			shown[m.ID] = true
			if m.ID == hit.Message.ID {
				item.Hit = len(item.Lines)
			}
			item.Lines = append(item.Lines, builder.Line{
				Message: m.ID, Author: m.Author, Time: m.Time(), Content: m.Text(), Tokens: m.Tokens, Starred: m.Starred,
			})
		}
		in.History = append(in.History, item)
	}
	return in
}

// told is what is known of p, as one text. What somebody else told says so.
func told(p memory.Person, name func(memory.UserID) string) string {
	var texts []string
	if aliases := p.Aliases(); len(aliases) > 0 {
		texts = append(texts, "also called "+strings.Join(aliases, ", "))
	}
	for _, f := range p.Facts {
		switch {
		case f.Alias: // told above
		case f.By == p.ID || f.By == 0:
			texts = append(texts, f.Text)
		case name == nil:
			texts = append(texts, f.Text+" (said by "+tag(f.By)+")")
		default:
			texts = append(texts, f.Text+" (said by "+name(f.By)+")")
		}
	}
	return strings.Join(texts, "; ")
}
