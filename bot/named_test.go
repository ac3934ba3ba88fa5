package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/llmtest"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
	"hark/search"
)

// modelled is a scene whose answers a model writes, and that model.
func modelled(t *testing.T) (*scene, *llmtest.Server) {
	t.Helper()
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("So it is") })
	s := set(t)
	layout, err := builder.New(builder.Options{Citations: true}, tokenstest.For(""))
	if err != nil {
		t.Fatal(err)
	}
	s.engine = answer.New(s.log, search.New(s.log, s.log, embed.Builtin{}), layout, modelAt(model.URL()),
		answer.Options{Policy: memory.Policy{}})
	return s.with(t, Config{Token: s.discord.Token}), model
}

// promptFor is what the model was sent for a question that ana asks.
func (s *scene) promptFor(t *testing.T, model *llmtest.Server, text string, more ...discordtest.MessageOption) string {
	t.Helper()
	before := len(s.discord.Sent(s.channel))
	s.discord.Say(s.channel, s.ana.ID, strings.TrimSpace(s.discord.Bot.Mention()+" "+text), more...)
	s.discord.WaitFor("an answer", func() bool {
		sent := s.discord.Sent(s.channel)
		return len(sent) > before && sent[len(sent)-1].Content == "So it is"
	})
	s.idle(t)
	all := model.Requests()
	return all[len(all)-1].Prompt()
}

func wants(t *testing.T, prompt string, wanted, unwanted []string) {
	t.Helper()
	for _, s := range wanted {
		if !strings.Contains(prompt, s) {
			t.Errorf("no %q in\n%s", s, prompt)
		}
	}
	for _, s := range unwanted {
		if strings.Contains(prompt, s) {
			t.Errorf("%q in\n%s", s, prompt)
		}
	}
}

func TestTagsLinksAndRepliesReachTheModel(t *testing.T) {
	t.Parallel()
	s, model := modelled(t)
	dev, board := s.addChannel("dev"), s.secret("board")
	crew := s.discord.AddRole(s.guild.ID, "crew", 0)
	s.run(t).ready(t)
	keel := s.posts(t, dev.ID, s.bo.ID, "The keel is laid by <@&"+crew.ID.String()+"> <t:1797102000:F>")
	s.posts(t, dev.ID, s.bo.ID, "We ordered ropes")
	gold := s.posts(t, board.ID, s.bo.ID, "The gold is counted")
	s.posts(t, s.channel, s.bo.ID, "Pancakes at nine, not in <#"+board.ID.String()+">")
	tag := func(id discordtest.ID) string { return "<#" + id.String() + ">" }
	link := func(channel, message discordtest.ID) string {
		return fmt.Sprintf("https://ptb.discord.com/channels/%d/%d/%d", s.guild.ID, channel, message)
	}
	s.discord.Advance(2 * time.Hour)

	wants(t, s.promptFor(t, model, "summarize "+tag(dev.ID)),
		[]string{"keel is laid", "(@crew)", "<t:1797102000:F> (2026-12-12 19:00)", "ordered ropes",
			"summarize " + tag(dev.ID) + " (#dev)"},
		[]string{"Pancakes", "gold"})
	wants(t, s.promptFor(t, model, "summarize #dev"), []string{"keel is laid", "ordered ropes"}, []string{"Pancakes"})
	wants(t, s.promptFor(t, model, "summarize "+tag(board.ID)), []string{"summarize #unknown"},
		[]string{"keel", "gold", "board"})
	s.discord.Advance(2 * time.Hour)
	wants(t, s.promptFor(t, model, "who did that? "+link(dev.ID, keel.ID)+" "+link(board.ID, gold.ID)),
		[]string{"keel is laid", "ordered ropes"}, []string{"gold is"})
	s.discord.Advance(2 * time.Hour)
	asked := s.posts(t, s.channel, s.bo.ID, "Who laid the keel of the boat?")
	prompt := s.promptFor(t, model, "", discordtest.ReplyTo(asked.ID))
	wants(t, prompt, []string{`replying to bo: "Who laid the keel of the boat?"`,
		"(ana): Who laid the keel of the boat?", "keel is laid"}, nil)
	wants(t, s.promptFor(t, model, "and why?", discordtest.ReplyTo(asked.ID)),
		[]string{`replying to bo: "Who laid the keel of the boat?"`, "and why?"}, nil)
}

// A mention alone below what isn't remembered gets help, as one below nothing does.
func TestAMentionAloneWithoutAQuestionGetsHelp(t *testing.T) {
	t.Parallel()
	s, model := modelled(t)
	s.run(t).ready(t)
	said := s.posts(t, s.channel, s.bo.ID, "Who laid the keel of the boat?")
	s.apply(t, memory.Opted{Guild: s.guildID, User: s.boID, Out: true, At: s.discord.Now()})
	for _, more := range [][]discordtest.MessageOption{{discordtest.ReplyTo(said.ID)}, nil} {
		asked := s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention(), more...)
		s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
			return m.ID > asked.ID && strings.HasPrefix(m.Content, "Hi! Ask me something")
		})
	}
	if all := model.Requests(); len(all) > 0 {
		t.Errorf("the model was asked %d times", len(all))
	}
}
