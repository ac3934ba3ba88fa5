package bot

import (
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// A question that may not be asked anew keeps its answer, which the next time is written in place.
func TestRefusedEditsKeepTheirAnswers(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, Limits{Member: memory.Limit{Messages: 2}}).run(t).ready(t)
	s.oracle.answer = takes(1)
	s.asks(s.channel, s.ana, "earlier")
	s.answered(t, s.channel, "re: earlier")
	s.discord.Advance(30 * time.Second)
	q := s.ask("whn?")
	m := s.answered(t, s.channel, "re: whn?")
	s.over(t, 2)
	s.discord.Advance(10 * time.Second)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when?")
	s.discord.WaitFor("a refusal", func() bool { return len(s.discord.Sent(s.channel)) == 3 })
	s.idle(t)
	s.says(t, s.discord.Sent(s.channel)[2])
	s.discord.Advance(25 * time.Second)
	s.discord.Edit(s.channel, q.ID, s.discord.Bot.Mention()+" when then?")
	s.shows(m.Message, "re: when then?")
	if n := len(s.discord.Sent(s.channel)); n != 3 {
		t.Errorf("%d messages", n)
	}
}

// Nor is it lost by the button: where nothing is logged, the answer still goes with its question.
func TestRefusedPressesKeepTheirAnswers(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, Config{Token: s.discord.Token, EditAnswers: true, Policy: memory.Policy{Ask: true}, Limits: Limits{Member: memory.Limit{Messages: 1}}}).run(t).ready(t)
	s.notice(t, s.channel)
	q := s.ask("when?")
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.idle(t) // it counts as answered a moment after Discord shows it
	s.hears(t, s.press(m.Message, s.ana, buttonAgain))
	s.discord.Delete(s.channel, q.ID)
	s.discord.WaitFor("the answer to go", func() bool { return s.now(m.Message).Deleted })
}

func TestRefusedQuestions(t *testing.T) {
	t.Parallel()
	q := tracks()
	q.refuse(1) // of which nothing is known
	first, again := &ask{id: 2, channel: 2, text: "whn?"}, &ask{id: 2, channel: 2, text: "when?", again: true}
	q.hear(first, false)
	if q.refuse(2); q.known[2].ask != nil || q.hear(first, false) != nil {
		t.Error("a question that wasn't answered is known, or asked again")
	}
	if q.hear(again, false) != again {
		t.Fatal("a question that was refused and edited isn't asked")
	}
	q.begin(t.Context(), 2)
	if err := q.end(2, []memory.MessageID{3}, []memory.MessageID{4}, false); err != nil {
		t.Fatal(err)
	}
	edited := &ask{id: 2, channel: 2, text: "when then?", again: true}
	if q.hear(edited, false) != edited {
		t.Fatal("the edited question isn't asked")
	}
	if q.refuse(2); q.hear(edited, false) != nil {
		t.Error("what was refused is asked again by itself")
	}
	if known := q.known[2]; known.state != over || known.ask.text != "" || len(known.shown) != 1 || len(known.more) != 1 {
		t.Errorf("known is %+v", known)
	}
	// It may be deleted before it is refused.
	q.hear(&ask{id: 2, channel: 2, text: "and when?", again: true}, false)
	q.see([]subject{{channel: 2, deleted: []memory.MessageID{2}}})
	if q.refuse(2); len(q.removals) != 2 || !q.removals[spot{2, 3}].own || !q.removals[spot{2, 4}].own || q.known[2].ask != nil {
		t.Errorf("to be taken back are %+v", q.removals)
	}
}

// What is forgotten isn't shown for as long as the question waits to be answered anew.
func TestAnswersAreTakenBackWhileTheirQuestionsWait(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.overStore(t)
	source := s.discord.Say(s.channel, s.bo.ID, "the safe is 1234")
	s.from(source, twoParts)
	s.ask("what is it?")
	s.discord.WaitFor("two messages", func() bool { return len(s.discord.Sent(s.channel)) == 2 })
	s.logged(t)
	sent := s.discord.Sent(s.channel)
	say, begun := s.hush()
	s.ask("another that takes long")
	<-begun
	s.press(sent[1].Message, s.ana, buttonAgain).Wait()
	s.discord.Delete(s.channel, source.ID)
	s.shows(sent[0].Message, withdrawnText)
	s.discord.WaitFor("the other part to go", func() bool { return s.now(sent[1].Message).Deleted })
	say <- "long"
	<-begun
	say <- "I don't know"
	s.shows(sent[0].Message, "I don't know")
}
