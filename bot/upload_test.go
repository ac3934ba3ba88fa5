package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

const pointer = "Here:\n📎 `main.go` (60 lines)\nDone."

func (s *scene) coded(stream bool) answerFunc {
	text := "Here:\n```go\n" + manyLines(60) + "```\nDone."
	return func(ctx context.Context, q answer.Question, show func(string)) (answer.Answer, error) {
		if stream {
			show(text)
			s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
				return strings.HasSuffix(m.Content, "…\n```\nDone.")
			})
		}
		return answer.Answer{Text: text}, nil
	}
}

// isMain reports whether the code is a message's only file.
func (s *scene) isMain(m discordtest.Sent) bool {
	if len(m.Attachments) != 1 || m.Attachments[0].Filename != "main.go" ||
		m.Attachments[0].Description != "60 lines of code" {
		return false
	}
	data, there := s.discord.File(m.Attachments[0])
	return there && string(data) == manyLines(60)
}

// Retries after false failures don't send it twice.
func TestLongCodeIsSentAsAFile(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{true, false} {
		s := set(t).run(t).ready(t)
		trouble := s.discord.Inject("POST /channels/*/messages", 2, discordtest.DoneButBadGateway())
		s.oracle.answer = s.coded(streamed)
		s.ask("how?")
		m := s.answered(t, s.channel, pointer)
		trouble.WaitHits(2)
		if !s.isMain(m) || m.Flags&discord.SuppressEmbeds == 0 || len(m.Pinged) > 0 {
			t.Errorf("sent %+v", m)
		}
		e, _ := find(s.log, func(e memory.Posted) bool { return e.Message.Kind == memory.FromHark })
		if diff := cmp.Diff([]memory.File{{Name: "main.go", Description: "60 lines of code"}},
			e.Message.Files); diff != "" {
			t.Error(diff)
		}
		if all := s.discord.Sent(s.channel); len(all) != 1 {
			t.Errorf("%d messages", len(all))
		}
	}
}

func TestCodeIsShownWhereNoFilesMayBeSent(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{true, false} {
		s := set(t).run(t).ready(t)
		s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.AttachFiles))
		s.oracle.answer = s.coded(streamed)
		code := "Here:\n```go\n" + manyLines(60) + "```\nDone."
		m := s.reply(t, s.ask("how?"))
		if len(m.Attachments) > 0 || !strings.HasPrefix(m.Content, code) {
			t.Errorf("sent %+v", m)
		}
		m.Content = strings.TrimPrefix(m.Content, code)
		s.says(t, m)
		s.over(t, 1)
		s.ask("how, once more?") // the link is told once an hour
		s.answered(t, s.channel, code)
	}
}

// A failure is told once, though the answer is laid out twice.
func TestAFailureIsToldOnceWhereNoFilesMayBeSent(t *testing.T) {
	t.Parallel()
	s := limitedTo(t, reply.Limits{Member: memory.Limit{Tokens: 10}}).run(t).ready(t)
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.AttachFiles))
	code := "Here:\n```go\n" + manyLines(60) + "```\nDone."
	s.oracle.answer = gives(answer.Answer{Text: code, Model: "m",
		Usage: answer.Usage{Calls: 1, Prompt: 10}}, errors.New("broke"))
	m := s.reply(t, s.ask("how?"))
	m.Content = strings.TrimPrefix(m.Content, code)
	s.says(t, m)
	if n := s.counted(t)["hark_questions_total failed"]; n != 1 {
		t.Errorf("failed %d times", n)
	}
	// That tokens are used up is said once a day.
	s.oracle.answer = gives(answer.Answer{Text: code}, nil)
	s.idle(t)
	m = s.reply(t, s.ask("and how?"))
	m.Content = strings.TrimPrefix(m.Content, code)
	s.says(t, m)
}

func TestFilesGoWithTheAnswerThatIsTakenBack(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.oracle.answer = s.coded(false)
	s.ask("how?")
	m := s.answered(t, s.channel, pointer)
	if !s.isMain(m) {
		t.Fatalf("sent %+v", m)
	}
	s.withdraw(t, s.ana)
	s.marked(t, m.Message)
	after := s.discord.Sent(s.channel)[0]
	if _, there := s.discord.File(m.Attachments[0]); there || after.Content != withdrawnText ||
		len(after.Attachments) > 0 {
		t.Errorf("there is still %+v", after)
	}
}

// TestHostileAnswer has the model try what members could talk it into.
func TestHostileAnswer(t *testing.T) {
	t.Parallel()
	s := set(t).run(t).ready(t)
	role := s.discord.AddRole(s.guild.ID, "staff", 0)
	s.discord.UpdateRole(s.guild.ID, role.ID, func(r *discordtest.Role) { r.Mentionable = true })
	s.discord.UpdateRole(s.guild.ID, s.guild.BotRole.ID, func(r *discordtest.Role) {
		r.Permissions |= discordtest.MentionEveryone
	})
	text := fmt.Sprintf("<@%d> look: @everyone @here <@&%d> <@%d> <@&%d> discord.gg/abc [go.dev](https://evil.org)",
		s.ana.ID, role.ID, s.bo.ID, s.guild.ID)
	want := fmt.Sprintf("<@%d> look: @everyone @here <@&%d> <@%d> <@&%d> <https://discord.gg/abc> go.dev (<https://evil.org>)",
		s.ana.ID, role.ID, s.bo.ID, s.guild.ID)
	s.oracle.answer = func(_ context.Context, _ answer.Question, stream func(string)) (answer.Answer, error) {
		stream(text)
		s.discord.WaitFor("the beginning", func() bool { return len(s.discord.Sent(s.channel)) == 1 })
		return answer.Answer{Text: text + " Bye."}, nil
	}
	q := s.ask("when?")
	m := s.answered(t, s.channel, want+" Bye.")
	if !slices.Equal(m.Pinged, []discordtest.ID{s.ana.ID}) || m.Flags&discord.SuppressEmbeds == 0 {
		t.Errorf("pinged %d, flags %b", m.Pinged, m.Flags)
	}
	for _, body := range m.Bodies {
		golden.Seen(t, strings.NewReplacer(reply.Short36(int64(s.ana.ID)), "ANA", reply.Short36(int64(q.ID)),
			"QUESTION").Replace(s.reads(string(body))))
	}
	if len(m.Bodies) != 2 {
		t.Errorf("%d requests", len(m.Bodies))
	}
	s.oracle.answer = says("@everyone <@" + s.bo.ID.String() + ">")
	s.ask("and this?")
	if m := s.answered(t, s.channel, "@everyone <@"+s.bo.ID.String()+">"); len(m.Pinged) > 0 ||
		!strings.Contains(string(m.Bodies[0]), `"users":[],"roles":[],"replied_user":false}`) {
		t.Errorf("pinged %d by %s", m.Pinged, m.Bodies)
	}
}

func manyLines(n int) string { return strings.Repeat("value := 1\n", n) }
