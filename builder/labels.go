package builder

import (
	"fmt"
	"reflect"
	"strings"
)

// The relevances above which an item is marked as high or medium.
const (
	highRelevance   = 0.8
	mediumRelevance = 0.6
)

// Labels are the words and marks of participants and history. A mark may be empty.
type Labels struct {
	Participants string // the title of the participants
	Person       string // before each of them
	LastActive   string
	DataMark     string
	Data         string

	History     string // the title of the history
	High        string // relevance above 0.8
	Medium      string // above 0.6
	Low         string
	Involved    string // a main participant wrote a line of the item
	Recent      string // of the last 24 hours
	Starred     string
	Neighbour   string // before the lines that follow an item's first
	More        string // items left out, for %d
	MoreOne     string // one item left out
	Earlier     string // the title of the summaries of earlier sessions
	EarlierMark string // before each of them
	Lore        string // the title of the lore
	Nothing     string // under the previous context's heading when nothing was recalled
}

// DefaultLabels are English, with emoji.
func DefaultLabels() Labels {
	return Labels{
		Participants: "📋 Conversation Participant Information",
		Person:       "• ",
		LastActive:   "Last Active: ",
		DataMark:     "  └─ ",
		Data:         "Data: ",
		History:      "💬 Relevant History",
		High:         "🔥",
		Medium:       "📝",
		Low:          "💡",
		Involved:     "👤",
		Recent:       "🕐",
		Starred:      "⭐",
		Neighbour:    "  ┆ ",
		More:         "… and %d more related messages",
		MoreOne:      "… and 1 more related message",
		Earlier:      "📜 Earlier Sessions",
		EarlierMark:  "[previous_context] ",
		Lore:         "📖 Lore",
		Nothing:      "(nothing relevant was found)",
	}
}

// Relevance is the mark of a relevance in [0, 1].
func (l Labels) Relevance(relevance float64) string {
	switch {
	case relevance > highRelevance:
		return l.High
	case relevance > mediumRelevance:
		return l.Medium
	}
	return l.Low
}

// marks are those of a history item, in the order they are shown in; see work.marks.
func (l Labels) marks() [6]string {
	return [...]string{l.High, l.Medium, l.Low, l.Involved, l.Recent, l.Starred}
}

// titles are those that members' text could forge.
func (l Labels) titles() []string { return []string{l.Participants, l.History, l.Earlier, l.Lore} }

// check says what keeps l from being used: a label is part of one line, and the titles are all there.
func (l Labels) check() error {
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		name, text := v.Type().Field(i).Name, v.Field(i).String()
		if len(splitLines(text)) > 1 || strings.Contains(text, "===") {
			return fmt.Errorf("label %s %q must be part of one line, without ===", name, text)
		}
	}
	for _, title := range append(l.titles(), l.Nothing) {
		if strings.TrimSpace(title) == "" {
			return fmt.Errorf("the titles among the labels, and Nothing, can't be empty")
		}
	}
	if strings.Count(l.More, "%") != 1 || !strings.Contains(l.More, "%d") {
		return fmt.Errorf("label More %q must hold one %%d, for the number of messages left out", l.More)
	}
	return nil
}
