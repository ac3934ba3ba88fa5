package memory

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hark/internal/golden"
)

// wantRefusal checks that an error reads as testdata/seen.txtar has it.
func wantRefusal(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("it isn't refused")
		return
	}
	golden.Seen(t, err.Error())
}

func TestMessageIDsHoldTheirTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id   MessageID
		want string
	}{
		{0, "2015-01-01T00:00:00Z"},
		{175928847299117063, "2016-04-30T11:18:25.796Z"}, // the example in Discord's documentation
		{-1, "2014-12-31T23:59:59.999Z"},
	} {
		if got := c.id.Time().Format(time.RFC3339Nano); got != c.want {
			t.Errorf("%d is of %s, want %s", c.id, got, c.want)
		}
		if first := FirstMessageID(c.id.Time()); first > c.id || first.Time() != c.id.Time() ||
			(first-1).Time() == first.Time() {
			t.Errorf("%d isn't the first id of %d's millisecond", first, c.id)
		}
	}
}

func TestTimesBeyondAllIDs(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]MessageID{1: math.MinInt64, 1900: math.MinInt64, 2100: math.MaxInt64,
		9999: math.MaxInt64} {
		if got := FirstMessageID(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("the first id of %d is %d", year, got)
		}
	}
}

func TestIDsAreWrittenInDigits(t *testing.T) {
	t.Parallel()
	got := strings.Join([]string{GuildID(1).String(), ChannelID(22).String(), RoleID(333).String(),
		UserID(-4).String(), MessageID(1 << 62).String()}, " ")
	if got != "1 22 333 -4 4611686018427387904" {
		t.Errorf("got %s", got)
	}
}

func TestChannelKinds(t *testing.T) {
	t.Parallel()
	for kind := TextChannel; kind <= LocalChannel; kind++ {
		if got, want := kind.IsThread(), kind == PublicThread || kind == PrivateThread; got != want {
			t.Errorf("kind %d is a thread: %v", kind, got)
		}
	}
}

func TestDisplayNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		person Person
		want   string
	}{
		{Person{Username: "jane_d", Name: "Jane", Nick: "The Boss"}, "The Boss"},
		{Person{Username: "jane_d", Name: "Jane"}, "Jane"},
		{Person{Username: "jane_d"}, "jane_d"},
		{Person{}, ""},
	} {
		if got := c.person.DisplayName(); got != c.want {
			t.Errorf("%+v is shown as %q, want %q", c.person, got, c.want)
		}
	}
}

func TestMessageText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message Message
		want    string
	}{
		{Message{Content: "hello"}, "hello"},
		{Message{}, ""},
		{Message{Files: []File{{Name: "a.png"}}}, "[file: a.png]"},
		{Message{Content: "look", Files: []File{{Name: "a.png", Description: "a cat"}, {Name: "b.txt"}}},
			"look\n[file: a.png: a cat]\n[file: b.txt]"},
	} {
		if got := c.message.Text(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if at := (Message{ID: FirstMessageID(time.UnixMilli(1e12))}).Time(); !at.Equal(time.UnixMilli(1e12)) {
		t.Errorf("sent at %s", at)
	}
}

func TestKindsThatAreRecalled(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]bool{FromMember: true, FromBot: true, FromWebhook: true, FromHark: false,
		FromSystem: false} {
		if kind.Recalled() != want {
			t.Errorf("kind %d is recalled: %v", kind, !want)
		}
	}
}

func TestSegmentText(t *testing.T) {
	t.Parallel()
	s := Segment{Messages: []Message{{Content: "one"}, {Content: "two", Files: []File{{Name: "f"}}}}}
	if got := s.Text(); got != "one\ntwo\n[file: f]\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "nul\x00 inside", "\xff\xfe", "half \xe4\xbb",
		"\u202eright to left", "e" + strings.Repeat("\u0301", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("Clean(%q) = %q, which can't be stored", s, got)
		}
		if utf8.ValidString(s) && got != strings.ReplaceAll(s, "\x00", "") {
			t.Errorf("Clean(%q) = %q changes more than it must", s, got)
		}
		if Clean(got) != got {
			t.Errorf("%q isn't clean after all", got)
		}
	})
}

func TestAliases(t *testing.T) {
	t.Parallel()
	p := Person{Facts: []Fact{{Text: "sails"}, {Text: "Skipper", Alias: true}, {Text: "Cap", Alias: true}}}
	if got := p.Aliases(); !slices.Equal(got, []string{"Skipper", "Cap"}) {
		t.Errorf("they are called %q", got)
	}
	if got := (Person{Facts: p.Facts[:1]}).Aliases(); len(got) != 0 {
		t.Errorf("they are called %q", got)
	}
}
