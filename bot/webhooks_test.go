package bot

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// What becomes of bots and webhooks is a channel's own choice, whatever the default is.
func TestBotsAndWebhooksByChannel(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.with(t, Config{Token: s.discord.Token, LogBots: true}).run(t).ready(t)
	s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		return answer.Answer{Text: "to " + q.Name + " <@" + q.Asker.String() + ">"}, nil
	}
	channels := map[memory.Bots]discordtest.ID{"": s.channel}
	for i, choice := range memory.AllBots() {
		id := s.addChannel("bots-" + string(choice)).ID
		channels[choice] = id
		s.apply(t, memory.SettingChosen{Guild: s.guildID, Channel: memory.ChannelID(id), Key: memory.SettingBots,
			Value: string(choice), At: noon.Add(-1).AddDate(0, 0, -i)})
	}
	for choice, id := range channels {
		lea := s.discord.Say(id, s.bo.ID, s.discord.Bot.Mention()+" when?", discordtest.ViaWebhook("Lea"))
		max := s.discord.Say(id, s.bo.ID, "at noon", discordtest.ViaWebhook("Max"))
		s.posts(t, id, s.ana.ID, "a member, for "+string(choice))
		s.idle(t)
		logged := s.inLog(t, lea, max)
		if want := choice != memory.BotsForgotten; want != (len(logged) == 2) {
			t.Errorf("%q: logged %+v", choice, logged)
		}
		for i, m := range logged {
			if m.Author != memory.WebhookPerson(m.Channel, []string{"Lea", "Max"}[i]) {
				t.Errorf("%q: %d wrote %q", choice, m.Author, m.Content)
			}
		}
		answers := s.discord.Sent(id)
		if (choice == memory.BotsHeard) != (len(answers) == 1) {
			t.Errorf("%q: answered %+v", choice, answers)
		}
	}
	heard := s.discord.Sent(channels[memory.BotsHeard])
	if len(heard) == 1 && (!strings.HasPrefix(heard[0].Content, "to Lea ") || len(heard[0].Pinged) > 0) {
		t.Errorf("answered %q, pinged %v", heard[0].Content, heard[0].Pinged)
	}
	asked := s.oracle.questions()
	if len(asked) != 1 || !asked[0].Proxied || asked[0].Agree != nil || asked[0].OnlyAsker {
		t.Errorf("asked %+v", asked)
	}
}

// A webhook's name has a limit of its own.
func TestWebhooksHaveLimitsByName(t *testing.T) {
	t.Parallel()
	s := set(t)
	limits := Config{Token: s.discord.Token}
	limits.Limits.Member = memory.Limit{Messages: 1, Tokens: memory.Unlimited}
	s.with(t, limits).run(t).ready(t)
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: memory.SettingBots, Value: string(memory.BotsHeard), At: noon})
	for _, name := range []string{"Lea", "Lea", "Max"} {
		s.discord.Say(s.channel, s.bo.ID, s.discord.Bot.Mention()+" when?", discordtest.ViaWebhook(name))
	}
	s.traces(t, 2)
	var names []string
	for _, q := range s.oracle.questions() {
		names = append(names, q.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"Lea", "Max"}) {
		t.Errorf("asked by %q", names)
	}
}

// inLog returns what the log has of messages of a channel.
func (s *scene) inLog(t *testing.T, all ...discordtest.Message) (found []memory.Message) {
	t.Helper()
	var ids []memory.MessageID
	for _, m := range all {
		ids = append(ids, memory.MessageID(m.ID))
	}
	found, err := s.log.Around(t.Context(), memory.ChannelID(all[0].ChannelID), ids, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
