package bot

import (
	"testing"
)

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
