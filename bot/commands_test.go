package bot

import (
	"context"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
	"hark/search"
)

func TestContextCommand(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the *deadline* is Friday")
	s.oracle.recall = func(_ context.Context, q answer.Question) (answer.Recalled, error) {
		return answer.Recalled{Result: search.Result{Hits: []search.Hit{{
			Message: memory.Message{ID: memory.MessageID(said.ID), Guild: q.Guild, Channel: q.Channel, Author: memory.UserID(s.bo.ID),
				Content: "the *deadline* is Friday"},
			Relevance: 0.87, Why: []search.Reason{{Kind: "words", Detail: "deadline"}, {Kind: "around"}},
		}}}}, nil
	}
	s.waitRegistered()
	i := s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when is the deadline?"})
	if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
		t.Errorf("answered with %+v", r)
	}
	if m := s.turns(t, i); m.Flags&discordtest.Ephemeral == 0 {
		t.Error("everybody sees it")
	}
	q := s.oracle.questions()[0]
	if !q.OnlyAsker || q.Asker != memory.UserID(s.ana.ID) || q.Channel != memory.ChannelID(s.channel) || q.Guild != memory.GuildID(s.guild.ID) || q.ID != 0 || q.Roles == nil {
		t.Errorf("asked %+v", q)
	}
}

// waitRegistered waits until Discord knows the command.
func (s *scene) waitRegistered() {
	s.discord.WaitFor("the command", func() bool { return len(s.discord.Commands(0)) > 0 })
}

func TestContextCommandIsAcknowledgedWhateverTheLogDoes(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, sentenceError{}
	}
	s.waitRegistered()
	release := s.log.hold()
	s.discord.Say(s.channel, s.bo.ID, "waits")
	i := s.discord.Slash(s.channel, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"})
	i.Wait()
	if n := len(s.oracle.questions()); n != 0 {
		t.Errorf("%d questions asked before the asker's roles are logged", n)
	}
	release()
	if m := i.WaitMessage(); m.Content != (sentenceError{}).Sentence() {
		t.Errorf("got %q", m.Content)
	}
}

func TestContextCommandSurvivesAPanic(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) { panic("at the disco") }
	s.waitRegistered()
	dm := s.discord.DM(s.ana.ID, "hello")
	i := s.discord.Slash(dm.ChannelID, s.ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"})
	s.turns(t, i)
}

func TestRegistrationWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	s.waitRegistered()
	if err := s.stop(t); err != nil {
		t.Fatal(err)
	}
	written := func() (n int) {
		for _, r := range s.discord.Requests() {
			if strings.Contains(r.Path, "/commands") && r.Method != "GET" {
				n++
			}
		}
		return n
	}
	read := func() (n int) {
		for _, r := range s.discord.Requests() {
			if strings.HasSuffix(r.Path, "/commands") && !strings.Contains(r.Path, "/guilds/") && r.Method == "GET" && r.Status == 200 {
				n++
			}
		}
		return n
	}
	if written() != 1 {
		t.Errorf("%d writes at first", written())
	}
	s.ended = make(chan error, 1)
	s.with(t, Config{Token: s.discord.Token}).run(t)
	s.discord.WaitFor("the second look", func() bool { return read() == 2 })
	s.ready(t)
	s.ask("when?")
	s.answered(t, s.channel, "Friday")
	if written() != 1 {
		t.Errorf("%d writes after a restart", written())
	}
}
