package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is the kind of a message's author.
type Kind uint8

const (
	FromMember  Kind = iota // a person
	FromBot                 // another bot
	FromWebhook             // a webhook
	FromHark                // Hark's own answer, never recalled outside its session
	FromSystem              // a notice of Discord's: somebody joined, a message was pinned
)

// Message is one message as logged. Its time is in its id.
type Message struct {
	ID       MessageID
	Guild    GuildID
	Channel  ChannelID
	Author   UserID
	Kind     Kind
	Content  string // valid UTF-8 without NUL; see Clean
	Files    []File
	Links    []Link    // what Discord tells of links in it; as JoinLinks orders them
	Edited   time.Time // of this version; zero: never edited
	ReplyTo  MessageID // in the same channel
	Mentions []UserID
	Original Original // of a copy; zero: the message is none
	Starred  bool     // marked important by a member
	Tokens   int      // of Text by o200k for every model, counted by the store; 0 until stored
}

// File is an attachment. Its URL isn't kept, because it expires.
type File struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"` // by its author
	ID          int64    `json:"id,string,omitempty"`   // Discord's; 0: unknown
	Kind        FileKind `json:"kind,omitempty"`        // what a model can tell of it
	Told        string   `json:"told,omitempty"`        // what a model told of it: what is said or seen in it
}

// FileKind is what a model can tell of a file.
type FileKind string

// The kinds of files that a model can tell something of.
const (
	VoiceFile FileKind = "voice" // a voice message: what is said in it
	ImageFile FileKind = "image" // a picture: what it shows
)

// KeepTold returns files with what was told of the same ones among old.
func KeepTold(old, files []File) []File {
	kept := slices.Clone(files)
	for i := range kept {
		for _, f := range old {
			if f.ID == kept[i].ID && f.ID != 0 {
				kept[i].Told = cmp.Or(kept[i].Told, f.Told)
			}
		}
	}
	return kept
}

// Tell returns files with what was told of the one with an id, and whether that is new.
func Tell(files []File, id int64, told string) ([]File, bool) {
	at := slices.IndexFunc(files, func(f File) bool { return f.ID == id && id != 0 })
	if at < 0 || files[at].Told != "" || told == "" {
		return files, false
	}
	files = slices.Clone(files)
	files[at].Told = told
	return files, true
}

// Link is the preview of a page that a message links to.
type Link struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// JoinLinks returns the links of two reports of the same version of a message. Discord tells a link's preview some time
// after the message. The result doesn't depend on the order of reports.
func JoinLinks(a, b []Link) []Link {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Description, b.Description))
	})
	return slices.Compact(all)
}

func (m Message) Time() time.Time { return m.ID.Time() }

// Text returns what is indexed, embedded and shown: the content, then a bracketed line for each file and link.
func (m Message) Text() string {
	if len(m.Files)+len(m.Links) == 0 {
		return m.Content
	}
	var b strings.Builder
	b.WriteString(m.Content)
	add := func(kind string, parts ...string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + kind)
		for _, part := range parts {
			if part != "" {
				b.WriteString(": " + part)
			}
		}
		b.WriteByte(']')
	}
	for _, f := range m.Files {
		switch {
		case f.Told == "":
			add("file", f.Name, f.Description)
		case f.Kind == VoiceFile:
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("🎤 " + f.Told)
		default:
			add("image", f.Name, f.Description, f.Told)
		}
	}
	for _, l := range m.Links {
		add("link", l.Title, l.Description)
	}
	return b.String()
}

// Clean makes s storable: bytes that aren't UTF-8 become U+FFFD, and NUL is removed.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// clean returns m ready to store.
func (m Message) clean() Message {
	m.Content = Clean(m.Content)
	m.Starred = false // only a Starred sets it
	m.Original = m.Original.clean()
	m.Files = slices.Clone(m.Files)
	for i := range m.Files {
		f := &m.Files[i]
		f.Name = Clean(f.Name)
		f.Description = Clean(f.Description)
		f.Told = Clean(f.Told)
	}
	if len(m.Links) == 0 {
		return m
	}
	links := slices.Clone(m.Links)
	for i := range links {
		links[i].Title = Clean(links[i].Title)
		links[i].Description = Clean(links[i].Description)
	}
	m.Links = JoinLinks(links, nil)
	return m
}

// Recalled reports whether messages of kind k can be found later. Others are in the log, but neither indexed
// nor part of a segment.
func (k Kind) Recalled() bool { return k == FromMember || k == FromBot || k == FromWebhook }

// MessageRef is where a message is.
type MessageRef struct {
	Channel ChannelID
	Message MessageID
}

// OpenQuestion is an unanswered message that asks Hark something, or by which Hark asks whether a tool may run.
type OpenQuestion struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
}
