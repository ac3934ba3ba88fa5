package bot

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/exports"
	"hark/memory"
)

func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// exported are the texts in an export's files, and the number of files.
func (s *scene) exported(t *testing.T, i *discordtest.Interaction) (texts []string, files int) {
	t.Helper()
	i.WaitMessage()
	for _, m := range i.FollowUps() {
		if m.Flags&discordtest.Ephemeral == 0 {
			t.Error("everybody sees a file")
		}
		for _, a := range m.Attachments {
			files++
			data, there := s.discord.File(a)
			if !there || a.ContentType != "application/gzip" || !strings.HasSuffix(a.Filename, ".jsonl.gz") {
				t.Fatalf("sent %+v", a)
			}
			for line := range strings.Lines(string(unpacked(t, data))) {
				var e exports.Message
				if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type != "message" ||
					e.Server != s.guild.ID.String() || e.Author == "" {
					t.Errorf("%v: %s", err, line)
				}
				texts = append(texts, e.Text)
			}
		}
	}
	return texts, files
}

func TestExportsHaveWhatTheAdminCanRead(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	hidden := s.secret("hidden")
	ignored := s.addChannel("ignored")
	other := s.addChannel("other")
	thread := s.addThread("more", other.ID)
	s.says(t, s.use(t, s.ana, "hark export"))
	s.apply(t, memory.Chose{Guild: s.guildID, Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember})
	for _, at := range []discordtest.ID{hidden.ID, ignored.ID, s.channel, other.ID, thread.ID} {
		s.discord.Say(at, s.bo.ID, fmt.Sprint("old ", at))
		s.log.waitSaid(t, fmt.Sprint("them: old ", at))
	}
	s.use(t, s.ana, "hark channel ignore", opt("channel", ignored.ID))
	s.discord.Advance(10 * 24 * time.Hour)
	s.posts(t, s.channel, s.bo.ID, "new <&>")
	old := func(ids ...discordtest.ID) (texts []string) {
		for _, id := range ids {
			texts = append(texts, fmt.Sprint("old ", id))
		}
		return texts
	}
	for _, tt := range []struct {
		name    string
		options []discordtest.Opt
		want    []string
	}{
		{"all", nil, append(append(old(s.channel), "new <&>"), old(other.ID, thread.ID)...)},
		{"a channel with its threads", []discordtest.Opt{opt("channel", other.ID)}, old(other.ID, thread.ID)},
		{"what is new", []discordtest.Opt{opt("since", "5d")}, []string{"new <&>"}},
		{"what is old, here", []discordtest.Opt{opt("before", "5d"), opt("channel", s.channel)}, old(s.channel)},
		{"a channel that can't be read", []discordtest.Opt{opt("channel", hidden.ID)}, nil},
	} {
		i := s.discord.Slash(s.channel, s.ana.ID, "hark export", tt.options...)
		m := s.turns(t, i)
		texts, files := s.exported(t, i)
		if fmt.Sprint(texts) != fmt.Sprint(tt.want) || files > 1 {
			t.Errorf("%s: %q in %d files, want %q: %q", tt.name, texts, files, tt.want, m.Content)
		}
	}
	s.says(t, s.use(t, s.ana, "hark export", opt("since", "1d"), opt("before", "2d")))
	s.says(t, s.use(t, s.ana, "hark export", opt("since", "x")))
	s.says(t, s.use(t, s.ana, "hark export", opt("before", "x")))
}

func TestLongExportsAreSeveralFiles(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.bot.sizes.Part = 1 // so that every page is a file
	var events []memory.Event
	for n := range exportPage*exportParts + 50 {
		events = append(events, memory.Posted{Message: memory.Message{ID: memory.MessageID(s.channel) +
			memory.MessageID(n+1), Guild: s.guildID,
			Channel: s.channelID, Author: s.boID, Content: fmt.Sprint("n", n)}})
	}
	s.apply(t, events[:150]...)
	i := s.discord.Slash(s.channel, s.ana.ID, "hark export")
	s.turns(t, i)
	if texts, files := s.exported(t, i); len(texts) != 150 || files != 2 || texts[149] != "n149" {
		t.Errorf("%d messages in %d files", len(texts), files)
	}
	s.apply(t, events[150:]...)
	i = s.discord.Slash(s.channel, s.ana.ID, "hark export")
	s.turns(t, i)
	if texts, files := s.exported(t, i); len(texts) != exportPage*exportParts || files != exportParts {
		t.Errorf("%d messages in %d files", len(texts), files)
	}
	s.discord.Inject("POST /webhooks/*/*", 1, discordtest.Forbidden())
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark export"))
	s.discord.Inject("POST /webhooks/*/*", 1, discordtest.Unfit())
	s.turns(t, s.discord.Slash(s.channel, s.ana.ID, "hark export"))
}
