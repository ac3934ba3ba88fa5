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

func TestRefusedLives(t *testing.T) {
	t.Parallel()
	l := newLives(time.UnixMilli(0))
	l.refuse(1) // of which nothing is known
	first, again := &ask{id: 1, channel: 2, text: "whn?"}, &ask{id: 1, channel: 2, text: "when?", again: true}
	l.hear(first)
	if l.refuse(1); len(l.of) != 0 {
		t.Error("a question that wasn't answered is known")
	}
	l.hear(first)
	l.begin(t.Context(), 1, 0)
	if err := l.end(1, []memory.MessageID{3}, []memory.MessageID{4}, false); err != nil {
		t.Fatal(err)
	}
	if l.hear(again) != again {
		t.Fatal("the edited question isn't asked")
	}
	if l.refuse(1); l.hear(again) != nil {
		t.Error("what was refused is asked again by itself")
	}
	if known := l.of[1]; known.state != over || known.ask.text != "" || len(known.shown) != 1 || len(known.more) != 1 {
		t.Errorf("known is %+v", known)
	}
	// It may be deleted before it is refused.
	l.hear(&ask{id: 1, channel: 2, text: "when then?", again: true})
	l.see([]memory.Event{memory.Deleted{Channel: 2, IDs: []memory.MessageID{1}}})
	l.takeOrphans()
	l.refuse(1)
	if got := l.takeOrphans(); len(got) != 2 || got[0] != (spot{2, 3}) || got[1] != (spot{2, 4}) || len(l.of) != 0 {
		t.Errorf("to be taken back are %+v", got)
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
