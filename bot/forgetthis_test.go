package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// forgets uses "Forget this" on a message, and presses its button.
func (s *scene) forgets(t *testing.T, m discordtest.Message, who discordtest.User) {
	t.Helper()
	asked := s.discord.MessageAction(m, who.ID, forgetCommand).WaitMessage()
	s.says(t, asked)
	s.turns(t, s.discord.Click(asked.Message, who.ID, buttonOf(t, asked.Message, confirmForgetThis)))
}

func TestOwnAnswersAreForgottenByWhoAsked(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.oracle.answer = says(strings.Repeat("a long answer, ", 200))
	s.ask("when?")
	s.over(t, 1)
	trace := s.traces(t, 1)[0]
	if len(trace.Parts) == 0 {
		t.Fatalf("the answer has one part: %+v", trace)
	}
	second := s.discord.Sent(s.channel)[1].Message
	s.says(t, s.discord.MessageAction(second, s.bo.ID, forgetCommand).WaitMessage())
	s.forgets(t, second, s.ana)
	gone, _ := find(s.log, func(memory.Deleted) bool { return true })
	if !slices.Equal(gone.IDs, append([]memory.MessageID{trace.Answer}, trace.Parts...)) {
		t.Errorf("%v is gone of %+v", gone.IDs, trace)
	}
	s.oracle.traceless = true
	s.oracle.answer = says("nobody knows why")
	s.ask("why?")
	m := s.told(t, s.channel, is("nobody knows why"))
	s.says(t, s.discord.MessageAction(m.Message, s.ana.ID, forgetCommand).WaitMessage())
}

// A forgotten message stays forgotten, whatever Discord sends of it.
func TestForgottenMessagesStayForgotten(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := s.overStore(t)
	said := s.discord.Say(s.channel, s.bo.ID, s.discord.Bot.Mention()+" what are secret words?")
	s.out.wait(t, `"answered"`)
	s.idle(t)
	known := func() int {
		t.Helper()
		found, err := store.Around(t.Context(), s.channelID,
			[]memory.MessageID{memory.MessageID(said.ID)}, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if known() != 1 {
		t.Fatal("it isn't remembered in the first place")
	}
	answers := len(s.oracle.questions())
	s.forgets(t, said, s.bo)
	if known() != 0 {
		t.Error("it is still remembered")
	}
	s.discord.Edit(s.channel, said.ID, s.discord.Bot.Mention()+" what are secret words, once more?")
	s.discord.EditBriefly(s.channel, said.ID, s.discord.Bot.Mention()+" what are secret words, for good?")
	s.discord.Unfurl(s.channel, said.ID, `{"type":"link","url":"https://a.example","title":"secret words"}`)
	s.use(t, s.bo, "help")
	s.idle(t)
	if n := len(s.oracle.questions()); known() != 0 || n != answers {
		t.Errorf("an edit brings it back: %d messages, %d more questions", known(), n-answers)
	}
	err := store.Apply(t.Context(), memory.Posted{Message: memory.Message{ID: memory.MessageID(said.ID),
		Guild: s.guildID, Channel: s.channelID, Author: s.boID, Content: "secret words"}},
		memory.Edited{Guild: s.guildID, Channel: s.channelID, ID: memory.MessageID(said.ID), Content: "secret words",
			At: time.Now()})
	if err != nil || known() != 0 {
		t.Errorf("fetching brings it back: %d messages, %v", known(), err)
	}
}
