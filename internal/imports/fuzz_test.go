package imports

import (
	"strings"
	"testing"

	"hark/memory"
)

func FuzzReadSet(f *testing.F) {
	for _, seed := range []string{set, set[:200], zip(set),
		line(map[string]any{"reply_to": []string{"m1", "x"}}), discords(map[string]any{"mentions": []any{1},
			"files": []any{map[string]any{"name": "a"}}}), "{\"type\":\"message\",\"channel\":\"\xff\"}",
		"[]", "\x1f\x8b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		checkRead(t, file)
		set, err := ReadSet(strings.NewReader(file))
		for channel, ids := range set.Messages {
			if _, unnamed := ids[""]; channel == "" || len(ids) == 0 || unnamed {
				t.Errorf("messages %v of channel %q, %v", ids, channel, err)
			}
		}
	})
}

func FuzzReadExport(f *testing.F) {
	for _, seed := range []string{exportMessages, exportMessages[:300], `{"id":"1"}]}`,
		`{"id":"2","stickers":[{}],"embeds":[{}],"forwardedMessage":{"content":"x"}}]}`, "]}x", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) { checkRead(t, exportHead+rest) })
}

// checkRead reads a file twice and checks that all it gives can be stored, and that twice is once.
func checkRead(t *testing.T, file string) {
	s := newShelf()
	var count int
	for range 2 {
		sum, err := Read(t.Context(), strings.NewReader(file), s, func(events []memory.Event) error {
			for _, e := range events {
				checkEvent(t, s, e)
				if err := s.apply([]memory.Event{e}); err != nil {
					return err
				}
			}
			return nil
		}, nil)
		if err != nil && err.Error() == "" {
			t.Error("an error without a sentence")
		}
		if count != 0 && len(s.messages) != count {
			t.Errorf("the second import made %d messages of %d", len(s.messages), count)
		}
		count = len(s.messages)
		if sum.Messages < count {
			t.Errorf("counted %d, kept %d", sum.Messages, count)
		}
	}
}

func checkEvent(t *testing.T, s *shelf, e memory.Event) {
	storable := func(texts ...string) {
		for _, text := range texts {
			if memory.Clean(text) != text {
				t.Errorf("%q can't be stored", text)
			}
		}
	}
	switch e := e.(type) {
	case memory.ChannelSeen:
		storable(e.Channel.Name)
		if e.Channel.ID == 0 || !e.Channel.Unplaced && e.Channel.Kind != memory.LocalChannel {
			t.Errorf("channel %+v", e.Channel)
		}
	case memory.GuildNamed:
		storable(e.Name)
		if e.Name == "" || e.Guild == memory.DirectGuild || e.Guild == memory.LocalGuild {
			t.Errorf("guild %+v", e)
		}
	case memory.PersonSeen:
		storable(e.Person.Username, e.Person.Nick, e.Person.Name)
		if e.Person.ID == 0 {
			t.Errorf("person %+v", e.Person)
		}
	case memory.Posted:
		storable(e.Message.Content)
		for _, f := range e.Message.Files {
			storable(f.Name)
		}
		for _, m := range e.Message.Mentions {
			if m == 0 {
				t.Error("a mention of nobody")
			}
		}
		if _, ok := s.channels[e.Message.Channel]; !ok || e.Message.ID == 0 {
			t.Errorf("message %d before its channel", e.Message.ID)
		}
	case memory.ExternalIDSeen:
		storable(e.ExternalID)
		if e.ExternalID == "" || e.ID == 0 {
			t.Errorf("name %+v", e)
		}
	case memory.Starred:
		if !e.On || e.At.IsZero() || e.ID == 0 {
			t.Errorf("star %+v", e)
		}
	default:
		t.Errorf("an import gave %T", e)
	}
}
