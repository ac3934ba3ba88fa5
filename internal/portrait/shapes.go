package portrait

import (
	"fmt"
	"strconv"
	"time"

	"hark/internal/exports"
	"hark/memory"
)

// Person is all about somebody.
type Person struct {
	User      string            `json:"user"`
	Exported  time.Time         `json:"exported"`
	Servers   []Server          `json:"servers"`
	Messages  []exports.Message `json:"messages"`
	Questions []Question        `json:"questions"`
	// Calls are the records of what was called for them when they asked something.
	Calls []memory.Record `json:"calls"`
}

// Server is what is known of somebody in one server.
type Server struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Username string     `json:"username,omitempty"`
	Display  string     `json:"display_name,omitempty"`
	Nick     string     `json:"nick,omitempty"`
	Bot      bool       `json:"bot,omitempty"`
	Roles    []string   `json:"roles,omitempty"`
	OptedOut bool       `json:"opted_out"`
	Learning *time.Time `json:"learning_since,omitempty"`
	Facts    []Fact     `json:"facts,omitempty"`
	Lore     []Lore     `json:"lore,omitempty"` // that they told
	// Summaries are from what they said. What others said as well is left out: such a summary has no text here.
	Summaries []Summary `json:"summaries,omitempty"`
	// Tokens is how many their questions took, by day of UTC, for today and yesterday.
	Tokens map[string]int `json:"tokens,omitempty"`
	// Receipts are what was forgotten of all that they wrote there, the newest first.
	Receipts []Receipt `json:"receipts,omitempty"`
}

// Fact is one about somebody. It is told only where Channel may be read, if it has one, and has a message if
// it was learned from that.
type Fact struct {
	Text    string `json:"text"`
	Alias   bool   `json:"alias,omitempty"`
	By      string `json:"by"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
}

// Receipt is what was forgotten at a time, in numbers. It stays, without any text, so that what is fetched, imported or
// restored later is forgotten again.
type Receipt struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Why       string    `json:"why"`
	Before    time.Time `json:"before,omitzero"` // what was said before this went; left out: all until then
	Messages  int       `json:"messages"`
	Answers   int       `json:"answers"`
	Facts     int       `json:"facts"`
	Lore      int       `json:"lore"`
	Summaries int       `json:"summaries"`
	Records   int       `json:"records"`
}

// Question is an answer that was given to somebody: its text, as every message of Hark's, is in the channel.
type Question struct {
	Server   string `json:"server"`
	Channel  string `json:"channel"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Model    string `json:"model,omitempty"`
}

// Lore is lore as --json and exports tell it.
type Lore struct {
	ID      string    `json:"id"`
	Server  string    `json:"server"`
	Name    string    `json:"name"`
	Text    string    `json:"text"`
	Aliases []string  `json:"aliases"`      // given by hand
	Made    []string  `json:"made_aliases"` // of the name
	By      string    `json:"by,omitempty"` // empty: the operator
	Channel string    `json:"channel,omitempty"`
	Time    time.Time `json:"time"`
	Sources []Source  `json:"sources"`
}

// Source is a message that lore is from.
type Source struct {
	Channel string `json:"channel"`
	Message string `json:"message"`
	Link    string `json:"link,omitempty"` // where Discord has the message
}

// LoreOf is l as exports tell it.
func LoreOf(l memory.Lore) Lore {
	out := Lore{
		ID: strconv.FormatInt(l.ID, 10), Server: l.Guild.String(), Name: l.Name, Text: l.Text, Time: l.At.UTC(),
		Aliases: append([]string{}, l.Own...), Made: append([]string{}, memory.Aliases(l.Name)...), Sources: []Source{},
	}
	if l.By != 0 {
		out.By = l.By.String()
	}
	if l.Channel != 0 {
		out.Channel = l.Channel.String()
	}
	for _, s := range l.Sources {
		link := ""
		if l.Guild != memory.LocalGuild {
			link = fmt.Sprintf("https://discord.com/channels/%d/%d/%d", l.Guild, s.Channel, s.Message)
		}
		out.Sources = append(out.Sources, Source{s.Channel.String(), s.Message.String(), link})
	}
	return out
}

// Summary is a summary as --json and exports tell it.
type Summary struct {
	ID      string    `json:"id"`
	Server  string    `json:"server"`
	Channel string    `json:"channel"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Kind    string    `json:"kind"`
	Topics  []string  `json:"topics"`
	Text    string    `json:"text,omitempty"`
	Model   string    `json:"model,omitempty"` // empty: it quotes what was said
	Made    time.Time `json:"made"`
	Sources []string  `json:"sources"` // the ids of the messages that it is from
}

// SummaryOf is s as exports tell it.
func SummaryOf(s memory.Summary) Summary {
	out := Summary{
		ID: s.ID.String(), Server: s.Guild.String(), Channel: s.Channel.String(), From: s.From(), To: s.To(), Kind: string(s.Kind),
		Topics: append([]string{}, s.Topics...), Text: s.Text, Model: s.Model, Made: s.Made.UTC(),
	}
	for _, source := range s.Sources {
		out.Sources = append(out.Sources, source.Message.String())
	}
	return out
}
