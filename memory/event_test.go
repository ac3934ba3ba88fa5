package memory

import (
	"errors"
	"testing"
	"time"
)

func TestEventsSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event   Event
		guild   GuildID
		channel ChannelID
	}{
		{Posted{Message: Message{Guild: 1, Channel: 2}}, 1, 2},
		{Answered{Trace: Trace{Guild: 1, Channel: 2}}, 1, 2},
		{Recorded{Record: Record{Guild: 1, Channel: 2}}, 1, 2},
		{GapFilled{Gap: Gap{Guild: 1, Channel: 2}}, 1, 2},
		{ChannelSeen{Channel: Channel{Guild: 1, ID: 2}}, 1, 2},
		{SessionCondensed{Condensed: Condensed{Guild: 1, Channel: 2}}, 1, 2},
		{ExternalIDSeen{Channel: 2}, Everywhere, 2},
		{QuestionClosed{Channel: 2}, Everywhere, 2},
		{Marked{Channel: 2}, Everywhere, 2},
		{GuildSeen{Guild: Guild{ID: 1}}, 1, 0},
		{PersonSeen{Person: Person{Guild: 1}}, 1, 0},
		{LoreTold{Lore: Lore{Guild: 1, Channel: 2}}, 1, 0},
		{Forgetting{Guild: 1, Channel: 2}, 1, 0}, // with the channel's threads
	} {
		guild, channel := test.event.Place()
		if guild != test.guild || channel != test.channel {
			t.Errorf("%T is about server %d, channel %d", test.event, guild, channel)
		}
	}
}

func TestInvalidEventsAreRefused(t *testing.T) {
	t.Parallel()
	for _, e := range []Event{Posted{}, Answered{}, LoreTold{}, Recorded{}, Summarised{}, SessionCondensed{}, Forgetting{},
		LimitChosen{RoleLimit: RoleLimit{Limit: Limit{Messages: -2}}}, Spent{}} {
		_, err := Checked(e)
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%T: %v, want ErrRefused", e, err)
		}
	}
}

func TestWhatIsStoredIsClean(t *testing.T) {
	t.Parallel()
	posted := Message{ID: 1, Channel: 1, Content: "a\x00", Starred: true, Files: []File{{Name: "b\x00"}},
		Links: []Link{{Title: "c\x00"}}}
	e, err := Checked(Posted{Message: posted})
	if err != nil {
		t.Fatal(err)
	}
	m := e.(Posted).Message
	if m.Content != "a" || m.Files[0].Name != "b" || m.Links[0].Title != "c" || m.Starred {
		t.Errorf("got %+v", m)
	}
	if posted.Files[0].Name != "b\x00" || posted.Links[0].Title != "c\x00" {
		t.Error("the caller's message was changed")
	}
	for _, test := range []struct {
		event Event
		text  func(Event) string
	}{
		{Edited{Content: "a\x00"}, func(e Event) string { return e.(Edited).Content }},
		{Told{Text: "a\x00"}, func(e Event) string { return e.(Told).Text }},
		{SettingChosen{Value: "a\x00"}, func(e Event) string { return e.(SettingChosen).Value }},
	} {
		e, err := Checked(test.event)
		if err != nil || test.text(e) != "a" {
			t.Errorf("%T: %q, %v", test.event, test.text(e), err)
		}
	}
}

func TestWhatPeopleDecide(t *testing.T) {
	t.Parallel()
	for _, e := range []Event{Chose{}, SettingChosen{}, LimitChosen{}, Opted{}, Learn{}, Connected{}, FactTold{}, FactGone{},
		LoreTold{}, LoreGone{}, Starred{}, Deleted{}, Forgetting{At: time.Now()}} {
		if !Decides(e) {
			t.Errorf("%T isn't a decision", e)
		}
	}
	for _, e := range []Event{Posted{}, Edited{}, GuildSeen{}, PersonSeen{}, ConnectionUsed{}, Learned{}} {
		if Decides(e) {
			t.Errorf("%T is a decision", e)
		}
	}
}
