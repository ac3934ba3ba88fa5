package bot

import (
	"context"
	"strings"
	"testing"

	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// What a bot or a webhook wrote isn't logged, and shown to who replies to it.
func TestRepliesToBotsCarryWhatTheyReplyTo(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	quota := s.discord.Say(s.channel, s.bo.ID, "disk quota 93%", discordtest.ViaWebhook("CI"))
	deploy := s.discord.Say(s.channel, s.bo.ID, "", discordtest.ViaWebhook("CI"),
		discordtest.WithEmbed(`{"type":"rich","title":"Deploy failed","description":"Exit status 137"}`))
	for i, text := range []string{"disk quota 93%", "Deploy failed\nExit status 137"} {
		sent := []discordtest.Message{quota, deploy}[i]
		s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what does this mean?", discordtest.ReplyTo(sent.ID))
		s.traces(t, i+1)
		q := s.oracle.questions()[i]
		if q.Replied == nil || q.Replied.Text() != text || q.Replied.Name != "CI" || q.ReplyTo != memory.MessageID(sent.ID) {
			t.Errorf("asked with %+v; want %q", q.Replied, text)
		}
		found, err := s.log.Around(t.Context(), s.channelID, []memory.MessageID{memory.MessageID(sent.ID)}, 0, 0)
		if err != nil || len(found) > 0 {
			t.Errorf("it is logged: %+v, %v", found, err)
		}
	}
}

func TestAskingAgainShowsWhatIsRepliedTo(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	sent := s.discord.Say(s.channel, s.bo.ID, "disk quota 93%", discordtest.ViaWebhook("CI"))
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what does this mean?", discordtest.ReplyTo(sent.ID))
	s.traces(t, 1)
	m := s.answered(t, s.channel, "Friday")
	s.press(m.Message, s.ana, reply.ButtonAgain).Wait()
	s.traces(t, 2)
	q := s.oracle.questions()[1]
	if q.Replied == nil || q.Replied.Text() != "disk quota 93%" {
		t.Errorf("asked again with %+v", q.Replied)
	}
}

func TestRepliesToABotsDeletedMessageAreTakenBack(t *testing.T) {
	t.Parallel()
	s := set(t)
	stood := true
	var sent discordtest.Message
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		s.discord.Delete(s.channel, sent.ID)
		waitLogged(t, s.log, "the deletion", func(memory.Deleted) bool { return true })
		s.commitNothing(t)
		stood = q.SessionStands()
		return answer.Answer{Text: "The disk is full."}, nil
	}
	s.run(t).ready(t)
	sent = s.discord.Say(s.channel, s.bo.ID, "Backup aborted", discordtest.ViaWebhook("CI"))
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what does this mean?", discordtest.ReplyTo(sent.ID))
	s.told(t, s.channel, func(text string) bool { return strings.Contains(text, "I take my answer back") })
	if stood {
		t.Error("the answer may still use it")
	}
}
