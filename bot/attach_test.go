package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
)

// loads has the oracle load a question's files, and returns what it got.
func (s *scene) loads(most int) func() []string {
	got := make(chan []string, 1)
	s.oracle.answer = func(ctx context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
		var all []string
		for _, f := range q.Files {
			data, err := f.Load(ctx, most)
			if err != nil {
				data = []byte(err.Error())
			}
			own := "own"
			if f.Message != q.ID {
				own = fmt.Sprint("of ", f.Message == q.ReplyTo)
			}
			all = append(all, fmt.Sprintf("%s (%s, %s, %d, %s): %s", f.Name, f.Description, f.Type, f.Size, own, data))
		}
		got <- all
		return answer.Answer{Text: "Seen"}, nil
	}
	return func() []string { return <-got }
}

func TestFilesOfAQuestionAreFetched(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	loaded := s.loads(10)
	first := s.discord.Say(s.channel, s.bo.ID, "look", discordtest.WithData("plan.txt", "", "text/plain",
		[]byte("dig")))
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what is it?", discordtest.QuietReplyTo(first.ID),
		discordtest.WithData("cat.png", "my cat", "image/png", []byte("meow")), discordtest.WithFile("gone.png", ""),
		discordtest.WithData("large.txt", "", "text/plain", []byte("eleven signs"[:11])))
	want := []string{"cat.png (my cat, image/png, 4, own): meow", "gone.png (, , 1000, own): " +
		answer.ErrFileGone.Error(),
		"large.txt (, text/plain, 11, own): " +
			answer.ErrFileTooLarge.Error(), "plan.txt (, text/plain, 3, of true): dig"}
	if got := loaded(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	s.answered(t, s.channel, "Seen")
	logged := fmt.Sprintf("%+v", s.log.eventsNow())
	for _, secret := range []string{"cdn.discordapp.com", "meow"} {
		if strings.Contains(logged, secret) || strings.Contains(s.out.String(), secret) {
			t.Errorf("%q is kept", secret)
		}
	}
}

func TestFilesOfAQuestionThatIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	first := s.discord.Say(s.channel, s.bo.ID, "look", discordtest.WithData("plan.txt", "", "text/plain",
		[]byte("dig")))
	cat := discordtest.WithData("cat.png", "my cat", "image/png", []byte("meow"))
	const seen = "cat.png (my cat, image/png, 4, own): meow"
	for i, test := range []struct {
		question string
		options  []discordtest.MessageOption
		want     []string
	}{
		{" what is it?", []discordtest.MessageOption{cat}, []string{seen}},
		{"", []discordtest.MessageOption{cat}, []string{seen}},
		{" why?", []discordtest.MessageOption{cat, discordtest.QuietReplyTo(first.ID)},
			[]string{seen, "plan.txt (, text/plain, 3, of true): dig"}},
		{" and?", []discordtest.MessageOption{discordtest.QuietReplyTo(first.ID)},
			[]string{"plan.txt (, text/plain, 3, of true): dig"}},
	} {
		loaded := s.loads(10)
		s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+test.question, test.options...)
		once := loaded()
		s.over(t, 2*i+1)
		sent := s.discord.Sent(s.channel)
		s.press(sent[len(sent)-1].Message, s.ana, reply.ButtonAgain).Wait()
		s.over(t, 2*i+2)
		if again := loaded(); !slices.Equal(once, test.want) || !slices.Equal(again, test.want) {
			t.Errorf("%q: asked with %q, and then with %q", test.question, once, again)
		}
	}
}

func TestFilesOfAQuestionThatIsAskedAgainInTrouble(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what is it?",
		discordtest.WithData("cat.png", "", "image/png", []byte("meow")))
	m := s.answered(t, s.channel, "Friday")
	s.over(t, 1)
	for _, test := range []struct {
		hits    int
		trouble discordtest.Fault
	}{{discord.Attempts, discordtest.ServerError()}, {1, discordtest.Gone()}} {
		s.discord.Inject("GET /channels/*/messages/*", test.hits, test.trouble)
		s.hears(t, s.press(m.Message, s.ana, reply.ButtonAgain))
	}
	// It is asked without its files.
	s.discord.Inject("GET /channels/*/messages/*", 1, discordtest.Forbidden())
	s.oracle.answer = says("Saturday")
	s.press(m.Message, s.ana, reply.ButtonAgain).Wait()
	s.shows(m.Message, "Saturday")
	if asked := s.oracle.questions(); len(asked) != 2 || len(asked[1].Files) != 0 || asked[1].Text != "what is it?" {
		t.Errorf("asked %+v", asked)
	}
}
