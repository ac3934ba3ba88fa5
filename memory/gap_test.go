package memory_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	. "hark/memory"
)

// logbook is a store of channels' oldest messages, and of gaps.
type logbook struct {
	Store
	oldest        map[ChannelID]MessageID
	gaps          []Gap
	logErr, noGap error
}

func (l *logbook) Log(_ context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error) {
	if id := l.oldest[channel]; id > after && id <= until && limit > 0 {
		return []Message{{ID: id}}, l.logErr
	}
	return nil, l.logErr
}

func (l *logbook) Gaps(context.Context, GuildID, bool) ([]Gap, error) {
	return append([]Gap(nil), l.gaps...), l.noGap
}

func TestThePastOfChannels(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 31, 0, 0, 0, 0, time.UTC)
	at := func(day int) MessageID { return FirstMessageID(now.AddDate(0, 0, -day)) }
	g := &Guild{ID: 2, Since: at(100), Channels: []Channel{
		{ID: 21}, {ID: 22, Parent: 21, Kind: PublicThread}, {ID: 23, Kind: ForumChannel},
		{ID: 24, Parent: 23, Kind: PublicThread},
		{ID: 25, Settings: map[Setting]string{SettingPast: "nonsense"}},
		{ID: 26, Settings: map[Setting]string{SettingPast: at(20).String()}},
		{ID: 27, Parent: 21}, // in a category
	}}
	book := &logbook{oldest: map[ChannelID]MessageID{21: at(50), 22: at(150), 25: at(400), 26: at(400)}, gaps: []Gap{
		{Guild: 2, Channel: 24, Until: at(1), Past: true}, {Guild: 2, Channel: 21, Until: at(1)},
		{Guild: 2, Channel: 99, Until: at(1), Past: true},
	}}
	past := func(channel ChannelID, after, until MessageID) Gap {
		return Gap{Guild: 2, Channel: channel, After: after, Until: until, Past: true}
	}
	all := func(Channel) bool { return true }
	for _, tt := range []struct {
		name  string
		id    ChannelID
		after MessageID
		may   func(Channel) bool
		want  []Gap
		begun time.Time
	}{
		{"before what is known, with a thread of which older ones were imported", 21, 0, all,
			[]Gap{past(21, 0, at(50)-1), past(22, 0, at(100))}, (at(50) - 1).Time()},
		{"since then", 21, at(60), all, []Gap{past(21, at(60), at(50)-1)}, (at(50) - 1).Time()},
		{"where there is nothing before", 21, at(50), all, nil, (at(50) - 1).Time()},
		{"what may not be fetched", 21, 0, func(c Channel) bool { return c.ID == 22 },
			[]Gap{past(22, 0, at(100))}, at(100).Time()},
		{"a forum whose thread is on the list", 23, 0, all, nil, time.Time{}},
		{"where nothing is known", 27, 0, all, []Gap{past(27, 0, at(0))}, at(0).Time()},
		{"that was stopped", 26, 0, all, []Gap{past(26, 0, at(20))}, at(20).Time()},
		{"that was stopped nowhere", 25, 0, all, []Gap{past(25, 0, at(100))}, at(100).Time()},
	} {
		gaps, begun, err := PastGaps(t.Context(), book, g, tt.id, tt.after, now, tt.may)
		if err != nil || !reflect.DeepEqual(gaps, tt.want) || !begun.Equal(tt.begun) {
			t.Errorf("%s: %+v, %v, %v; want %+v, %v", tt.name, gaps, begun, err, tt.want, tt.begun)
		}
	}
	listed, err := PastOf(t.Context(), book, g, 23)
	if err != nil || !reflect.DeepEqual(listed, []Gap{past(24, 0, at(1))}) {
		t.Errorf("on the list: %+v, %v", listed, err)
	}
	down := errors.New("down")
	book.logErr = down
	if _, _, err := PastGaps(t.Context(), book, g, 21, 0, now, all); !errors.Is(err, down) {
		t.Error(err)
	}
	book.noGap = down
	if _, _, err := PastGaps(t.Context(), book, g, 21, 0, now, all); !errors.Is(err, down) {
		t.Error(err)
	}
}

func TestPastsAreBegunAndStopped(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 31, 0, 0, 0, 0, time.UTC)
	gap := Gap{Guild: 2, Channel: 21, After: 5, Until: 90, Past: true, Fetched: 3}
	set := SettingChosen{Guild: 2, Channel: 21, Key: SettingPast, At: at}
	if got, want := BeginPast([]Gap{gap}, at), []Event{GapFound{Gap: gap}, set}; !reflect.DeepEqual(got, want) {
		t.Errorf("begun by %+v", got)
	}
	set.Value = "90"
	if got, want := StopPast([]Gap{gap}, at), []Event{GapFilled{Gap: gap, Through: 90},
		set}; !reflect.DeepEqual(got, want) {
		t.Errorf("stopped by %+v", got)
	}
}

// A choice for a category or a channel makes a past of what begins to be remembered, and of nothing else.
func TestWhatWasntRememberedIsPast(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 31, 0, 0, 0, 0, time.UTC)
	g := &Guild{ID: 2, Choice: RememberChosen, Channels: []Channel{
		{ID: 20, Kind: CategoryChannel}, {ID: 21, Parent: 20}, {ID: 22, Parent: 21, Kind: PublicThread},
		{ID: 23, Parent: 20, Choice: Ignore}, {ID: 24, Parent: 20, Choice: Remember}, {ID: 25},
	}}
	for channel, want := range map[ChannelID][]ChannelID{20: {21, 22}, 21: {21, 22}, 23: {23}, 24: nil} {
		var got []ChannelID
		for _, e := range NewPast(Policy{Ask: true}, g, Chose{Guild: 2, Channel: channel, Choice: Remember,
			At: at}, at) {
			set := e.(SettingChosen)
			if set.Guild != 2 || set.Key != SettingPast || set.Value != (FirstMessageID(at)-1).String() ||
				!set.At.Equal(at) {
				t.Errorf("set %+v", set)
			}
			got = append(got, set.Channel)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("by remembering %d there is a past of %v, want %v", channel, got, want)
		}
	}
	if g.Channels[3].Choice != Ignore {
		t.Error("the guild has changed")
	}
}
