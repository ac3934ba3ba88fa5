package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
)

// whyAction is the command on an answer that tells how it came about.
const whyAction = "Why did you say that?"

// press uses the button of a message of Hark's that has a label, as soon as it is there.
func (w *world) press(m discordtest.Message, who discordtest.User, label string) *discordtest.Interaction {
	w.Helper()
	id := ""
	w.discord.WaitFor("the button "+label, func() bool {
		id = buttonOf(w.now(m), label)
		return id != ""
	})
	return w.discord.Click(m, who.ID, id)
}

// buttonOf is the id of a message's button of that label; "" if there is none.
func buttonOf(m discordtest.Sent, label string) string {
	for _, raw := range m.Components {
		var row struct {
			Components []struct {
				Label string `json:"label"`
				ID    string `json:"custom_id"`
			} `json:"components"`
		}
		if json.Unmarshal(raw, &row) != nil {
			continue
		}
		for _, b := range row.Components {
			if b.Label == label {
				return b.ID
			}
		}
	}
	return ""
}

// now is a message of Hark's as it is.
func (w *world) now(m discordtest.Message) discordtest.Sent {
	for _, sent := range w.discord.Sent(m.ChannelID) {
		if sent.ID == m.ID {
			return sent
		}
	}
	return discordtest.Sent{}
}

// becomes waits until a message of Hark's holds text, and until how it came about is in the log for the nth time.
func (w *world) becomes(m discordtest.Message, text string, n int) {
	w.Helper()
	w.discord.WaitFor("the message to read "+text, func() bool { return strings.Contains(w.now(m).Content, text) })
	w.discord.WaitFor("its trace", func() bool { return strings.Count(w.log.String(), `"answer":`+m.ID.String()+",") >= n })
}

// What is edited soon is answered anew in the same message, which is in the log as any other: with what it is from.
func TestAnswersLiveAsTheirQuestionsDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	source := w.discord.Say(w.general.ID, w.jane.ID, "The canary sings in the greenhouse at noon.")
	w.later()
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" where does the canary snig?")
	answer := w.reply(w.general.ID, q.ID, "Noted")
	w.becomes(answer.Message, "Noted", 1)
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Anew", " [1].") })
	w.discord.Edit(w.general.ID, q.ID, w.discord.Bot.Mention()+" where does the canary sing?")
	w.becomes(answer.Message, "Anew", 2)
	w.discord.WaitFor("the commands", func() bool { return len(w.discord.Commands(0)) > 0 })
	why := w.discord.MessageAction(answer.Message, w.otto.ID, whyAction).WaitMessage().Content
	w.holds(why, "test-model")
	w.holds(why, "sings in the greenhouse")

	// Asked again after a restart.
	w.stop()
	w.start()
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Once more", " [1].") })
	w.press(answer.Message, w.ana, "Ask again").Wait()
	w.becomes(answer.Message, "Once more", 3)

	// What it is from is edited: the log doesn't have it any more, but it can be asked again all the same.
	w.discord.Edit(w.general.ID, source.ID, "The canary sings in the barn at noon.")
	w.lacks(w.press(answer.Message, w.otto, "Sources").WaitMessage().Content, "sings")
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("In the barn", " [1].") })
	w.press(answer.Message, w.ana, "Ask again").Wait()
	w.becomes(answer.Message, "In the barn", 4)
	w.holds(w.press(answer.Message, w.otto, "Sources").WaitMessage().Content, "sings in the barn")
	w.stop()
	w.holds(w.logged(w.general.ID)[memory.MessageID(answer.ID)], "In the barn")

	// It goes with its question, also if that goes while Hark is there again.
	w.start()
	w.discord.Delete(w.general.ID, q.ID)
	w.discord.WaitFor("the answer to go", func() bool { return w.now(answer.Message).Deleted })
	if n := len(w.discord.Sent(w.general.ID)); n != 1 {
		t.Errorf("%d messages", n)
	}
}
