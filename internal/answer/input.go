package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/text"
	"hark/memory"
	"hark/search"
)

// bestShown is how many characters of what was found the builder makes room for before it adds more.
const bestShown = 400

// History returns the part of a prompt's input that comes from a recall, for an answer in the channel at, with
// days in zone. Excerpts overlap: each message is shown where it stands best. The beginning of a long message
// may be left out.
func History(result search.Result, at memory.ChannelID, zone *time.Location,
	placeName func(memory.ChannelID) (channel string, title memory.Title), personName func(memory.UserID) string) builder.Input {
	var in builder.Input
	for _, p := range result.People {
		in.Participants = append(in.Participants, builder.Participant{
			ID:         p.Person.ID,
			Name:       p.Person.DisplayName(),
			LastActive: p.Presence.Last,
			Data: personData(p.Person,
				zone, personName),
			Main: p.Main,
		})
	}
	for _, hit := range result.Lore {
		in.Lore = append(in.Lore, hit.Lore.Name+": "+withDate(hit.Lore.Text, hit.Lore.At, zone))
	}
	shown := map[memory.MessageID]bool{}
	for _, hit := range result.Hits {
		if shown[hit.Message.ID] {
			continue
		}
		item := builder.Item{Relevance: hit.Relevance}
		if hit.Message.Channel != at && placeName != nil {
			item.Channel, item.Title = placeName(hit.Message.Channel)
		}
		for _, m := range hit.Excerpt {
			if shown[m.ID] {
				continue
			}
			shown[m.ID] = true
			line := builder.Line{
				Message: m.ID,
				Author:  m.Author,
				Time:    m.Time(),
				Content: m.Text(),
				Tokens:  m.Tokens,
				Starred: m.Starred,
			}
			if m.ID == hit.Message.ID {
				item.Hit = len(item.Lines)
				if said := passage(hit, bestShown); said != line.Content {
					line.Content = said
					line.Tokens = 0
				}
			}
			if personName != nil {
				if name := personName(m.Author); name != tag(m.Author) {
					line.Name = name
				}
			}
			item.Lines = append(item.Lines, line)
		}
		in.History = append(in.History, item)
	}
	return in
}

// personData returns what is known of p as one text, with who said it if not p.
func personData(p memory.Person, zone *time.Location, name func(memory.UserID) string) string {
	var texts []string
	if aliases := p.Aliases(); len(aliases) > 0 {
		texts = append(texts, "also called "+strings.Join(aliases, ", "))
	}
	for _, f := range p.Facts {
		said := withDate(f.Text, cmp.Or(f.Message, memory.MessageID(f.ID)).Time(), zone)
		switch {
		case f.Alias: // told above
		case f.By == p.ID || f.By == 0:
			texts = append(texts, said)
		case name == nil:
			texts = append(texts, said+" (said by "+tag(f.By)+")")
		default:
			texts = append(texts, said+" (said by "+name(f.By)+")")
		}
	}
	return strings.Join(texts, "; ")
}

// withDate adds the day it was said if s speaks of a relative time.
func withDate(s string, at time.Time, zone *time.Location) string {
	if at.IsZero() || !text.SpeaksOfNow(s) {
		return s
	}
	return s + " (said on " + at.In(zone).Format(time.DateOnly) + ")"
}

// How much of a message something else must have, word for word, to repeat it.
const (
	quotedLeast = 20
	quotedMost  = 150 // characters of a message that are compared
	quotedHits  = 5   // so many have room in any prompt
)

// dedupe removes hits that repeat a better hit, and summaries and lore that quote one: the plain layout has no room
// for them.
func (r *recalled) dedupe() {
	var said []string
	r.result.Hits = slices.DeleteFunc(slices.Clone(r.result.Hits), func(h search.Hit) bool {
		words := oneLine(h.Message.Text(), quotedMost)
		twice := len(words) >= quotedLeast && slices.Contains(said, words)
		said = append(said, words)
		return twice
	})
	quotes := func(s string) bool {
		s = strings.Join(strings.Fields(s), " ")
		return slices.ContainsFunc(said[:min(len(said), quotedHits)], func(words string) bool {
			return len(words) >= quotedLeast && strings.Contains(s, words)
		})
	}
	r.summaries = slices.DeleteFunc(slices.Clone(r.summaries), func(h search.SummaryHit) bool {
		return quotes(h.Summary.Text)
	})
	r.result.Lore = slices.DeleteFunc(slices.Clone(r.result.Lore), func(h search.LoreHit) bool {
		return quotes(h.Lore.Text)
	})
}
