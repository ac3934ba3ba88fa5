package answer

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/text"
	"hark/memory"
)

// names has what ids and tags mean, as far as all readers of an answer may know it.
type names struct {
	people   memory.People
	channels map[memory.ChannelID]memory.Channel
	roles    map[memory.RoleID]string
	visible  map[memory.ChannelID]bool // channels whose names all readers see in Discord
	told     map[memory.ChannelID]bool // those of them whose names the model was told beside tags
	zone     *time.Location            // of dates
	readable map[memory.ChannelID]bool // those of the scope
}

func newNames() names {
	return names{
		channels: map[memory.ChannelID]memory.Channel{},
		roles:    map[memory.RoleID]string{},
		visible:  map[memory.ChannelID]bool{},
		told:     map[memory.ChannelID]bool{},
		zone:     time.UTC,
	}
}

func (n names) person(id memory.UserID) (memory.Person, bool) { return n.people.Of(id) }

// of returns somebody's name, or else their tag.
func (n names) of(id memory.UserID) string { return n.people.Name(id) }

func (n names) channel(id memory.ChannelID) string { return n.channels[id].Name }

// place returns a channel's name; for a thread with a title its parent's name, and the title. What the answer's readers
// may not read has no name.
func (n names) place(id memory.ChannelID) (channel string, title memory.Title) {
	if !n.readable[id] {
		return "", memory.Title{}
	}
	c := n.channels[id]
	parent := n.parent(c)
	title = memory.TitleOf(&c, parent)
	switch {
	case title.Name == "":
		return c.Name, memory.Title{}
	case parent == nil:
		return "", title
	}
	return parent.Name, title
}

// parent returns a thread's channel, or a channel's category; nil if the answer's readers may not read it.
func (n names) parent(c memory.Channel) *memory.Channel {
	parent, known := n.channels[c.Parent]
	if !known || !n.readable[c.Parent] {
		return nil
	}
	return &parent
}

// addRoles adds the roles of a guild.
func (n names) addRoles(g *memory.Guild) {
	for _, role := range g.Roles {
		n.roles[role.ID] = strings.TrimLeft(role.Name, "@")
	}
}

// seen adds the channels whose names the readers of an answer see: those that they can read, and the one where it is
// asked with its parent.
func (n names) seen(here memory.ChannelID, readable map[memory.ChannelID]bool) {
	for id := range readable {
		n.visible[id] = true
	}
	n.visible[here] = true
	if c := n.channels[here]; c.Kind.IsThread() {
		n.visible[c.Parent] = true
	}
}

// stillVisible reports whether the readers still see the names that the model was told.
func (n names) stillVisible(told map[memory.ChannelID]bool) bool {
	for id := range told {
		if !n.visible[id] {
			return false
		}
	}
	return true
}

// visibleName returns a channel's name; empty if it is unknown, or not all readers see it.
func (n names) visibleName(id memory.ChannelID) string {
	if !n.visible[id] {
		return ""
	}
	return n.channel(id)
}

var (
	// mentioned matches a person's tag.
	mentioned = regexp.MustCompile(`<@!?(\d+)>`)
	// tags matches tags of people, roles and channels, and times.
	tags = regexp.MustCompile(`<(@!?|@&|#)(\d{1,20})>|<t:(-?\d{1,15})(?::([tTdDfFR]))?>`)
)

// discordTag is a tag in a text.
type discordTag struct {
	written string
	sign    string // "@", "@!", "@&" or "#"; empty for a time
	id      int64  // of what it names; a time's seconds since 1970
	style   string // of a time; may be empty
}

// replaceTags replaces the tags in a text.
func replaceTags(said string, by func(discordTag) string) string {
	if !strings.Contains(said, "<") {
		return said
	}
	return tags.ReplaceAllStringFunc(said, func(written string) string {
		part := tags.FindStringSubmatch(written)
		t := discordTag{
			written: written,
			sign:    part[1],
			style:   part[4],
		}
		digits := part[2]
		if t.sign == "" {
			digits = part[3]
		}
		id, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return written
		}
		t.id = id
		return by(t)
	})
}

// modelText returns what m says, or the turn that it begins, for a model: of Hark's messages only its own words, and
// names and dates for the tags.
func (n names) modelText(m memory.Message, said string) string { return n.named(ownText(m, said)) }

// quotedText returns what m says, or a part of it, for Discord, which shows tags itself: of Hark's messages only its
// own words, and bots' names for their mentions.
func (n names) quotedText(m memory.Message, said string) string {
	return replaceTags(ownText(m, said), func(t discordTag) string {
		if t.sign != "@" && t.sign != "@!" {
			return t.written
		}
		return n.bot(t)
	})
}

// ownText returns of Hark's messages only its own words.
func ownText(m memory.Message, said string) string {
	if m.Kind != memory.FromHark {
		return said
	}
	if own := text.OwnWords(said); own != "" {
		return own
	}
	return m.Text() // it was nothing else
}

// named returns a text with names and dates for its tags. The tags of channels, roles and times stay before these, so
// that a model can write them, too.
func (n names) named(said string) string {
	return replaceTags(said, func(t discordTag) string {
		switch t.sign {
		case "#":
			return n.channelTag(t)
		case "@&":
			return n.roleTag(t)
		case "":
			return beside(t, n.date(t))
		}
		return n.bot(t)
	})
}

// bot returns a bot's name for its mention. Other people's mentions stay.
func (n names) bot(t discordTag) string {
	if p, known := n.person(memory.UserID(t.id)); known && p.Bot && p.DisplayName() != "" {
		return "@" + p.DisplayName()
	}
	return t.written
}

// What Discord shows for tags without a name.
const (
	unknownChannel = "#unknown"
	unknownRole    = "@unknown-role"
)

func (n names) channelTag(t discordTag) string {
	id := memory.ChannelID(t.id)
	name := n.visibleName(id)
	if name == "" {
		return unknownChannel
	}
	n.told[id] = true
	c := n.channels[id]
	if !c.Kind.IsThread() {
		return beside(t, "#"+strings.TrimLeft(name, "# "))
	}
	// Its title would be no source of the answer.
	parent := n.visibleName(c.Parent)
	if parent == "" {
		return beside(t, "a thread")
	}
	return beside(t, "a thread in #"+strings.TrimLeft(parent, "# "))
}

func (n names) roleTag(t discordTag) string {
	name := n.roles[memory.RoleID(t.id)]
	if name == "" {
		return unknownRole
	}
	return beside(t, "@"+name)
}

// inParentheses keeps a name on its line and within its parentheses.
var inParentheses = strings.NewReplacer("(", "{", ")", "}", "\n", " ", "\r", " ")

// beside returns a tag with its meaning.
func beside(t discordTag, meaning string) string {
	return t.written + " (" + inParentheses.Replace(meaning) + ")"
}

// date returns a time in the zone of the answer, with its day in any style.
func (n names) date(t discordTag) string {
	layout := "2006-01-02 15:04"
	switch t.style {
	case "d", "D":
		layout = time.DateOnly
	case "T":
		layout = time.DateTime
	}
	return time.Unix(t.id, 0).In(n.zone).Format(layout)
}

// searchText returns a question for the search: names and dates in place of tags.
func (n names) searchText(asked string) string {
	return replaceTags(asked, func(t discordTag) string {
		switch t.sign {
		case "#":
			return n.visibleName(memory.ChannelID(t.id))
		case "@&":
			return n.roles[memory.RoleID(t.id)]
		case "":
			return time.Unix(t.id, 0).In(n.zone).Format(time.DateOnly)
		}
		return t.written // the search knows people by their tags
	})
}

// nameTags puts names and dates for the tags into what was found.
func (n names) nameTags(in *builder.Input) {
	for _, item := range in.History {
		for i := range item.Lines {
			line := &item.Lines[i]
			if said := n.named(line.Content); said != line.Content {
				line.Content = said
				line.Tokens = 0
			}
		}
	}
	for i := range in.Participants {
		in.Participants[i].Data = n.named(in.Participants[i].Data)
	}
	for i := range in.Lore {
		in.Lore[i] = n.named(in.Lore[i])
	}
}
