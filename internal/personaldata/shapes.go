package personaldata

import (
	"fmt"
	"time"

	"hark/internal/exports"
	"hark/memory"
)

// Person is everything about a person.
type Person struct {
	User      memory.UserID     `json:"user,string"`
	Exported  time.Time         `json:"exported"`
	Servers   []Server          `json:"servers"`
	Messages  []exports.Message `json:"messages"`
	Questions []Question        `json:"questions"`
	// Calls are the records of calls for their questions.
	Calls []memory.Record `json:"calls"`
}

// Server is what is known of a person in one server.
type Server struct {
	ID       memory.GuildID `json:"id,string"`
	Name     string         `json:"name"`
	Username string         `json:"username,omitempty"`
	Display  string         `json:"display_name,omitempty"`
	Nick     string         `json:"nick,omitempty"`
	Bot      bool           `json:"bot,omitempty"`
	Roles    []string       `json:"roles,omitempty"`
	OptedOut bool           `json:"opted_out"`
	Learning time.Time      `json:"learning_since,omitzero"`
	Facts    []Fact         `json:"facts,omitempty"`
	Lore     []Lore         `json:"lore,omitempty"` // that they told
	// Summaries are from what they said. Those that others' words are in have no text here.
	Summaries []Summary `json:"summaries,omitempty"`
	// Tokens are those of their questions, by UTC day, for today and yesterday.
	Tokens map[string]int `json:"tokens,omitempty"`
	// Chose is what they chose for the server that still holds, as memory.Guild.ChosenBy tells it.
	Chose []string `json:"chose,omitempty"`
	// Program is the token by which a program of theirs reads, without the token.
	Program *Program `json:"program,omitempty"`
	// Receipts are the forgettings of all that they wrote there, newest first.
	Receipts []Receipt `json:"receipts,omitempty"`
}

// Program is a program's token.
type Program struct {
	Since time.Time `json:"since"`
	Uses  int       `json:"uses"`
	Used  time.Time `json:"last_use,omitzero"`
}

// Fact is a fact about the person. Message is its source; only readers of Channel may be told.
type Fact struct {
	Text    string           `json:"text"`
	Alias   bool             `json:"alias,omitempty"`
	By      memory.UserID    `json:"by,string"`
	Channel memory.ChannelID `json:"channel,string,omitempty"`
	Message memory.MessageID `json:"message,string,omitempty"`
}

// Receipt counts what a forgetting deleted. It is kept, without text, to forget the same again when it is fetched,
// imported or restored.
type Receipt struct {
	ID        int64     `json:"id,string"`
	At        time.Time `json:"at"`
	Why       string    `json:"why"`
	Before    time.Time `json:"before,omitzero"` // what was said before this is gone; omitted: all
	Messages  int       `json:"messages"`
	Answers   int       `json:"answers"`
	Facts     int       `json:"facts"`
	Lore      int       `json:"lore"`
	Summaries int       `json:"summaries"`
	Records   int       `json:"records"`
}

// Question is a question of the person's that Hark answered. The answer is in the channel.
type Question struct {
	Server   memory.GuildID   `json:"server,string"`
	Channel  memory.ChannelID `json:"channel,string"`
	Question memory.MessageID `json:"question,string"`
	Answer   memory.MessageID `json:"answer,string"`
	Model    string           `json:"model,omitempty"`
}

// Lore is lore in the form of --json and exports.
type Lore struct {
	ID      int64            `json:"id,string"`
	Server  memory.GuildID   `json:"server,string"`
	Name    string           `json:"name"`
	Text    string           `json:"text"`
	Aliases []string         `json:"aliases"`             // given by hand
	Made    []string         `json:"made_aliases"`        // of the name
	By      memory.UserID    `json:"by,string,omitempty"` // 0: the operator
	Channel memory.ChannelID `json:"channel,string,omitempty"`
	Time    time.Time        `json:"time"`
	Sources []Source         `json:"sources"`
}

// Source is a message that lore comes from.
type Source struct {
	Channel memory.ChannelID `json:"channel,string"`
	Message memory.MessageID `json:"message,string"`
	Link    string           `json:"link,omitempty"` // where Discord has the message
}

// LoreOf returns l in the form of exports.
func LoreOf(l memory.Lore) Lore {
	out := Lore{
		ID:      l.ID,
		Server:  l.Guild,
		Name:    l.Name,
		Text:    l.Text,
		By:      l.By,
		Channel: l.Channel,
		Time:    l.At.UTC(),
		Aliases: append([]string{}, l.Own...),
		Made:    append([]string{}, memory.Aliases(l.Name)...),
		Sources: []Source{},
	}
	for _, s := range l.Sources {
		link := ""
		if l.Guild != memory.LocalGuild {
			link = fmt.Sprintf("https://discord.com/channels/%d/%d/%d", l.Guild, s.Channel, s.Message)
		}
		out.Sources = append(out.Sources, Source{s.Channel, s.Message, link})
	}
	return out
}

// Summary is a summary in the form of --json and exports.
type Summary struct {
	ID      memory.MessageID `json:"id,string"`
	Server  memory.GuildID   `json:"server,string"`
	Channel memory.ChannelID `json:"channel,string"`
	From    time.Time        `json:"from"`
	To      time.Time        `json:"to"`
	Kind    string           `json:"kind"`
	Topics  []string         `json:"topics"`
	Text    string           `json:"text,omitempty"`
	Model   string           `json:"model,omitempty"` // empty: it quotes what was said
	Made    time.Time        `json:"made"`
	Sources []string         `json:"sources"` // the ids of the messages that it is from
}

// SummaryOf returns s in the form of exports.
func SummaryOf(s memory.Summary) Summary {
	out := Summary{
		ID:      s.ID,
		Server:  s.Guild,
		Channel: s.Channel,
		From:    s.From(),
		To:      s.To(),
		Kind:    string(s.Kind),
		Topics:  append([]string{}, s.Topics...),
		Text:    s.Text,
		Model:   s.Model,
		Made:    s.Made.UTC(),
	}
	for _, source := range s.Sources {
		out.Sources = append(out.Sources, source.Message.String())
	}
	return out
}
