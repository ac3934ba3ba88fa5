package search_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/memory"
)

// turn is something said in the session before a question.
func turn(author memory.UserID, content string) memory.Message {
	return memory.Message{ID: memory.FirstMessageID(dawn.AddDate(0, 1, 0)) - 5, Guild: village,
		Channel: green, Author: author, Content: content}
}

func TestFollowUpIsSearchedWithItsSession(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	for i, s := range []string{"the second bell cracked in the frost",
		"two loaves for the second table please", "what a lovely second helping",
		"she wanted the candles moved", "she sang loudly"} {
		k.say(t, dawn.Add(time.Duration(40+i)*24*time.Hour/10), green, pim, s)
	}
	bellTower := k.say(t, dawn.Add(9*24*time.Hour), green, oswin,
		"the bells: the first hangs in the tower, the second lies in the barn")
	for _, c := range []struct {
		name, question string
		session        []memory.Message
		want           memory.MessageID
	}{
		{"what it is about", "What about the second one?",
			[]memory.Message{turn(marta, "where are the bells of the tower?"),
				turn(bell, "The first hangs in the tower.")}, bellTower},
		{"the newer turn", "and where is it?", []memory.Message{turn(marta, "who mends roofs?"),
			turn(marta, "no wait, the harvest fair: when does it move?")}, ids["fair"]},
		{"who is spoken of", "what did he say about roofs?",
			[]memory.Message{turn(marta, "was Oswin there?")}, ids["roof"]},
	} {
		q := ask(c.question, green)
		q.Session = c.session
		for i := range q.Session {
			q.Session[i].ID += memory.MessageID(i)
			q.Skip = append(q.Skip, q.Session[i].ID)
		}
		if got := hitIDs(k.search(t, q)); len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: found %v first, want %v", c.name, k.all[got[0]].Content, k.all[c.want].Content)
		}
	}

	whole := ask("which harvest fair moves to the lower meadow", green)
	alone := k.search(t, whole)
	whole.Session = []memory.Message{turn(marta, "who mends roofs?")}
	if with := k.search(t, whole); !slices.Equal(hitIDs(alone), hitIDs(with)) {
		t.Error("a question that says all itself is searched with something else")
	}
}

// The session doesn't outweigh a question that says something itself.
func TestFollowUpKeepsItsOwnWords(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	const told = "the goat danced on tables, climbed fences, chewed ropes, frightened geese and toppled barrels"
	k.say(t, dawn.Add(8*24*time.Hour), green, pim, told)
	q := ask("who mends it, the roof?", green)
	q.Session = []memory.Message{turn(marta, told+"!")}
	q.Skip = []memory.MessageID{q.Session[0].ID}
	if first := k.search(t, q).Hits[0]; first.Message.ID != ids["roof"] || first.Relevance < 0.6 {
		t.Errorf("first is %q, with relevance %.2f", first.Message.Content, first.Relevance)
	}
}

func TestShownSessionIsNotFound(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("who mends roofs", green, pub)
	q.Session = []memory.Message{k.all[ids["roof"]], turn(marta, "Lovely, I will write to him.")}
	q.Skip = []memory.MessageID{ids["roof"], q.Session[1].ID}
	for _, h := range k.search(t, q).Hits {
		if h.Message.ID == ids["roof"] || h.Message.ID == ids["thanks"] {
			t.Errorf("%q is shown by the session already", h.Message.Content)
		}
	}
}

func TestMisspeltNames(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	k.apply(t, memory.PersonSeen{Person: memory.Person{ID: 510, Guild: village, Username: "tk", Name: "田中太郎"}},
		memory.PersonSeen{Person: memory.Person{ID: 511, Guild: village, Username: "gwendolyn",
			Nick: "Gwendolyn Ashby"}})
	for i := range 5 {
		k.apply(t, memory.PersonSeen{Person: memory.Person{ID: memory.UserID(520 + i), Guild: village,
			Username: "x", Nick: "Robin " + []string{"Vale", "Hill", "Vale", "Dale", "Moor"}[i]}})
	}
	for _, c := range []struct {
		question string
		named    []memory.UserID
	}{
		{"what did Osvin say about roofs?", []memory.UserID{oswin}},
		{"what did Oswni say about roofs?", []memory.UserID{oswin}},
		{"what did Pym say about roofs?", []memory.UserID{pim}},
		{"what did osvin say about roofs?", []memory.UserID{oswin}},
		{"what did pym say about roofs?", nil}, // short, and written small: it may be any word
		{"what did Uswin say about roofs?", []memory.UserID{oswin}},
		{"what did <@501> say about roofs?", []memory.UserID{oswin}},
		{"what did <@!501> and <@503> and <@4711> say about roofs?", []memory.UserID{oswin}},
		{"what did gwendolin say about roofs?", []memory.UserID{511}},
		{"what did Martin say about roofs?", nil},
		{"is a Mooth there", nil},
		{"田中太郎は何と言った", []memory.UserID{510}},
		{"did Robin come", nil},
		{"did Robin Hill come", []memory.UserID{521}},
		{"did Robin Vale come", []memory.UserID{520, 522}},
		{"ask Roof", nil}, // somebody has used it
	} {
		var named []memory.UserID
		for _, p := range k.search(t, ask(c.question, green)).People {
			if p.Main {
				named = append(named, p.Person.ID)
			}
		}
		if !slices.Equal(named, c.named) {
			t.Errorf("%q names %v, want %v", c.question, named, c.named)
		}
	}
	r := k.search(t, ask("what did Osvin say about roofs?", green))
	if r.Hits[0].Message.Author != oswin {
		t.Errorf("first is %q", r.Hits[0].Message.Content)
	}
}

func TestEventsOrderTime(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	day := func(n int) time.Time { return dawn.AddDate(0, 0, n-40) }
	before := k.say(t, day(1), green, marta, "we drink tea from the blue kettle")
	k.say(t, day(10), green, pim, "the flood is here, water everywhere")
	k.say(t, day(10).Add(5*time.Hour), green, oswin, "the flood took the bridge")
	during := k.say(t, day(11), green, oswin, "no kettle, we drink rain")
	after := k.say(t, day(20), green, marta, "we drink from the copper kettle")
	k.say(t, day(30), green, pim, "the flood is long gone")
	k.index(t)
	for _, c := range []struct {
		question string
		want     memory.MessageID
	}{
		{"which kettle did we drink from before the flood?", before},
		{"which kettle did we drink from after the flood?", after},
		{"which kettle did we drink from since our flood came?", after},
		{"which kettle did we drink from during the flood?", during},
	} {
		for _, h := range k.search(t, ask(c.question, green)).Hits {
			marked := isFor(h, "time")
			if marked != (h.Message.ID == c.want) && (h.Message.ID == before || h.Message.ID == after) {
				t.Errorf("%q: %q is said to lie where it asks for: %v", c.question, h.Message.Content, marked)
			}
		}
	}
	for _, h := range k.search(t, ask("which kettle did we drink from before the war?", green)).Hits {
		if isFor(h, "time") {
			t.Errorf("nobody spoke of a war, and yet %q lies before it", h.Message.Content)
		}
	}
}

// What is starred is looked at even where full text finds much that has more of the words.
func TestStarredIsACandidate(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	star := k.say(t, dawn, green, oswin,
		"a roof, as was told to us long ago by people from the hills, keeps out what falls from above in every season")
	for i := range 12 {
		k.say(t, dawn.Add(time.Duration(i+1)*time.Hour), green, marta, "well")
	}
	for i := range 150 {
		k.say(t, dawn.Add(time.Duration(i+20)*4*time.Hour), green, pim, fmt.Sprintf("roof number%d", i))
	}
	q := ask("what did Oswin say of the roof?", green)
	if slices.Contains(hitIDs(k.search(t, q)), star) {
		t.Fatal("it is found without a star, which proves nothing")
	}
	k.apply(t, memory.Starred{Guild: village, Channel: green, ID: star, On: true, At: dawn})
	if !slices.Contains(hitIDs(k.search(t, q)), star) {
		t.Error("what is starred isn't found")
	}
}

// What a question replies to is searched with it, however much was said since.
func TestAReplyIsSearchedWithWhatItRepliesTo(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	replied := turn(marta, "who mends roofs?")
	session := []memory.Message{replied, turn(bell, "pies"), turn(marta, "more pies"), turn(pim, "all pies"),
		turn(pim, "no pies")}
	for i := range session {
		session[i].ID += memory.MessageID(i)
	}
	for _, question := range []string{"is that certain?", "how do we cook pies"} {
		q := ask(question, green)
		q.Session = session
		for _, m := range session {
			q.Skip = append(q.Skip, m.ID)
		}
		byWords := func() bool {
			r := k.search(t, q)
			return len(r.Hits) > 0 && r.Hits[0].Message.ID == ids["roof"] && r.MatchesWords(r.Hits[0])
		}
		if byWords() {
			t.Errorf("%q finds the roof by its words without a reply", question)
		}
		q.ReplyTo = session[0].ID
		if !byWords() {
			t.Errorf("%q: the roof isn't found by what the question replies to", question)
		}
	}
}
