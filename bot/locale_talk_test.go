package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// labels are those of the buttons of a message that only one sees.
func labels(m discordtest.Sent) string {
	var all []string
	for _, raw := range m.Components {
		var row component
		if json.Unmarshal(raw, &row) == nil {
			for _, b := range row.Components {
				all = append(all, b.Label+b.Placeholder)
			}
		}
	}
	return strings.Join(all, ", ")
}

// Whoever uses a command, a button, a menu or a form is told all in the language in which they use Discord.
func TestMembersAreAnsweredInTheirLanguage(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	for _, tt := range []struct{ language, shows, refuses, asks, button, form string }{
		{"de", "**Was ich hier über dich behalte**", "Das können nur die entscheiden", "auf diesem Server geschrieben", "Vergiss, was ich schrieb", "Wer ich dort bin"},
		{"fr", "**Ce que je garde sur toi ici**", "Seuls ceux qui peuvent gérer", "sur ce serveur", "Oublie ce que j'ai écrit", "Qui je suis là-bas"},
		{"es-ES", "**Lo que guardo sobre ti aquí**", "Solo quienes pueden administrar", "en este servidor", "Olvida lo que escribí", "Quién soy allí"},
		{"es-419", "**Lo que guardo sobre ti aquí**", "Solo quienes pueden administrar", "en este servidor", "Olvida lo que escribí", "Quién soy allí"},
		{"ja", "**ここであなたについて残しているもの**", "決められるのは", "このサーバーで", "書いたことを忘れて", "そこでの私"},
		{"zh-TW", "**我在這裡保留的關於你的內容**", "只有可以管理這個伺服器的人", "在這個伺服器", "忘記我寫過的", "我在那裡是誰"},
		{"zh-CN", "**What I keep about you here**", "Only those who may manage", "in this server", "Forget what I wrote", "Who I am there"},
		{"pl", "**What I keep about you here**", "Only those who may manage", "in this server", "Forget what I wrote", "Who I am there"},
	} {
		s.discord.Speaks(s.ana.ID, tt.language)
		s.discord.Speaks(s.bo.ID, tt.language)
		s.says(t, s.use(t, s.ana, "memory show"), tt.shows)
		if refusal := localeOf(tt.language).text(notAllowed); !strings.Contains(refusal, tt.refuses) {
			t.Errorf("%s: the refusal is %q", tt.language, refusal)
		}
		m := s.use(t, s.ana, "memory forget")
		if s.says(t, m, tt.asks); labels(m) != tt.button {
			t.Errorf("%s: the button is %q", tt.language, labels(m))
		}
		if r := s.discord.Slash(s.channel, s.ana.ID, "hark persona set").Wait(); !strings.Contains(string(r.Data), tt.form) {
			t.Errorf("%s: the form is %s", tt.language, r.Data)
		}
		if r := s.discord.Complete(s.channel, s.ana.ID, "model", opt("model", "la")).Wait(); len(r.Choices()) != 1 || r.Choices()["large"] != "large" {
			t.Errorf("%s: offered %v", tt.language, r.Choices())
		}
	}
}

// A button, a menu and a form answer in the language of whoever uses them, with what they are told of mistakes.
func TestConversationsInALanguage(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.discord.Speaks(s.ana.ID, "de")
	s.says(t, s.use(t, s.ana, "memory add", opt("text", "allergic to nuts")), "Notiert.")
	m := s.use(t, s.ana, "memory remove")
	if s.says(t, m, "Was soll ich nicht mehr wissen?"); labels(m) != "Wähle, was ich vergessen soll" {
		t.Errorf("the menu says %q", labels(m))
	}
	m = s.use(t, s.ana, "memory forget")
	s.says(t, m, "`/memory optout`")
	i := s.discord.Click(m.Message, s.ana.ID, confirmForget)
	s.discord.WaitFor("the receipt", func() bool { return strings.HasPrefix(i.WaitMessage().Content, "**Vergessen**") })
	s.says(t, s.use(t, s.ana, "hark temperature", opt("temperature", "9")), "Das geht nicht: eine Temperatur ist eine Zahl von 0 bis 2.")
	s.says(t, s.use(t, s.ana, "hark temperature", opt("temperature", "0.5")), "Erledigt. In <#", "für diesen Kanal eingestellt")
	s.says(t, s.use(t, s.ana, "hark language", opt("language", "fr"), opt("channel", s.channel), opt("server", true)), "Eine Einstellung gilt für einen Kanal")

	s.oracle.lore = func(context.Context, answer.Question) ([]memory.Lore, error) { return nil, nil }
	form := s.discord.Slash(s.channel, s.ana.ID, "lore add")
	form.Wait()
	s.says(t, form.Submit(map[string]string{"name": "?", "text": "at eight"}).WaitMessage(), "Das kann ich nicht behalten: Wissen braucht einen Namen")
	s.says(t, s.use(t, s.ana, "lore show", opt("name", "nothing")), "Unter diesem Namen kenne ich nichts")

	s.oracle.explain = func(answer.Question, memory.MessageID) (answer.Explanation, error) {
		return answer.Explanation{}, answer.ErrNoTrace
	}
	s.ask("when?")
	mine := s.answered(t, s.channel, "Friday")
	s.says(t, s.discord.MessageAction(mine.Message, s.ana.ID, whyCommand).WaitMessage(), "Ich weiß nicht mehr, wie das zustande kam")
}

// What all can read is said in the language of the channel, whoever asks.
func TestAnswersAreDressedInTheLanguageOfTheServer(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.use(t, s.ana, "hark language", opt("language", "de"), opt("server", true))
	said := s.discord.Say(s.channel, s.bo.ID, "we meet on Friday")
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "Friday [1]", Sources: []answer.Source{{Number: 1, Guild: q.Guild, Channel: q.Channel, Message: memory.MessageID(said.ID), Author: "bo", Time: time.Date(2020, 5, 17, 0, 0, 0, 0, time.UTC)}},
			Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker}}, nil
	}
	s.ask("when?")
	s.over(t, 1)
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "Quellen: [1] bo, 17.5.2020") })
	for _, label := range []string{"Quellen", "Neu fragen", "Löschen"} {
		if s.buttonsOf(m.Message)[label] == "" {
			t.Errorf("no button %q: %v", label, s.buttonsOf(m.Message))
		}
	}
	// who presses is told in their own language
	if got := whispered(t, s, s.press(m.Message, s.bo, "Neu fragen")); !strings.HasPrefix(got, fmt.Sprintf("Only <@%d>, who asked, can do that.", s.ana.ID)) {
		t.Errorf("told %q", got)
	}
	s.oracle.answer = func(context.Context, answer.Question, func(string)) (answer.Answer, error) {
		return answer.Answer{}, sentenceError{}
	}
	s.ask("and where?")
	s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return m.Content == (sentenceError{}).Sentence() })
	s.ask("")
	s.told(t, s.channel, func(text string) bool { return strings.HasPrefix(text, "Hallo! Frag mich etwas") })
}

// What is to be remembered is read from its message whatever language that is in, and whatever the server's is by then.
func TestProposalsInALanguage(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.use(t, s.ana, "hark language", opt("language", "ja"), opt("server", true))
	source := s.discord.Say(s.channel, s.bo.ID, "we move on Friday, by night")
	plan := s.plan(source)
	s.proposes(plan)
	s.ask("remember the plan")
	s.over(t, 1)
	m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, "これを覚えますか？\n") })
	if strings.Contains(fmt.Sprint(s.log.said()), "Migration") {
		t.Errorf("logged %q", s.log.said())
	}
	s.use(t, s.ana, "hark language", opt("language", "fr"), opt("server", true))
	s.press(m.Message, s.ana, "覚える").Wait()
	s.log.wait(t, "the lore", func() bool { return len(s.lore()) == 1 })
	if got := s.lore()[0]; got.Name != plan.Name || got.Text != plan.Text || fmt.Sprint(got.Own, got.Sources) != fmt.Sprint(plan.Own, plan.Sources) {
		t.Errorf("kept %+v", got)
	}
}

// A guild that has chosen nothing is asked, and told what was decided, in the language that is configured.
func TestNoticeInTheConfiguredLanguage(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][3]string{
		"zh-Hant": {"**我可以記住這裡說的話嗎？**", "記住所有公開頻道", "我記住這裡每個人都讀得到的頻道裡說的話。"},
		"FR":      {"**Puis-je retenir ce qui se dit ici ?**", "Retenir tous les salons publics", "Je retiens ce qui se dit dans les salons que tout le monde ici peut lire."},
	} {
		s := asking(t)
		s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true}, Choices: answer.Choices{Default: answer.Settings{Language: language}}})
		s.bot.timing.look = time.Millisecond
		s.run(t).ready(t)
		m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
			return strings.HasPrefix(strings.ReplaceAll(m.Content, "\u00a0", " "), want[0])
		})
		s.press(m.Message, s.ana, want[1]).Wait()
		s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool { return strings.HasPrefix(m.Content, want[2]) })
	}
}
