package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/bot/command"
	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// buttonsOf are the ids of a message's buttons now, by what they do.
func (s *scene) buttonsOf(m discordtest.Message) map[string]string {
	ids := map[string]string{}
	for _, now := range s.discord.Messages(m.ChannelID) {
		for _, b := range partsOf(now) {
			if does, _, _ := strings.Cut(b.CustomID, ":"); now.ID == m.ID {
				ids[does] = b.CustomID
			}
		}
	}
	return ids
}

// buttonsBelow is what a message's buttons do, sorted.
func (s *scene) buttonsBelow(m discordtest.Message) string {
	return strings.Join(slices.Sorted(maps.Keys(s.buttonsOf(m))), ", ")
}

// press waits for a button and uses it.
func (s *scene) press(m discordtest.Message, who discordtest.User, does string) *discordtest.Interaction {
	s.discord.WaitFor("the button "+does, func() bool { return s.buttonsOf(m)[does] != "" })
	return s.discord.Click(m, who.ID, s.buttonsOf(m)[does])
}

// whispered is what only the presser is told.
func whispered(t *testing.T, s *scene, i *discordtest.Interaction) string {
	t.Helper()
	if r := i.Wait(); r.Type == discord.RespondMessage || r.Type == discord.RespondDeferred {
		if !r.Ephemeral {
			t.Error("everybody sees it")
		}
		return i.WaitMessage().Content
	}
	s.discord.WaitFor("a sentence for whoever pressed", func() bool { return len(i.FollowUps()) > 0 })
	m := i.FollowUps()[0]
	if m.Flags&discordtest.Ephemeral == 0 {
		t.Error("everybody sees it")
	}
	return m.Content
}

func (s *scene) now(m discordtest.Message) discordtest.Sent {
	for _, sent := range s.discord.Sent(m.ChannelID) {
		if sent.ID == m.ID {
			return sent
		}
	}
	return discordtest.Sent{}
}

// shows waits until a message of the bot's reads so.
func (s *scene) shows(m discordtest.Message, text string) {
	s.discord.WaitFor(fmt.Sprintf("the message %q", text), func() bool {
		return s.now(m).Content == text && !s.now(m).Deleted
	})
}

// isGone waits until messages are deleted, in Discord and from the log.
func (s *scene) isGone(t *testing.T, ms ...discordtest.Message) {
	t.Helper()
	for _, m := range ms {
		s.discord.WaitFor("the message to go", func() bool { return s.now(m).Deleted })
		waitLogged(t, s.log, "its deletion in the log", func(e memory.Deleted) bool {
			return slices.Contains(e.IDs, memory.MessageID(m.ID))
		})
	}
}

// slowly streams first at once, and the rest once goOn is called.
func (s *scene) slowly(first, rest string) (goOn func()) {
	on := make(chan struct{})
	s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		stream(first)
		select {
		case <-on:
			stream(first + rest)
			return answer.Answer{Text: first + rest}, nil
		case <-ctx.Done():
			return answer.Answer{Text: first, Trace: traceOf(q)}, ctx.Err()
		}
	}
	return func() { close(on) }
}

func TestSourcesHaveAButtonWhereTheAnswerIsLogged(t *testing.T) {
	t.Parallel()
	for logged, s := range map[bool]*scene{true: remembering(t), false: asking(t).run(t).ready(t)} {
		s.oracle.answer = func(_ context.Context, q answer.Question, _ func(string)) (answer.Answer, error) {
			return answer.Answer{Text: "Friday [1]",
				Sources: []answer.Source{{Number: 1, Guild: q.Guild, Channel: q.Channel, Message: q.ID}},
				Trace:   traceOf(q)}, nil
		}
		s.ask("when?")
		m := s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
			return strings.HasPrefix(m.Content, "Friday")
		})
		want := map[bool]string{true: "again, delete, sources", false: "again, delete"}[logged]
		if got := s.buttonsBelow(m.Message); got != want || len(m.Bodies) != 1 {
			t.Errorf("logged %t: %q, after %d requests", logged, got, len(m.Bodies))
		}
	}
}

func TestButtonsAreOnTheLastMessage(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	paragraph := strings.Repeat("a", 1500)
	goOn := s.slowly(paragraph, "\n\n"+paragraph)
	s.ask("tell me all")
	first := s.discord.WaitSent(s.channel, func(discordtest.Sent) bool { return true })
	s.discord.WaitFor("Stop", func() bool { return s.buttonsBelow(first.Message) == "stop" })
	s.oracle.traceless = true
	goOn()
	s.idle(t)
	sent := s.discord.Sent(s.channel)
	if len(sent) != 2 || s.buttonsBelow(sent[0].Message) != "" || s.buttonsBelow(sent[1].Message) != "again, delete" {
		t.Fatalf("%d messages, with %q and %q", len(sent), s.buttonsBelow(sent[0].Message),
			s.buttonsBelow(sent[len(sent)-1].Message))
	}
	// After a restart, without a trace, only the button knows the first message.
	s.again(t)
	s.press(sent[1].Message, s.ana, reply.ButtonDelete).Wait()
	s.isGone(t, sent[0].Message, sent[1].Message)
}

func TestStoppedAnswersStay(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.slowly("It is", " Friday")
	slow, pressed := s.oracle.answer, make(chan struct{})
	s.oracle.answer = func(ctx context.Context, q answer.Question, stream func(string)) (answer.Answer, error) {
		a, err := slow(ctx, q, stream)
		<-pressed // twice, while it is being written
		return a, err
	}
	s.ask("when?")
	m := s.waitText("It is")
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonStop))
	first, second := s.press(m.Message, s.ana, reply.ButtonStop), s.press(m.Message, s.ana, reply.ButtonStop)
	first.Wait()
	second.Wait()
	close(pressed)
	s.answered(t, s.channel, "It is\n"+stoppedLine)
	if trace := s.traces(t, 1)[0]; trace.Answer != memory.MessageID(m.ID) {
		t.Errorf("kept %+v", trace)
	}
	if got := s.buttonsBelow(m.Message); got != "again, delete" {
		t.Errorf("there are %q", got)
	}
	if len(first.FollowUps())+len(second.FollowUps()) > 0 {
		t.Error("more was said")
	}
}

func TestModeratorsStopAnswers(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.slowly("It is", " Friday")
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.bo.ID, discordtest.ManageMessages, 0))
	s.ask("when?")
	m := s.waitText("It is")
	s.press(m.Message, s.bo, reply.ButtonStop).Wait()
	s.answered(t, s.channel, "It is\n"+stoppedLine)
	s.hears(t, s.press(m.Message, s.bo, reply.ButtonAgain))
	s.press(m.Message, s.bo, reply.ButtonDelete).Wait()
	s.isGone(t, m.Message)
}

// A process that dies in mid-answer leaves the button behind.
func TestStopAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	goOn := s.slowly("It is", " Friday")
	s.ask("when?")
	m := s.waitText("It is")
	s.commitNothing(t)
	own, other := s.bot.commands, s.bot.commandOptions()
	other.Replies = reply.New(reply.Options{Options: s.bot.ingest}) // as another process has them
	s.bot.commands = command.New(other, s.bot.notices)
	s.bot.commands.Begin = own.Begin
	if got := whispered(t, s, s.press(m.Message, s.ana, reply.ButtonStop)); got != string(reply.NotWriting) {
		t.Errorf("told %q", got)
	}
	s.discord.WaitFor("other buttons", func() bool { return s.buttonsBelow(m.Message) == "again, delete" })
	if got := s.now(m.Message).Content; got != "It is" {
		t.Errorf("it reads %q", got)
	}
	s.bot.commands = own
	goOn()
}
