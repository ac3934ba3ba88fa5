package bot

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/bot/reply"
	"hark/internal/discordtest"
	"hark/memory"
)

// forgets uses "Forget this" on a message, and presses its button.
func (s *scene) forgets(t *testing.T, m discordtest.Message,
	who, owner discordtest.User) (asked, done discordtest.Sent) {
	t.Helper()
	asked = s.discord.MessageAction(m, who.ID, forgetCommand).WaitMessage()
	s.says(t, asked)
	return asked, s.turns(t, s.discord.Click(asked.Message, who.ID,
		forgetButton(m.ChannelID, m.ID, owner.ID)))
}

// forgetButton is the id of the button that forgets one message of somebody's.
func forgetButton(channel, message, owner discordtest.ID) string {
	return strings.Join([]string{confirmForgetThis, reply.Short36(int64(channel)), reply.Short36(int64(message)),
		reply.Short36(int64(owner))}, ":")
}

// Whoever lost the right between the question and the press is refused, also after a restart.
func TestForgettingOneMessageAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	role := s.discord.AddRole(s.guild.ID, "keepers", discordtest.ManageMessages)
	keeper := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"}, role.ID)
	said := s.posts(t, s.channel, s.bo.ID, "my own words")
	byKeeper := s.discord.MessageAction(said, keeper.ID, forgetCommand).WaitMessage()
	byBo := s.discord.MessageAction(said, s.bo.ID, forgetCommand).WaitMessage()
	s.discord.UpdateMember(s.guild.ID, keeper.ID, func(m *discordtest.Member) { m.Roles = nil })
	s.again(t)
	id := forgetButton(s.channel, said.ID, s.bo.ID)
	refused := s.discord.Click(byKeeper.Message, keeper.ID, id)
	s.hears(t, refused)
	if _, gone := find(s.log, func(memory.Deleted) bool { return true }); gone {
		t.Error("it is gone all the same")
	}
	s.turns(t, s.discord.Click(byBo.Message, s.bo.ID, id))
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
	var second discordtest.Message
	for _, m := range s.discord.Messages(s.channel) {
		if memory.MessageID(m.ID) == trace.Parts[0] {
			second = m
		}
	}
	s.says(t, s.discord.MessageAction(second, s.bo.ID, forgetCommand).WaitMessage())
	s.forgets(t, second, s.ana, s.ana)
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

// What is forgotten so stays forgotten, whatever Discord tells of it: in a real store.
func TestForgottenMessagesStayForgotten(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := s.overStore(t)
	s.waitRegistered()
	said := s.discord.Say(s.channel, s.bo.ID, s.discord.Bot.Mention()+" what are secret words?")
	s.out.wait(t, `"answered"`)
	s.idle(t)
	known := func() int {
		t.Helper()
		found, err := store.Around(t.Context(), memory.ChannelID(s.channel),
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
	s.forgets(t, said, s.bo, s.bo)
	if known() != 0 {
		t.Error("it is still remembered")
	}
	s.discord.Edit(s.channel, said.ID, s.discord.Bot.Mention()+" what are secret words, once more?")
	s.discord.EditBriefly(s.channel, said.ID, s.discord.Bot.Mention()+" what are secret words, for good?")
	s.discord.Unfurl(s.channel, said.ID, `{"title": "secret words"}`)
	s.use(t, s.bo, "help") // after which all of this was looked at
	s.idle(t)
	if n := len(s.oracle.questions()); known() != 0 || n != answers {
		t.Errorf("an edit brings it back: %d messages, %d more questions", known(), n-answers)
	}
	if err := store.Apply(context.Background(),
		memory.Posted{Message: memory.Message{ID: memory.MessageID(said.ID), Guild: memory.GuildID(s.guild.ID),
			Channel: memory.ChannelID(s.channel), Author: memory.UserID(s.bo.ID), Content: "secret words"}},
		memory.Edited{Guild: memory.GuildID(s.guild.ID),
			Channel: memory.ChannelID(s.channel), ID: memory.MessageID(said.ID), Content: "secret words", At: time.Now()}); err != nil || known() != 0 {
		t.Errorf("fetching brings it back: %d messages, %v", known(), err)
	}
}
