package answer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

const day = 24 * time.Hour

// whole is all that an answer to q, by a model and without, shows or leaves behind.
func (w *world) whole(q Question) string {
	w.t.Helper()
	out := ""
	for _, model := range []Model{nil, &scripted{pieces: []string{"So it is [1] [2] [3] [4]."}}} {
		w.engine.model = model
		a := w.answer(q)
		trace, err := json.Marshal(a.Trace)
		if err != nil {
			w.t.Fatal(err)
		}
		out += fmt.Sprintf("%s\n%+v\n%s\n%s\n", a.Text, a.Sources, trace, w.prompt(q))
	}
	w.engine.model = nil
	return out
}

func TestNoAnswerHasWhatNotAllItsReadersMayRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		asked   memory.ChannelID
		only    bool
		asker   memory.UserID
		has     []memory.ChannelID
		unknown []memory.ChannelID
	}{
		{"a public channel", lobby, false, cleo, []memory.ChannelID{lobby, harbor},
			[]memory.ChannelID{vault, kiosk, attic, annsDM, bensDM}},
		{"a private one", vault, false, cleo, []memory.ChannelID{lobby, harbor, vault},
			[]memory.ChannelID{kiosk, attic, annsDM, bensDM}},
		{"for a keeper only", lobby, true, cleo, []memory.ChannelID{lobby, harbor, vault},
			[]memory.ChannelID{kiosk, attic, annsDM, bensDM}},
		{"for a member only", lobby, true, ann, []memory.ChannelID{lobby, harbor},
			[]memory.ChannelID{vault, kiosk, attic, annsDM, bensDM}},
		{"without a readable past", kiosk, false, ann, []memory.ChannelID{lobby, harbor},
			[]memory.ChannelID{vault, kiosk, attic, annsDM, bensDM}},
		{"a direct message", annsDM, false, ann, []memory.ChannelID{annsDM},
			[]memory.ChannelID{lobby, harbor, vault, kiosk, attic, bensDM}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ids := map[memory.ChannelID]memory.MessageID{}
			for i, c := range []memory.ChannelID{lobby, harbor, vault, kiosk, attic, annsDM, bensDM} {
				ids[c] = w.says(time.Duration(i+1)*day, c, ben, fmt.Sprintf("The lighthouse password is canary%d", c))
			}
			q := w.asks(tt.asked, "What is the lighthouse password?")
			q.OnlyAsker, q.Asker = tt.only, tt.asker
			if tt.asker == cleo {
				q.Roles = []memory.RoleID{keepers}
			}
			if tt.only {
				q.ID = 0
			}
			all := w.whole(q)
			for _, c := range tt.has {
				has(t, all, fmt.Sprintf("canary%d", c), ids[c].String())
			}
			for _, c := range tt.unknown {
				hasNot(t, all, fmt.Sprintf("canary%d", c), ids[c].String())
			}
		})
	}
}

func TestOperatorReadsAllButDirectMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	stray := memory.ChannelID(999) // a direct message that Hark knows by its messages only
	for _, c := range []memory.ChannelID{lobby, harbor, vault, kiosk, attic, annsDM, bensDM} {
		w.says(day, c, ben, fmt.Sprintf("The lighthouse password is canary%d", c))
	}
	w.posts(day, memory.Message{Channel: stray, Author: ben, Content: "The lighthouse password is canary999"})
	w.says(time.Minute, annsDM, ann, "whisper between us")
	q := Question{Guild: guild, Channel: lobby, Text: "What is the lighthouse password?", Now: noon,
		Operator: true, Everywhere: true}
	all := w.prompt(q)
	has(t, all, "canary901", "canary902", "canary903", "canary904", "canary905")
	hasNot(t, all, "canary91", "canary999", "whisper")
	for _, c := range []memory.ChannelID{annsDM, stray} {
		q.Guild, q.Channel, q.Everywhere = memory.DirectGuild, c, false
		hasNot(t, w.whole(q), "canary", "whisper")
	}
	q = Question{Guild: guild, Channel: attic, Text: "What is the lighthouse password?", Now: noon, Operator: true}
	has(t, w.whole(q), "canary905")
	q.Everywhere, q.Operator, q.Channel = true, false, lobby
	hasNot(t, w.whole(q), "canary903", "canary904", "canary905")
	const abroad memory.ChannelID = 991 // of another guild, where Ben hasn't opted out
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: abroad, Guild: 990}})
	w.posts(day, memory.Message{Guild: 990, Channel: abroad, Author: ben,
		Content: "The lighthouse password is canary991"})
	w.alter(nil, Options{}).out[ben] = true
	q.Operator = true
	all = w.prompt(q)
	has(t, all, "canary991")
	hasNot(t, all, "canary90")
}

func TestNothingIsRecalledOfAGuildNeverSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(day, lobby, ben, "The lighthouse password is swordfish")
	q := Question{Guild: 77, Channel: lobby, Asker: ann, Text: "What is the lighthouse password?", Now: noon}
	hasNot(t, w.whole(q), "swordfish")
}

func TestSessionIsHeardWhereThePastIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	old := w.says(day, kiosk, ben, "The ferry leaves from pier nine on Mondays")
	w.says(10*time.Minute, kiosk, ben, "The ferry leaves from pier four today")
	q := w.asks(kiosk, "Where does the ferry leave?")
	q.ReplyTo = old
	all := w.whole(q)
	has(t, all, "> The ferry leaves from pier four today")
	hasNot(t, all, "pier nine", old.String())
}

// TestSessionBeginsWhereAllCouldRead holds that nothing of a session, as it is or condensed, is used that a reader
// of the answer couldn't read when it was said.
func TestSessionBeginsWhereAllCouldRead(t *testing.T) {
	t.Parallel()
	for _, logged := range []bool{true, false} {
		w := newWorld(t, nil)
		w.alter(nil, Options{Long: w.notice})
		said := []memory.Message{
			before(20*time.Minute, ben, "The ferry leaves from pier nine"), before(18*time.Minute, cleo,
				"No, it is pier eight"), before(10*time.Minute, ben, "It is pier four today"),
		}
		w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: kiosk, Guild: guild, Name: "kiosk",
			Overwrites: []memory.Overwrite{{Role: memory.RoleID(guild), Deny: memory.ReadMessageHistory}}}})
		q := unlogged("Where does the ferry leave?", said...)
		if logged {
			q.Session = nil
			c := memory.Condensed{Guild: guild, Channel: kiosk, Until: said[1].ID,
				Text: "They argued about piers", Model: "m", Made: noon}
			for _, m := range said {
				w.apply(memory.Posted{Message: m})
			}
			for _, m := range said[:2] {
				c.Sources = append(c.Sources, memory.SummarySource{Message: m.ID})
			}
			w.apply(memory.SessionCondensed{Condensed: c})
		}
		has(t, w.prompt(q), "pier four")
		if old := w.prompt(q); !strings.Contains(old, "argued about piers") && !strings.Contains(old, "pier nine") {
			t.Errorf("logged %v: the session isn't in\n%s", logged, old)
		}
		q.Attended = attendedSince(said[1].ID)
		p := w.prompt(q)
		hasNot(t, p, "pier nine", "argued about piers")
		has(t, p, "pier eight", "pier four")
		q.Attended = nil
		hasNot(t, w.prompt(q), "pier")
		q.Attended, q.OnlyAsker, q.Roles = attendedSince(said[2].ID), true, []memory.RoleID{}
		hasNot(t, w.prompt(q), "pier nine", "pier eight")

		// An answer is withdrawn if what it uses was opened while the model wrote.
		opened := memory.MessageID(0)
		w.alter(&scripted{pieces: []string{"It is swordfish [1]."}, before: func() { opened = said[2].ID }}, Options{})
		q = unlogged("Where does the ferry leave?", said...)
		if logged {
			q.Session = nil
		}
		q.Attended = func(*memory.Guild, memory.ChannelID) memory.MessageID { return opened }
		hasNot(t, w.answer(q).Text, "swordfish")
	}
}

func TestDirectMessagesDoNotTellWhoElseWritesToHark(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.apply(memory.PersonSeen{Person: memory.Person{ID: ben, Name: "Ben"}},
		memory.FactTold{User: ben, Fact: memory.Fact{ID: 1, By: ben, Text: "Collects barnacles"}})
	w.says(time.Hour, bensDM, ben, "hello")
	p := w.prompt(w.asks(annsDM, "Who is Ben?"))
	hasNot(t, p, "(Ben)", "barnacles", ben.String()+">")
	has(t, p, "(Ann)")
}

// before is a message some time before noon that isn't logged.
func before(ago time.Duration, author memory.UserID, text string) memory.Message {
	m := memory.Message{ID: memory.FirstMessageID(noon.Add(-ago)) + 7, Guild: guild, Channel: kiosk,
		Author: author, Content: text}
	if author == oracle {
		m.Kind = memory.FromHark
	}
	return m
}

// unlogged is Ann's question in the kiosk, where nothing is logged, after what was said there.
func unlogged(text string, said ...memory.Message) Question {
	return Question{
		ID: memory.FirstMessageID(noon), Guild: guild, Channel: kiosk, Asker: ann, Name: "Ann", Text: text,
		Now: noon.Add(time.Second), Session: append([]memory.Message{}, said...), Attended: attendedSince(0),
	}
}

func TestSessionsThatAreNotLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.alter(nil, Options{})
	w.says(2*time.Minute, kiosk, ben, "in the log")
	old := before(3*time.Hour, ben, "long ago")
	notice := before(4*time.Minute, ben, "joined")
	notice.Kind = memory.FromSystem
	said := []memory.Message{
		old, before(55*time.Minute, ben, "one"), before(21*time.Minute, cleo, "two"), notice,
		before(3*time.Minute, oracle, "three"), before(-time.Minute, ben, "later"),
	}
	var many []memory.Message
	var last []string
	for i := range 50 {
		many = append(many, before(time.Minute-time.Duration(i)*time.Millisecond,
			[]memory.UserID{ben, cleo}[i%2], fmt.Sprint(i)))
		last = append(last, fmt.Sprint(i))
	}
	for _, tt := range []struct {
		name string
		said []memory.Message
		with func(*Question)
		want string
	}{
		{"since the last silence", said[1:], func(q *Question) { q.Now = noon.Add(-time.Second) }, "[two three]"},
		{"replying to what was before", said, func(q *Question) { q.ReplyTo = old.ID }, "[long ago two three]"},
		{"of people who agree", said, func(*Question) { a.out[cleo] = true }, "[three]"},
		{"the last turns only", many, func(*Question) {}, fmt.Sprint(last[5:])},
	} {
		q := unlogged("So?", tt.said...)
		tt.with(&q)
		if got := fmt.Sprint(w.sessionOf(q)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		clear(a.out)
	}
}

func TestWhatIsNotLoggedIsSentAndNotKept(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"It is swordfish [1]."}}
	w := newWorld(t, nil)
	a := w.alter(model, Options{})
	a.guild = choose(kiosk, memory.Ignore)
	known := w.says(day, harbor, cleo, "The lighthouse password is short")
	logged := w.says(2*time.Minute, kiosk, cleo, "The lighthouse password was logged once")
	said := []memory.Message{before(5*time.Minute, ben, "The lighthouse password is swordfish"),
		before(4*time.Minute, oracle, "Noted.")}
	q := unlogged("What is the lighthouse password?", said...)
	r := w.recall(q)
	turns := r.asTurns(q, r.names)
	if len(turns) != 2 || turns[0].Role != builder.RoleUser || turns[0].Speaker != "Ben" ||
		turns[1].Role != builder.RoleAssistant {
		t.Errorf("turns %+v", turns)
	}
	has(t, r.Prompt.String(), "is swordfish", "Noted.", "is short")
	hasNot(t, r.Prompt.String(), "logged once")

	got := w.answer(q)
	if !strings.HasPrefix(got.Text, "It is swordfish") { // hold finds nothing missing
		t.Errorf("the answer is %q", got.Text)
	}
	trace, err := json.Marshal(got.Trace)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(trace), known.String())
	hasNot(t, string(trace), said[0].ID.String(), said[1].ID.String(), logged.String())

	w.engine.model = nil
	quoted := w.answer(q)
	has(t, quoted.Text, "is short")
	hasNot(t, quoted.Text, "swordfish", "logged once")
}

func TestUnloggedSessionsAreTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var a *altered
	a = w.alter(&scripted{pieces: []string{"It is swordfish [1]."}, before: func() { a.out[ben] = true }}, Options{})
	if got := w.answer(unlogged("What is the password?",
		before(time.Minute, ben, "The password is swordfish"))); got.Text != withdrawn {
		t.Errorf("the answer is %q", got.Text)
	}
}

// Members' roles decide where they are known. A member who comes while the model writes has the answer withdrawn.
func TestAnswersObeyWhoIsThere(t *testing.T) {
	t.Parallel()
	const office, crew = memory.ChannelID(77), memory.RoleID(78)
	w, roster := newWorld(t, nil), search.NewMemberRoles()
	w.apply(memory.RoleSeen{Guild: guild, Role: memory.Role{ID: crew}},
		memory.ChannelSeen{Channel: memory.Channel{ID: office, Guild: guild, Overwrites: []memory.Overwrite{
			{Role: memory.RoleID(guild), Deny: memory.ViewChannel}, {Role: crew, Allow: memory.ViewChannel}}}})
	w.says(day, vault, cleo, "The lighthouse password is swordfish")
	q := w.asks(office, "What is the lighthouse password?")
	hasNot(t, w.whole(q), "swordfish")
	q.RoleSets = roster.Sets
	hasNot(t, w.whole(q), "swordfish")
	roster.Open(guild)
	_, nonce, _ := roster.NextRequest(noon, noon)
	roster.AddChunk(guild, nonce, 0, 1, []memory.Person{{ID: cleo, Roles: []memory.RoleID{crew, keepers}}})
	has(t, w.whole(q), "swordfish")
	w.alter(&scripted{pieces: []string{"It is swordfish [1]."}, before: func() {
		roster.Changed(memory.Person{Guild: guild, RolesKnown: true, ID: ben, Roles: []memory.RoleID{crew}})
	}}, Options{})
	hasNot(t, w.answer(q).Text, "swordfish")
}

// What admins stated of roles decides who reads an answer, unless whoever asks contradicts it. If a member does while
// the model writes, the answer is withdrawn.
func TestAnswersObeyWhatIsStatedAndSeen(t *testing.T) {
	t.Parallel()
	const office, crew = memory.ChannelID(77), memory.RoleID(78)
	w := newWorld(t, nil)
	w.apply(memory.RoleSeen{Guild: guild, Role: memory.Role{ID: crew}},
		memory.ChannelSeen{Channel: memory.Channel{ID: office, Guild: guild, Overwrites: []memory.Overwrite{
			{Role: memory.RoleID(guild), Deny: memory.ViewChannel}, {Role: crew, Allow: memory.ViewChannel}}}})
	w.says(day, vault, cleo, "The lighthouse password is swordfish")
	q := w.asks(office, "What is the lighthouse password?")
	hasNot(t, w.whole(q), "swordfish")
	i := memory.Implied{Role: crew, Also: keepers}
	w.apply((&memory.Guild{ID: guild}).Stated(i, 1, noon))
	has(t, w.whole(q), "swordfish")
	q.Roles = []memory.RoleID{crew, keepers}
	has(t, w.whole(q), "swordfish")
	q.Roles = []memory.RoleID{crew}
	hasNot(t, w.whole(q), "swordfish")
	hasNot(t, w.answer(q).Text, "swordfish")
	q.Roles = nil
	w.alter(&scripted{pieces: []string{"It is swordfish [1]."}, before: func() {
		w.apply((&memory.Guild{ID: guild}).Refuted(i, noon.Add(time.Second)))
	}}, Options{})
	hasNot(t, w.answer(q).Text, "swordfish")
}
