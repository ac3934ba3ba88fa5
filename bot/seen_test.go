package bot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

var (
	linkOf = regexp.MustCompile(`https://discord\.com/channels/(\d+|@me)/(\d+)/(\d+)`)
	idOf   = regexp.MustCompile(`\d{15,}`)
	codeOf = regexp.MustCompile(`"code":"([a-z2-7]{8})"`)
)

// reads is text with names for ids and codes, which differ from run to run, and with times written out.
func (s *scene) reads(text string) string {
	for _, code := range codeOf.FindAllStringSubmatch(s.out.String(), -1) {
		text = strings.ReplaceAll(text, code[1], "CODE")
	}
	others := map[string]string{}
	name := func(id string) string {
		n, err := strconv.ParseInt(id, 10, 64)
		if known := s.discord.Name(discordtest.ID(n)); err == nil && known != "" {
			return known
		}
		if others[id] == "" {
			others[id] = fmt.Sprintf("id%d", len(others)+1)
		}
		return others[id]
	}
	text = linkOf.ReplaceAllStringFunc(text, func(link string) string {
		part := linkOf.FindStringSubmatch(link)
		if part[1] == "@me" {
			part[2] = "direct"
		}
		return "https://discord.com/channels/" + name(part[1]) + "/" + name(part[2]) + "/" + name(part[3])
	})
	text = mentionMark.ReplaceAllStringFunc(text, func(mention string) string {
		return name(mentionMark.FindStringSubmatch(mention)[1])
	})
	text = commandMark.ReplaceAllString(text, "`/$1`") // as it is named until its id is known
	text = timeMark.ReplaceAllStringFunc(text, func(mark string) string {
		part := timeMark.FindStringSubmatch(mark)
		unix, _ := strconv.ParseInt(part[1], 10, 64)
		return "<" + time.Unix(unix, 0).UTC().Format("2 Jan 2006 15:04:05") + " " + part[2] + ">"
	})
	text = waitMark.ReplaceAllString(text, "0 events wait") // its own use may
	return idOf.ReplaceAllStringFunc(text, name)
}

// looks is a message's text, buttons, menus and files.
func (s *scene) looks(m discordtest.Sent) string {
	text := s.reads(m.Content)
	for _, raw := range m.Components {
		var row discord.Component
		if err := json.Unmarshal(raw, &row); err != nil {
			return err.Error()
		}
		var parts []string
		for _, c := range row.Components {
			if c.Disabled {
				parts = append(parts, "( "+s.labelOf(c)+" )")
			} else {
				parts = append(parts, "[ "+s.labelOf(c)+" ]")
			}
		}
		text += "\n" + strings.Join(parts, " ")
	}
	for _, a := range m.Attachments {
		text += "\n📎 " + s.reads(a.Filename)
	}
	return text
}

// labelOf is the text on a button or a menu.
func (s *scene) labelOf(c discord.Component) string {
	if c.Type != discord.ComponentMenu && c.Type != discord.ComponentChannels {
		return c.Label
	}
	if at := slices.IndexFunc(c.Options, func(o discord.Choice) bool { return o.Default }); at >= 0 {
		return s.reads(c.Options[at].Label) + " ▾"
	}
	return s.reads(c.Placeholder) + " ▾"
}

// says compares a message, below the use that it answers, with the golden file.
func (s *scene) says(t *testing.T, m discordtest.Sent) {
	t.Helper()
	text := s.looks(m)
	if did := s.did[m.ID]; did != "" {
		text = s.reads(did) + "\n\n" + text
		delete(s.did, m.ID)
	}
	golden.Seen(t, text)
}

// turns is says for what an interaction shows in the end.
func (s *scene) turns(t *testing.T, i *discordtest.Interaction) discordtest.Sent {
	t.Helper()
	i.Wait()
	s.idle(t)
	m := i.WaitMessage()
	s.says(t, m)
	return m
}

// lately is says for what an interaction shows once it has a word.
func (s *scene) lately(t *testing.T, i *discordtest.Interaction, word string) discordtest.Sent {
	t.Helper()
	i.Wait()
	var m discordtest.Sent
	s.discord.WaitFor(word, func() bool {
		m = i.WaitMessage()
		return slices.Contains(strings.Fields(m.Content), word)
	})
	s.says(t, m)
	return m
}

// everyPage is pages, compared with the golden file.
func (s *scene) everyPage(t *testing.T, i *discordtest.Interaction) string {
	t.Helper()
	all := s.pages(t, i)
	golden.Seen(t, s.reads(all))
	return all
}

// pages is all text that an interaction shows.
func (s *scene) pages(t *testing.T, i *discordtest.Interaction) string {
	t.Helper()
	i.Wait()
	s.idle(t)
	first := i.WaitMessage()
	all := first.Content
	for _, m := range i.FollowUps() {
		if m.Flags&discordtest.Ephemeral == 0 {
			t.Error("everybody sees a page")
		}
		all += "\n" + m.Content
	}
	return all
}

// hears is says for what only the presser is told.
func (s *scene) hears(t *testing.T, i *discordtest.Interaction) {
	t.Helper()
	golden.Seen(t, s.reads(whispered(t, s, i)))
}

// logs is says for a line of the journal, once one has the mark.
func (s *scene) logs(t *testing.T, mark string) {
	t.Helper()
	s.out.wait(t, mark)
	for line := range strings.Lines(s.out.String()) {
		var says struct{ Level, Message, Error string }
		if strings.Contains(line, mark) && json.Unmarshal([]byte(line), &says) == nil {
			golden.Seen(t, s.reads(says.Level+": "+says.Message+": "+says.Error))
			return
		}
	}
}

// becomes is says for a message once it has no buttons any more.
func (s *scene) becomes(t *testing.T, m discordtest.Message) discordtest.Sent {
	t.Helper()
	s.discord.WaitFor("a message without buttons", func() bool { return len(s.now(m).Components) == 0 })
	now := s.now(m)
	s.says(t, now)
	return now
}

// replied is says for the reply to a message.
func (s *scene) replied(t *testing.T, to discordtest.Message) discordtest.Sent {
	t.Helper()
	m := s.reply(t, to)
	s.says(t, m)
	return m
}

// reply waits until a message is answered, and that is logged if it is to be.
func (s *scene) reply(t *testing.T, to discordtest.Message) discordtest.Sent {
	t.Helper()
	m := s.discord.WaitSent(to.ChannelID, func(m discordtest.Sent) bool {
		return m.Reference != nil && m.Reference.MessageID == to.ID
	})
	s.discord.WaitFor("an answer to be over", func() bool {
		_, logged := find(s.log, func(e memory.Posted) bool { return e.Message.ID == memory.MessageID(m.ID) })
		return logged || s.bot.idle()
	})
	return s.now(m.Message)
}
