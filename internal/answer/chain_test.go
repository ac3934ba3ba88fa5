package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// shownIn are the shown turns of a session, oldest first, each with its messages joined.
func (w *world) shownIn(q Question) []string {
	w.t.Helper()
	r := w.recall(q)
	var turns []string
	for _, i := range r.Prompt.Turns {
		var said []string
		for _, m := range r.turns[i] {
			said = append(said, m.Content)
		}
		turns = append(turns, strings.Join(said, "+"))
	}
	return turns
}

// replies logs a reply some time before noon.
func (w *world) replies(ago time.Duration, channel memory.ChannelID, author memory.UserID, text string,
	to memory.MessageID) memory.MessageID {
	w.t.Helper()
	return w.posts(ago, memory.Message{Guild: guild, Channel: channel, Author: author, Content: text, ReplyTo: to})
}

func TestRepliesAreFollowed(t *testing.T) {
	t.Parallel()
	for _, channel := range []memory.ChannelID{lobby, kiosk} { // of the kiosk nobody may read the past
		w := newWorld(t, nil)
		first := w.says(9*day, channel, ben, "first")
		w.says(9*day-time.Hour, channel, ben, "beside it")
		second := w.replies(8*day, channel, cleo, "second", first)
		gone := w.replies(7*day, channel, ben, "gone", second)
		after := w.replies(6*day, channel, ben, "after what is gone", gone)
		unknown := w.posts(5*day, memory.Message{Guild: guild, Channel: channel, Author: oracle,
			Kind: memory.FromHark, Content: "of unknown origin", ReplyTo: second})
		third := w.replies(4*day, channel, ann, "third", unknown)
		other := w.says(3*day, channel, cleo, "other")
		w.says(3*time.Minute, channel, ben, "now")
		here := w.replies(2*time.Minute, channel, cleo, "to the other", other)
		w.deletes(channel, gone)
		session := "now|to the other"
		for to, chain := range map[memory.MessageID]string{
			0: "other", first: "first|other", second: "first|second|other", third: "first|second|third|other",
			after: "after what is gone|other", here: "other", gone: "other",
			other: "other",
		} {
			q := w.asks(channel, "And?")
			q.ReplyTo = to
			want := chain + "|" + session
			if channel == kiosk {
				want = session
			}
			// Each further question is part of the session.
			got := strings.Join(w.shownIn(q), "|")
			w.deletes(channel, q.ID)
			if got != want {
				t.Errorf("in channel %d, replying to %d: %s, want %s", channel, to, got, want)
			}
		}
	}
}

// Chains have an end, and one that is a ring too.
func TestLongChainsAreCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	last := memory.MessageID(0)
	for i := range 2 * chainMost {
		last = w.replies(time.Duration(90-i)*day, lobby, ben, fmt.Sprint(i), last)
	}
	var heads []memory.MessageID
	for i := range 2 * chainMost {
		heads = append(heads, w.says(time.Duration(40*60-i)*time.Minute, lobby, cleo, fmt.Sprint("head ", i)))
	}
	for i, head := range heads {
		w.replies(time.Duration(25-i)*time.Minute/2, lobby, []memory.UserID{ben, cleo}[i%2], "reply", head)
	}
	q := w.asks(lobby, "And?")
	q.ReplyTo = last
	r := w.recall(q)
	if r.older != chainMost || r.turns[chainDepth-5][0].Content != "19" {
		t.Errorf("%d older turns, %v", r.older, r.turns[:r.older])
	}
	ring := w.says(100*day, lobby, ben, "round")
	w.apply(memory.Posted{Message: memory.Message{ID: ring, Guild: guild, Channel: lobby, Author: ben,
		Content: "round and round", ReplyTo: ring, Edited: noon}})
	if q.ReplyTo = ring; !strings.HasPrefix(strings.Join(w.shownIn(q), "|"), "round and round|") {
		t.Errorf("%v", w.shownIn(q))
	}
}

// What the question replies to is shown even if the session has no room for what is older.
func TestRepliedToIsShownInAnyCase(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	said := w.chats(lobby, 50)
	w.condensesNow(lobby)
	for i := range 20 {
		w.says(-time.Duration(i)*time.Second, lobby, []memory.UserID{ben, cleo}[i%2],
			strings.Repeat("Blah blah and so on. ", 30))
	}
	q := w.asksAt(time.Minute, lobby, "Really?")
	q.ReplyTo = said[2] // which the summary tells of
	if got := w.shownIn(q); got[0] != "And the okra of the iiisland?" || len(got) > 20 {
		t.Errorf("%d turns: %.300q", len(got), got)
	}
	has(t, w.prompt(q), condensedTitle+"\n  Ben: We agreed")
}

// For whom the beginning of a thread may be shown the properties hold.
func TestThreadsKnowWhatTheyBeganFrom(t *testing.T) {
	t.Parallel()
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-3*day))) + 31
	said := memory.Message{Author: cleo, Content: "Shall we climb the hill?"}
	for name, c := range map[string]struct {
		channel, parent memory.ChannelID
		kind            memory.ChannelKind
		starter         memory.Message
		shown           bool
	}{
		"a thread":         {lobby, lobby, memory.PublicThread, said, true},
		"a private thread": {lobby, lobby, memory.PrivateThread, said, true},
		"a forum's post":   {id, lobby, memory.PublicThread, said, true},
		"a long one": {lobby, lobby, memory.PublicThread,
			memory.Message{Author: cleo, Content: strings.Repeat("long ", 500)}, true},
		"another channel with that message": {harbor, lobby, memory.PublicThread, said, false},
		"no thread":                         {lobby, lobby, memory.TextChannel, said, false},
		"Hark's own, of unknown origin": {lobby, lobby, memory.PublicThread,
			memory.Message{Author: oracle, Kind: memory.FromHark, Content: "hm"}, false},
	} {
		w := newWorld(t, nil)
		w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: c.parent,
			Kind: c.kind, Name: "thread"}})
		c.starter.ID, c.starter.Guild, c.starter.Channel = memory.MessageID(id), guild, c.channel
		w.apply(memory.Posted{Message: c.starter})
		w.says(time.Minute, id, ben, "now")
		q := w.asks(id, "So?")
		got := w.shownIn(q)
		if shown := len(got) > 0 && got[0] == c.starter.Content; shown != c.shown {
			t.Errorf("%s: shown %.100q", name, got)
		}
		if p := w.prompt(q); strings.Count(p, "Shall we climb") > 1 || strings.Count(p, "long long") > starterShown/10 {
			t.Errorf("%s: prompt\n%s", name, p)
		}
	}
}

func TestMessagesOfOneAuthorAreJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	say := func(ago time.Duration, who memory.UserID, text string) memory.MessageID {
		return w.says(ago, lobby, who, text)
	}
	one := say(25*time.Minute, ben, "one")
	two := say(24*time.Minute, ben, "two")
	say(20*time.Minute, ben, "late")
	third := say(19*time.Minute, cleo, "other")
	say(18*time.Minute, ben, "back")
	w.replies(17*time.Minute, lobby, ben, "to other", third)
	own := w.replies(16*time.Minute, lobby, ben, "to self", one)
	say(15*time.Minute+time.Second, cleo, strings.Repeat("x", 300))
	say(15*time.Minute, cleo, strings.Repeat("y", 300))
	say(14*time.Minute, ann, "before")
	say(13*time.Minute, oracle, "of unknown origin")
	say(12*time.Minute, ann, "after")
	for i := range joinMost + 1 {
		say(11*time.Minute-time.Duration(i)*time.Second, cleo, fmt.Sprint(i))
	}
	q := w.asks(lobby, "And?")
	want := "one+two|late|other|back|to other+to self|" + strings.Repeat("x", 300) + "|" +
		strings.Repeat("y", 300) + "|before|after|0+1+2+3+4+5+6+7+8+9|10"
	if got := strings.Join(w.shownIn(q), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	has(t, w.prompt(q), "[06-15 11:35] <@22> (Ben): one\n  two\n[06-15 11:40]")
	w.apply(memory.Edited{Guild: guild, Channel: lobby, ID: two, Content: "2", At: noon},
		memory.Deleted{Guild: guild, Channel: lobby, IDs: []memory.MessageID{third, own}})
	if got := strings.Join(w.shownIn(q), "|"); !strings.HasPrefix(got, "one+2|late+back|to other|x") {
		t.Errorf("after an edit and a deletion %s", got)
	}
	// Each message is known: to the trace, and to what is forgotten.
	w.engine.model = &scripted{pieces: []string{"Yes."}}
	answer := w.gives(q, -time.Minute)
	w.apply(memory.Edited{Guild: guild, Channel: lobby, ID: two, Content: "II", At: noon.Add(time.Second)})
	if left, err := w.store.Around(t.Context(), lobby, []memory.MessageID{answer}, 0, 0); err != nil || len(left) > 0 {
		t.Errorf("an answer outlived a message of a turn: %v, %v", left, err)
	}
}

// Where nothing is logged, chains are followed among what is known of the moment.
func TestUnloggedChains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.alter(nil, Options{})
	first, second := before(5*time.Hour, ben, "first"), before(4*time.Hour, cleo, "second")
	second.ReplyTo = first.ID
	q := unlogged("So?", first, second, before(3*time.Hour, cleo, "beside it"), before(2*time.Minute, ben, "now"))
	q.ReplyTo = second.ID
	if got := strings.Join(w.shownIn(q), "|"); got != "first|second|now" {
		t.Errorf("got %s", got)
	}
}

func TestSummariesAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(3*day, lobby, ben, "the ferry to the lighthouse leaves at 9")
	w.says(3*day-time.Minute, lobby, ann, "I sail there in my own boat")
	w.says(2*day, lobby, cleo, "the harbour was decided to be closed in October")
	w.sumsUpAt(noon)
	const ferry, closed = "leaves at 9", "closed in October"
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"none":        {Filter{}, []string{ferry, closed}},
		"a topic":     {Filter{Summaries: search.SummaryFilter{Topic: "lighthouses"}}, []string{ferry}},
		"since":       {Filter{Since: noon.Add(-2 * day)}, []string{closed}},
		"until":       {Filter{Until: noon.Add(-2 * day)}, []string{ferry}},
		"in between":  {Filter{Since: noon.Add(-3*day + time.Second)}, []string{closed}},
		"there":       {Filter{In: []memory.ChannelID{lobby}}, []string{ferry, closed}},
		"elsewhere":   {Filter{In: []memory.ChannelID{harbor}}, nil},
		"of somebody": {Filter{From: []memory.UserID{ben}}, nil},
	} {
		q := Question{Guild: guild, Channel: lobby, Asker: ann, Text: "When does the ferry leave?", Now: noon,
			Filter: c.filter}
		shown := previous(w.prompt(q))
		for _, text := range []string{ferry, closed} {
			if got := strings.Contains(shown, text); got != slices.Contains(c.want, text) {
				t.Errorf("%s: %q is shown: %t", name, text, got)
			}
		}
		q.Session = []memory.Message{}
		if shown := previous(w.prompt(q)); shown != "" {
			t.Errorf("%s, where nothing is logged, there is %s", name, shown)
		}
	}
	w.engine = w.over(w.store, nil, builder.Options{}, Options{NoSummaries: true})
	if shown := previous(w.prompt(w.asks(lobby, "When does the ferry leave?"))); shown != "" {
		t.Errorf("switched off, and there is %s", shown)
	}
}

func TestTheSessionItselfIsNoEarlierContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.says(5*time.Hour, lobby, ben, "the ferry leaves at 9")
	first, second := w.says(20*time.Minute, lobby, ben, "barrel 7 of the fish is sold"),
		w.says(10*time.Minute, lobby, ben, "barrel 8 as well")
	for until, text := range map[memory.MessageID]string{first: "the ferry and a barrel", second: "two barrels"} {
		s := memory.Summary{ID: until, Guild: guild, Channel: lobby, Text: text, Kind: memory.SummaryTalk,
			Made: noon, Sources: []memory.SummarySource{{Message: first}}}
		if other := map[memory.MessageID]memory.MessageID{first: before, second: second}[until]; other != first {
			s.Sources = append(s.Sources, memory.SummarySource{Message: other})
		}
		w.apply(memory.Summarised{Guild: guild, Channel: lobby, Until: until, Summary: &s})
	}
	if shown := previous(w.prompt(w.asks(lobby, "How many barrels are sold?"))); !strings.Contains(shown,
		"the ferry and a barrel") || strings.Contains(shown, "two barrels") {
		t.Errorf("shown is\n%s", shown)
	}
}
