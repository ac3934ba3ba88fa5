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

func limitedTo(t *testing.T, l reply.Limits) *scene {
	t.Helper()
	s := set(t)
	return s.with(t, Config{Token: s.discord.Token, Limits: l})
}

func (s *scene) asks(channel discordtest.ID, who discordtest.User, text string) discordtest.Message {
	return s.discord.Say(channel, who.ID, s.discord.Bot.Mention()+" "+text)
}

// sees has bo say something, and waits until all before it is logged and asked.
func (s *scene) sees(t *testing.T, text string) {
	t.Helper()
	s.discord.Say(s.channel, s.bo.ID, text)
	s.log.waitSaid(t, "them: "+text)
	s.commitNothing(t)
}

// takes repeats the question for so many tokens.
func takes(tokens int) answerFunc {
	return func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		if q.NoModel {
			return answer.Answer{Text: "quoted: " + q.Text}, nil
		}
		return answer.Answer{Text: "re: " + q.Text, Model: "m",
			Usage: answer.Usage{Calls: 1, Prompt: tokens - 1, Completion: 1}}, nil
	}
}

// refusals counts refused questions by limit.
func (s *scene) refusals(t *testing.T) map[string]int {
	all := map[string]int{}
	for key, n := range s.counted(t) {
		if of, is := strings.CutPrefix(key, "hark_questions_refused_total "); is {
			all[of] = n
		}
	}
	return all
}

// /context is on its user's account. Once that is used up, it asks no model.
func TestContextCommandIsPaidFor(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, reply.Limits{Member: memory.Limit{Tokens: 100}}).run(t).ready(t)
	s.oracle.recall = func(ctx context.Context, q answer.Question) (r answer.Recalled, err error) {
		if q.NoModel {
			return r, nil
		}
		if r.Usage = (answer.Usage{Calls: 1, Prompt: 30, Completion: 20}); q.Text == "two" {
			return r, sentenceError{}
		}
		return r, nil
	}
	spent := func(want int) {
		t.Helper()
		got, err := s.log.Spending(t.Context(), s.guildID, s.discord.Now())
		if err != nil || got[s.anaID] != want || len(got) > 1 {
			t.Errorf("spent %v, %v, want %d", got, err, want)
		}
	}
	for i, text := range []string{"one", "two", "three"} {
		s.discord.Slash(s.channel, s.ana.ID, "context", opt("question", text)).WaitMessage()
		spent(min(100, 50*(i+1)))
	}
	for i, q := range s.oracle.questions() {
		if q.NoModel != (i == 2) {
			t.Errorf("%q may ask the model: %v", q.Text, !q.NoModel)
		}
	}
	if got := s.refusals(t); got[memberTokens] != 1 || s.counted(t)["hark_answer_tokens_total"] != 100 {
		t.Errorf("refused %v, and all took %d tokens", got, s.counted(t)["hark_answer_tokens_total"])
	}
	if err := s.stop(t); err != nil || s.bot.questions.Reserved() != 0 {
		t.Errorf("reserved is still %v, %v", s.bot.questions.Reserved(), err)
	}
}
