package answer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
)

// history is how many tokens of the prompt are history.
func history(r Recalled) int {
	for _, s := range r.Prompt.Report.Sections {
		if s.Type == builder.SectionHistory {
			return s.Tokens
		}
	}
	return 0
}

// Small talk gets no history. What nobody spoke of gets the best five hits for a model to judge. Without a model
// each gets its one sentence.
func TestSmallTalkGetsNoHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 20 {
		w.says(time.Duration(i+2)*day, harbor, []memory.UserID{ann, ben, cleo}[i%3],
			fmt.Sprintf("Hi all, thanks for the good boat ride number %d", i))
	}
	w.says(30*day, harbor, ben, "Greta's dog is called Rufus")
	w.says(31*day, harbor, ben, "My birthday is on 3 May")
	for _, question := range []string{"thanks!", "hi all", "good morning everyone", "tell me a joke", "lol",
		"how are you?", "what did the zeppelin captain order for lunch?", "my zeppelin captain is called Minka"} {
		q := w.asks(lobby, question)
		r := w.recalled(q)
		most, want := 0, cantChat
		switch {
		case strings.HasPrefix(question, "my"): // which may be small talk
			most, want = 1, foundNone
		case strings.Contains(question, "zeppelin"):
			most, want = 5, foundNone
		}
		if len(r.Result.Hits) != most || most == 0 && history(r) > 0 || len(r.Left) == 0 {
			t.Errorf("%q: %d hits, %d tokens of history, %d left out", question, len(r.Result.Hits), history(r), len(r.Left))
		}
		if most == 0 && len(r.Result.People) > 1 {
			t.Errorf("%q introduces %d people", question, len(r.Result.People))
		}
		if got := w.answer(q).Text; got != want {
			t.Errorf("%q: answered %q, want %q", question, got, want)
		}
	}
	for question, want := range map[string]string{"birthday?": "3 May", "Greta's dog": "Rufus",
		"what is Greta's dog called?": "Rufus"} {
		has(t, w.prompt(w.asks(lobby, question)), want)
		has(t, w.answer(w.asks(lobby, question)).Text, want)
	}
}

// A search counts the messages that are too weak, of those that the asker may read and whose authors agree.
func TestFindSaysHowMuchIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*day, harbor, ben, "The lighthouse password is cod")
	w.says(4*day, harbor, ben, "The captain of the ferry is late")
	w.says(4*day-time.Minute, harbor, ben, "Bring a towel")
	find := func() FindResult { return w.found(seeks("what did the zeppelin captain order?")) }
	f := find()
	if len(f.Found) != 1 || f.Below != 1 {
		t.Errorf("found %+v: only what has a word of it is, and the other is counted", f)
	}
	has(t, w.answer(w.asks(lobby, "what did the zeppelin captain order?")).Text, foundNone) // a word isn't an answer
	w.says(4*day, vault, ben, "The zeppelin captain ordered lunch")
	w.says(3*day, vault, ben, "A zeppelin")
	if now := find(); now.Below != f.Below || len(now.Found) != len(f.Found) {
		t.Errorf("what can't be read changes %+v to %+v", f, now)
	}
	related := seeks("what did the zeppelin captain order?")
	related.ID, related.Channel = w.says(6*day, harbor, cleo, related.Text), harbor
	if now := w.found(related); now.Below > 0 || len(now.Found) < 2 {
		t.Errorf("related to a message is %+v: what is like it may hold little of it", now)
	}
	w.optsOut(ben)
	if now := find(); now.Below+len(now.Found) > 0 {
		t.Errorf("of who has opted out %+v is left", now)
	}
}

// Requests to Hark aren't found, unless the question is about them.
func TestWhatWasAskedOfHarkIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	answered := w.says(9*day, lobby, oracle, "The night ferry leaves at ten.")
	for i := range 9 {
		w.mentions(time.Duration(i+2)*day, lobby, ann, fmt.Sprint("tell me when the night ferry leaves, take ", i))
	}
	w.says(8*day, lobby, cleo, "@hark which pier for the night ferry?")
	w.replies(8*day, lobby, ann, "and which night ferry is it?", answered)
	said := w.says(20*day, harbor, ben, "The night ferry leaves from pier nine")
	q := w.asks(lobby, "When does the night ferry leave?")
	if r := w.recalled(q); len(r.Result.Hits) != 1 || r.Result.Hits[0].Message.ID != said {
		t.Errorf("found %+v", r.Result.Hits)
	}
	if got := w.finds(seeks("night ferry")); len(got) != 1 || got[0] != said {
		t.Errorf("a search finds %d", got)
	}
	for question, want := range map[string]bool{"Is the demand for the night ferry high?": false,
		"Qu'est-ce que j'ai demandé ?": true, "Did Ben tell you about the ferry?": false, "What have I told you?": true,
		"Can I ask you when the ferry leaves?": false, "Who asked you about the ferry?": true} {
		if asksWhatWasAsked(question) != want {
			t.Errorf("%q: want %t", question, want)
		}
	}
	r := w.recalled(w.asks(lobby, "What did I ask you about the night ferry?"))
	if len(r.Result.Hits) < 5 {
		t.Errorf("of what was asked %d are found", len(r.Result.Hits))
	}
}

// Hits that not all may read count as held back from a declined question only if they would answer it.
func TestWhatWouldBeDeclinedIsNotHeldBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(5*day, harbor, cleo, "The lighthouse password is cod")
	w.says(4*day, vault, ben, "The captain of the ferry is late")
	q := w.asks(lobby, "what did the zeppelin captain order?")
	if n := w.answer(q).Trace.HeldBack; n != 0 {
		t.Errorf("%d held back that have a word of it", n)
	}
	w.says(3*day, vault, ben, "The zeppelin captain ordered lunch")
	if n := w.answer(q).Trace.HeldBack; n == 0 {
		t.Error("the answer wasn't held back")
	}
}

// What not everybody may read decides neither whether there is an answer, nor which; nor does the unreadable past
// of the question's channel.
func TestAnUnreadablePastDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"zeppelin ferry?", "what did the captain order for lunch on the ferry?",
		"who drives the zeppelin to the pier", "and its captain?", "when does he order lunch?", "what did Ben say?",
		"what did Ann say?", "what did Cleo say on 13 June?", "Ann?"} {
		seen := ""
		for _, n := range []int{0, 1, 4, 20} {
			w := newWorld(t, nil)
			from := memory.FirstMessageID(noon.Add(-15 * time.Minute))
			for i := range n {
				w.says(time.Duration(i+2)*day, kiosk, ben, "zeppelin captain order lunch")
				w.says(16*time.Minute, kiosk, ben, "who drives the zeppelin captain to order lunch?")
			}
			w.says(14*time.Minute, kiosk, cleo, "what about the captain of the ferry, Ben?")
			w.says(10*time.Minute, kiosk, ben, "The ferry leaves from pier four today")
			w.says(9*time.Minute, kiosk, cleo, "Bring your own cake")
			index := memory.Indexer{Queue: w.store, Embedder: embed.Builtin{}}
			if err := index.Drain(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			q := w.asks(kiosk, question)
			q.Attended = attendedSince(from)
			r := w.recall(q)
			scope := r.narrowed
			scope.Channels, scope.Since = []memory.ChannelID{kiosk}, r.from.Time()
			found, _, err := w.engine.find(t.Context(), q, r, scope, []memory.MessageID{q.ID})
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s %t %v", w.answer(q).Text, found.Declined, found.Gate())
			for _, h := range found.Hits {
				got += fmt.Sprintf("\n%s %v %v", h.Message.Content, h.Relevance, h.Why)
			}
			if seen = cmp.Or(seen, got); got != seen {
				t.Errorf("%q is answered, with %d messages that some may not read,\n%s\nand with none\n%s", question, n, got,
					seen)
			}
		}
	}
}

func TestTheSessionHasWordsAndNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mentions(3*day, harbor, ben, "knows that the lighthouse is green")
	asked := w.posts(5*time.Minute, memory.Message{Guild: guild, Channel: lobby, Author: ben,
		Mentions: []memory.UserID{oracle}, Content: fmt.Sprintf("<@!%d> and <@%d>, which tide?", oracle, cleo)})
	answer := memory.Message{Guild: guild, Channel: lobby, Author: oracle, Kind: memory.FromHark, ReplyTo: asked,
		Content: "High tide [\\[1\\]](<https://discord.com/channels/7/8/9>) at **noon** [2].\n\n— **Ben** in #harbor, 1 May 2024 10:00 [1]\n" +
			noModel + "\n-# Sources: [1] Ben, #harbor, 1 May"}
	answer.ID = w.posts(4*time.Minute, answer)
	w.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: lobby, Answer: answer.ID, Asker: ben}})
	q := w.asks(lobby, "Is the lighthouse green?")
	p := w.prompt(q)
	has(t, p, "High tide at **noon**.", "@Hark and ‹@23›, which tide?", "@Hark knows that the lighthouse is green")
	hasNot(t, p, "Sources:", "discord.com", "language model", "#harbor, 1 May", "‹@29›")
	notes := foundNone + "\n\n" + modelAway
	w.says(3*time.Minute, lobby, ben, "And the zeppelin?")
	none := w.answered(2*time.Minute, notes)
	q = w.asks(lobby, "Is the lighthouse green?")
	hasNot(t, w.prompt(q), "I found nothing", "language model") // it would be imitated
	q.ReplyTo = none
	has(t, w.prompt(q), "I found nothing")
	if got := w.recall(q).names.modelText(memory.Message{Kind: memory.FromHark, Content: notes}, notes); got != notes {
		t.Errorf("of an answer of nothing but notes is left %q", got)
	}
	if got := text.OwnWords("*yes* and **no**\n* a\n-# foot"); got != "*yes* and **no**\n* a" {
		t.Errorf("left of an answer: %q", got)
	}
}

func TestTheNoteIsSaidOnceADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(3*day, lobby, ben, "The lighthouse password is cod")
	for i, c := range []struct {
		channel memory.ChannelID
		later   time.Duration
		alone   bool
		want    bool
	}{{lobby, 0, false, true}, {lobby, time.Hour, false, false}, {harbor, time.Hour, false, true},
		{lobby, time.Hour, true, true}, {lobby, 2 * time.Hour, true, false},
		{lobby, day, false, true}, {lobby, day, false, false}} {
		q := w.asks(c.channel, "What is the lighthouse password?")
		q.Now, q.OnlyAsker, q.Roles = q.Now.Add(c.later), c.alone, []memory.RoleID{}
		a := w.answer(q)
		has(t, a.Text, "password is cod")
		if strings.Contains(a.Text, noModel) != c.want {
			t.Errorf("%d: answered %q", i, a.Text)
		}
	}
	q := w.asks(lobby, "What is the lighthouse password?")
	w.engine.model, q.NoModel = &scripted{}, true
	has(t, w.answer(q).Text, noTokens) // which isn't always so
}

// An answer without a model is the best message with what completes it, in order of time.
func TestQuotesAreCompleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, ann, "the sound of the ferry radio doesn't work, any idea?")
	w.says(9*day-time.Minute, harbor, ben, "unplug it for a minute")
	w.says(8*day, harbor, cleo, "lunch was nice")
	w.says(5*day, harbor, cleo, "who rows the regatta boat?")
	w.says(5*day-time.Minute, harbor, ben, "Otto and Pim")
	w.mentions(4*day, harbor, cleo, "where is the tiller?") // which completes nothing: it was asked of Hark
	w.says(4*day-time.Minute, harbor, ben, "the tiller is in the shed")
	w.says(4*day-time.Hour, harbor, cleo, "my webcam shows only black")
	w.says(4*day-time.Hour-time.Minute, harbor, ann, "lunch is ready")
	w.posts(4*day-time.Hour-2*time.Minute, memory.Message{Guild: guild, Channel: harbor, Author: ben,
		Mentions: []memory.UserID{cleo}, Content: "slide the cover open"})
	w.says(3*day, harbor, ben, "the mooring fee was 40")
	w.says(2*day, harbor, ben, "the mooring fee is 55 now")
	w.says(day, harbor, cleo, "good that you say it, no nuts in the cake then") // so does what has a word that only asks
	w.says(day-time.Minute, harbor, ben, "the pennant is in the loft")
	for question, want := range map[string][]string{
		"what did Ben say of the pennant?": {"in the loft"},
		"sound of the radio doesn't work":  {"any idea?", "unplug it"},
		"who rows the regatta boat":        {"who rows", "Otto"},
		"how much is the mooring fee?":     {"55 now"},
		"is the tiller in the shed?":       {"in the shed"},
		"webcam black":                     {"shows only black", "slide the cover"}, // which is said to its author
	} {
		text := w.answer(w.asks(lobby, question)).Text
		at := -1
		for _, s := range want {
			if i := strings.Index(text, s); i <= at {
				t.Errorf("%q: %q isn't there, or too early, in:\n%s", question, s, text)
			} else {
				at = i
			}
		}
		hasNot(t, text, "where is", "nuts", "lunch is")
		if n := strings.Count(text, "> "); n > 2 {
			t.Errorf("%q: %d messages are quoted:\n%s", question, n, text)
		}
	}
}

// Without a model, a name alone gets what they said, and a follow-up question its subject, also from the session.
func TestNamesAndFollowUpsAreQuoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(9*day, harbor, cleo, "the tiller is in the shed, behind the sails")
	w.says(8*day, harbor, ben, "I sold my kayak to the school yesterday")
	for _, question := range []string{"Ben", "@Ben?", "what did Ben say?"} {
		has(t, w.answer(w.asks(lobby, question)).Text, "kayak")
	}
	hasNot(t, w.answer(w.asks(lobby, "what did Ben say yesterday?")).Text, "kayak") // that was a week ago
	w.says(9*time.Minute, harbor, cleo, "The regatta is on Friday at three, by the east pier")
	asked := w.mentions(8*time.Minute, harbor, ann, "when is the regatta?")
	w.posts(7*time.Minute, memory.Message{Guild: guild, Channel: harbor, Author: oracle, Kind: memory.FromHark,
		ReplyTo: asked, Content: "> The regatta is on Friday at three, by the east pier\n— **Cleo** in #lobby [1]"})
	text := w.answer(w.asks(harbor, "and where?")).Text
	has(t, text, "east pier")
	hasNot(t, text, "tiller", "when is the regatta")
}

// Nothing is looked up at its source that isn't worth telling.
func TestWhatIsDeclinedIsNotLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 30 {
		w.says(time.Duration(i+2)*day, harbor, ben, fmt.Sprintf("The captain of ferry %d is late", i))
	}
	looked := map[memory.MessageID]bool{}
	w.engine.LookUpBy(func(_ context.Context, messages []memory.Message, _ time.Duration) ([]memory.Message, error) {
		for _, m := range messages {
			looked[m.ID] = m.Channel == harbor
		}
		maps.DeleteFunc(looked, func(_ memory.MessageID, found bool) bool { return !found }) // the question itself
		return messages, nil
	})
	if w.answer(w.asks(lobby, "how are you?")); len(looked) > 0 {
		t.Errorf("%d messages are looked up for small talk", len(looked))
	}
	const most = 3 * 5 // of the best five with what stands beside them
	if w.answer(w.asks(vault, "what did the zeppelin captain order for lunch?")); len(looked) > most {
		t.Errorf("%d messages are looked up for a question that is declined", len(looked))
	}
}
