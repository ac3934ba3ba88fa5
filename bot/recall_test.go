package bot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// holding has the oracle find n messages of bo's, and show those that aren't gone.
func (s *scene) holding(n int, gone map[memory.MessageID]bool) {
	message := func(id memory.MessageID) memory.Message {
		return memory.Message{ID: id, Guild: s.guildID, Channel: s.channelID,
			Author: s.boID, Content: fmt.Sprintf("the *deadline* no. %d.", id)}
	}
	s.oracle.find = func(answer.Question) (answer.FindResult, error) {
		var f answer.FindResult
		for i := range n {
			f.Found = append(f.Found, answer.FoundMessage{Channel: s.channelID,
				Message: memory.MessageID(i + 1), Relevance: 0.9})
		}
		return f, nil
	}
	s.oracle.look = func(q answer.Question, found []answer.FoundMessage) ([]answer.InspectedMessage, error) {
		s.oracle.mu.Lock()
		defer s.oracle.mu.Unlock()
		s.oracle.asked = append(s.oracle.asked, q)
		var seen []answer.InspectedMessage
		for _, f := range found {
			if !gone[f.Message] {
				seen = append(seen, answer.InspectedMessage{Relevance: f.Relevance, Message: message(f.Message)})
			}
		}
		return seen, nil
	}
}

func (s *scene) lose(gone map[memory.MessageID]bool, ids ...memory.MessageID) {
	s.oracle.mu.Lock()
	defer s.oracle.mu.Unlock()
	for _, id := range ids {
		gone[id] = true
	}
}

// buttonsIn are a message's buttons by label.
func buttonsIn(m discordtest.Sent) map[string]discord.Component {
	all := map[string]discord.Component{}
	for _, b := range partsOf(m.Message) {
		all[b.Label] = b
	}
	return all
}

// turn presses a button, and is the message once it contains text.
func (s *scene) turn(t *testing.T, m discordtest.Sent, who discordtest.User, label, text string) discordtest.Sent {
	t.Helper()
	i := s.discord.Click(m.Message, who.ID, buttonsIn(m)[label].CustomID)
	if r := i.Wait(); r.Type != discord.RespondUpdating {
		t.Errorf("pressing %s was answered with %+v", label, r)
	}
	var now discordtest.Sent
	s.discord.WaitFor(text, func() bool {
		now = i.WaitMessage()
		return strings.Contains(now.Content, text)
	})
	if now.ID != m.ID || now.Flags&discordtest.Ephemeral == 0 {
		t.Errorf("the page isn't in place: %+v", now)
	}
	return now
}

func TestRecallShowsPages(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	gone := map[memory.MessageID]bool{}
	s.holding(12, gone)
	first := s.use(t, s.ana, "recall", opt("question", " when is the *deadline*?"))
	s.says(t, first)
	if b := buttonsIn(first); len(b) != 3 || !b["«"].Disabled || !b["1/3"].Disabled || b["»"].Disabled {
		t.Errorf("below the first page: %+v", b)
	}
	s.lose(gone, 2, 6)
	second := s.turn(t, first, s.ana, "»", "no. 7.")
	s.says(t, second)
	if strings.Contains(second.Content, "no. 6.") {
		t.Errorf("then %s", second.Content)
	}
	q := s.oracle.questions()[len(s.oracle.questions())-1]
	if !q.OnlyAsker || q.Roles == nil || q.Asker != s.anaID ||
		q.Channel != s.channelID || q.Text != "" || q.WaitReady == nil {
		t.Errorf("looked at by %+v", q)
	}
	last := s.turn(t, second, s.ana, "»", "no. 12.")
	if b := buttonsIn(last); b["«"].Disabled || !b["3/3"].Disabled || !b["»"].Disabled {
		t.Errorf("below the last page: %+v", b)
	}
	s.lose(gone, 7, 8, 9, 10)
	empty := s.turn(t, last, s.ana, "«", foundNoneLeft)
	if first = s.turn(t, empty, s.ana, "«", "no. 5."); strings.Contains(first.Content, "no. 2.") {
		t.Errorf("the first again: %s", first.Content)
	}
	s.holding(5, gone)
	if m := s.use(t, s.ana, "recall", opt("question", "deadline")); !strings.Contains(m.Content, "no. 5.") ||
		len(m.Components) > 0 {
		t.Errorf("one page: %+v", m)
	}
	s.holding(0, gone)
	s.says(t, s.use(t, s.ana, "recall", opt("question", "deadline")))
	s.says(t, s.use(t, s.ana, "recall", opt("question", "  ")))
}

// A page whose search is over, or somebody else's, stays and says so.
func TestOldPagesAreOver(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	gone := map[memory.MessageID]bool{}
	s.holding(12, gone)
	m := s.use(t, s.ana, "recall", opt("question", "deadline"))
	s.discord.Advance(findsKept - time.Second)
	m = s.turn(t, m, s.ana, "»", "no. 6.")
	s.discord.Advance(findsKept - time.Second)
	m = s.turn(t, m, s.ana, "»", "no. 11.")
	id := buttonsIn(m)["«"].CustomID
	over := func(who discordtest.User, id string) {
		t.Helper()
		i := s.discord.Click(m.Message, who.ID, id)
		if r := i.Wait(); r.Type != discord.RespondUpdating {
			t.Errorf("answered with %+v", r)
		}
		s.hears(t, i)
		if now := i.WaitMessage(); now.Content != m.Content || len(now.Components) != len(m.Components) {
			t.Errorf("the page became %+v", now)
		}
	}
	over(s.bo, id) // somebody else's
	m = s.use(t, s.ana, "recall", opt("question", "deadline"))
	s.discord.Advance(findsKept)
	over(s.ana, buttonsIn(m)["»"].CustomID)
	s.oracle.look = func(answer.Question, []answer.FoundMessage) ([]answer.InspectedMessage, error) {
		return nil, errors.New("the disk is on fire")
	}
	s.says(t, s.use(t, s.ana, "recall", opt("question", "deadline")))
	s.oracle.find = func(answer.Question) (answer.FindResult, error) {
		return answer.FindResult{}, errors.New("the disk is on fire")
	}
	s.says(t, s.use(t, s.ana, "recall", opt("question", "deadline")))
}

// Each page says how much was left out, also an empty one.
func TestRecallSaysHowMuchIsLeftOut(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	for _, n := range []int{0, 1, foundPerPage + 1} {
		s.holding(n, nil)
		find := s.oracle.find
		s.oracle.find = func(q answer.Question) (answer.FindResult, error) {
			f, err := find(q)
			f.Below = 3
			return f, err
		}
		m := s.use(t, s.ana, "recall", opt("question", "deadline"))
		if n > foundPerPage {
			m = s.turn(t, m, s.ana, "»", "no. 6.")
		}
		s.says(t, m)
	}
}

func TestRecallNarrowsDown(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: memory.SettingTimezone,
		Value: "Asia/Tokyo", At: s.discord.Now()})
	s.holding(0, nil)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	day := func(d int) time.Time { return time.Date(2020, 7, d, 0, 0, 0, 0, tokyo) }
	s.says(t, s.use(t, s.ana, "recall", opt("question", "deadline"), opt("in", s.channel), opt("from", s.bo.ID),
		opt("since", "2020-07-01"), opt("until", "2020-07-03")))
	q := s.oracle.questions()[0]
	if want := (answer.Filter{In: []memory.ChannelID{s.channelID},
		From: []memory.UserID{s.boID}, Since: day(1), Until: day(4)}); fmt.Sprint(q.Filter) != fmt.Sprint(want) {
		t.Errorf("asked with %v, want %v", q.Filter, want)
	}
	if q.Limit != mostFound || q.Text != "deadline" || q.ID != 0 || q.Local {
		t.Errorf("asked %+v", q)
	}
	for _, test := range []struct{ since, until string }{{"soon", ""}, {"", "next week"}, {"9999-01-01", ""},
		{"7d", "8d"}} {
		var options []discordtest.Opt
		if options = append(options, opt("question", "deadline")); test.since != "" {
			options = append(options, opt("since", test.since))
		}
		if test.until != "" {
			options = append(options, opt("until", test.until))
		}
		s.says(t, s.use(t, s.ana, "recall", options...))
	}
	if n := len(s.oracle.questions()); n != 1 {
		t.Errorf("searched %d times", n)
	}
	got := s.discord.Complete(s.channel, s.ana.ID, "recall", opt("since", "")).Wait().Choices()
	golden.Seen(t, strings.Join(slices.Sorted(maps.Keys(got)), "\n"))
	if values := slices.Sorted(maps.Values(got)); len(values) != 4 || !slices.Contains(values, "7d") {
		t.Errorf("offered %v", got)
	}
	if got = s.discord.Complete(s.channel, s.ana.ID, "recall", opt("until", "30")).Wait().Choices(); len(got) != 1 {
		t.Errorf("for 30 offered %v", got)
	}
}

func TestRecallInDirectMessages(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	dm := s.discord.DM(s.ana.ID, "the deadline is Friday")
	s.holding(1, nil)
	look := s.oracle.look
	s.oracle.look = func(q answer.Question, found []answer.FoundMessage) ([]answer.InspectedMessage, error) {
		seen, err := look(q, found)
		seen[0].Message.Guild = memory.DirectGuild
		seen[0].Before = &memory.Message{Author: 17, Content: "when\nis it?"}
		return seen, err
	}
	m := s.discord.Slash(dm.ChannelID, s.ana.ID, "recall", opt("question", "deadline")).WaitMessage()
	s.says(t, m)
	if q := s.oracle.questions()[0]; q.Guild != memory.DirectGuild || q.Channel != memory.ChannelID(dm.ChannelID) {
		t.Errorf("asked %+v", q)
	}
}

func TestFindRelated(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.holding(6, nil)
	said := s.discord.Say(s.channel, s.bo.ID, "the *deadline* is Friday")
	m := s.discord.MessageAction(said, s.ana.ID, relatedCommand).WaitMessage()
	s.says(t, m)
	q := s.oracle.questions()[0]
	if q.ID != memory.MessageID(said.ID) || q.Text != "the *deadline* is Friday" || q.Local || !q.OnlyAsker {
		t.Errorf("asked %+v", q)
	}
	m = s.turn(t, m, s.ana, "»", "no. 6.")
	s.says(t, m)
	began := s.oracle.questions()
	if q = began[len(began)-2]; q.Channel != s.channelID {
		t.Errorf("asked %+v", q)
	}
	s.apply(t, memory.Opted{Guild: s.guildID, User: s.boID, Out: true})
	long := s.discord.Say(s.channel, s.bo.ID, strings.Repeat("e", 1500))
	s.discord.MessageAction(long, s.ana.ID, relatedCommand).WaitMessage()
	all := s.oracle.questions()
	q = all[len(all)-2]
	if len(q.Text) > longestQuestion+len("…") || !q.Local {
		t.Errorf("of somebody who has opted out: %d bytes, %v", len(q.Text), q.Local)
	}
	silent := s.discord.Say(s.channel, s.bo.ID, " ")
	s.hears(t, s.discord.MessageAction(silent, s.ana.ID, relatedCommand))
	if strings.Contains(s.out.String(), "deadline") {
		t.Error("the message's text is in the journal")
	}
	s.breakReading(errDown)
	s.turns(t, s.discord.MessageAction(said, s.ana.ID, relatedCommand))
}

// What is said where nothing is remembered is searched for locally only.
func TestFindRelatedWhereNothingIsRemembered(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	s.holding(1, nil)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.discord.MessageAction(said, s.ana.ID, relatedCommand).WaitMessage()
	if q := s.oracle.questions()[0]; !q.Local {
		t.Errorf("asked %+v", q)
	}
}

func TestFindingCountsAsAQuestion(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, reply.Limits{Member: memory.Limit{Messages: 1}}).run(t).ready(t)
	s.holding(12, nil)
	m := s.use(t, s.ana, "recall", opt("question", "deadline"))
	m = s.turn(t, m, s.ana, "»", "no. 6.")
	s.turn(t, m, s.ana, "»", "no. 11.")
	for _, name := range []string{"recall", "catchup", "context"} {
		options := []discordtest.Opt{opt("question", "deadline")}
		if name == "catchup" {
			options = nil
		}
		s.says(t, s.use(t, s.ana, name, options...))
	}
}
