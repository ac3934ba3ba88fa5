package answer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// before is a message some time before noon that isn't logged.
func before(ago time.Duration, author memory.UserID, text string) memory.Message {
	m := memory.Message{ID: memory.FirstMessageID(noon.Add(-ago)) + 7, Guild: guild, Channel: kiosk,
		Author: author, Content: text}
	if author == oracle {
		m.Kind = memory.FromHark
	}
	return m
}

// unlogged is a question of Ann's in the kiosk, where nothing is logged, after what was said there.
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
	for i := range sessionTurns + 5 {
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

// Who opts out while the model writes is obeyed where nothing is logged, too.
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
