package bot

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/bot/locale"
	"hark/builder"
	"hark/internal/answer"
	"hark/internal/discordtest"
	counting "hark/internal/tokens"
	"hark/memory"
)

// moderated is a choosing scene whose guild lets a role use /hark, which may manage nothing; its bo has it.
func moderated(t *testing.T) (s *scene, role discordtest.Role) {
	t.Helper()
	s = choosing(t)
	role = s.discord.AddRole(s.guild.ID, "moderators", 0)
	s.discord.SetCommandPermission(s.guild.ID, role.ID, "hark", true)
	s.discord.UpdateMember(s.guild.ID, s.bo.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, role.ID) })
	return s, role
}

// adminCommands are all that those who manage a server use to look after Hark, with options by which nothing
// is changed.
var adminCommands = map[string][]discordtest.Opt{
	"hark status": nil, "hark settings": nil, "hark set": {opt("setting", "mode")}, "hark pause": nil,
	"hark context": {opt("question", "when?")}, "hark limits": nil, "hark audience": nil, "hark memory": nil,
}

func TestCommandsAreForWhomTheServerGivesThem(t *testing.T) {
	t.Parallel()
	s, role := moderated(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	s.hides(t, s.bo, "model") // which the role wasn't given
	for name, options := range adminCommands {
		if m := s.use(t, s.bo, name, options...); strings.Contains(m.Content, notAllowed) ||
			strings.Contains(m.Content, useAgain) || m.Content == "" {
			t.Errorf("/%s tells a moderator %q", name, m.Content)
		}
	}
	s.discord.SetCommandPermission(s.guild.ID, role.ID, "hark", false)
	s.hides(t, s.bo, "hark")
	s.discord.SetCommandPermission(s.guild.ID, s.guild.ID, "hark", true)
	s.hides(t, s.bo, "hark") // what is decided of a role comes first
	s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "hark", true)
	s.use(t, s.bo, "hark status")
}

// What everybody sees is for those who manage the server, whoever uses commands.
func TestNoticesAreForThoseWhoManageTheServer(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	notice := s.notice(t, s.channel)
	s.waitRegistered()
	s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "hark", true)
	s.use(t, s.bo, "hark pause")
	for _, id := range []string{choosePublic, chooseNothing, chooseChannels} {
		if m := s.discord.Click(notice.Message, s.bo.ID, id).WaitMessage(); m.Content != notAllowed ||
			len(s.chosen()) > 0 {
			t.Errorf("%s: %q, chosen %q", id, m.Content, s.chosen())
		}
	}
	shown := s.use(t, s.bo, "hark memory")
	s.turns(t, s.discord.Click(shown.Message, s.bo.ID, chooseNothing))
}

// restartWith stops the bot and runs one of a configuration over the same log.
func (s *scene) restartWith(t *testing.T, cfg Config) {
	t.Helper()
	s.stops(t)
	cfg.Token = s.discord.Token
	s.with(t, cfg).begins(t)
}

// promptOf is what was recalled for a question, with a prompt that holds a message.
func promptOf(t *testing.T, said string) answer.Recalled {
	t.Helper()
	b, err := builder.New(builder.Options{}, counting.New())
	if err != nil {
		t.Fatal(err)
	}
	in := builder.Input{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Query: builder.Turn{Speaker: "Ana", Content: "when?"},
		History: []builder.Item{{Relevance: 0.9,
			Lines: []builder.Line{{Message: 1, Author: 7, Content: said,
				Time: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)}}}}}
	return answer.Recalled{Prompt: b.Build(in), Mode: answer.Mode{Is: builder.ModeSearch}}
}

// tokensOf matches how many tokens of how many there are: the builder's words decide.
var tokensOf = regexp.MustCompile(`\d+( of [\d,]+)? tokens`)

func TestContextIsShownAsAFile(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	var r answer.Recalled
	s.oracle.recall = func(_ context.Context, q answer.Question) (answer.Recalled, error) { return r, nil }
	r = promptOf(t, "the tulips are planted")
	for range 3 {
		s.discord.Say(s.channel, s.bo.ID, "hello")
	}
	m := s.use(t, s.ana, "hark context", opt("question", "when?"))
	for _, n := range []string{(locale.Locale{}).Number(r.Prompt.Report.Tokens),
		(locale.Locale{}).Number(r.Prompt.Report.MaxTokens)} {
		if !strings.Contains(m.Content, n) {
			t.Errorf("%s tokens aren't told of: %q", n, m.Content)
		}
	}
	plain := m
	plain.Content = tokensOf.ReplaceAllString(m.Content, "N tokens")
	s.says(t, plain)
	if len(m.Attachments) != 1 || m.Attachments[0].Filename != promptFile {
		t.Fatalf("attached %+v", m.Attachments)
	}
	if data, there := s.discord.File(m.Attachments[0]); !there || string(data) != r.Prompt.String()+"\n" ||
		!strings.Contains(string(data), "the tulips are planted") {
		t.Errorf("the file is %q", data)
	}
	q := s.oracle.questions()[0]
	if !q.OnlyAsker || q.Operator || q.Everywhere || q.Asker != memory.UserID(s.ana.ID) || q.Roles == nil ||
		q.ID != 0 || q.Session != nil {
		t.Errorf("asked %+v", q)
	}
	if _, kept := find(s.log, func(memory.Answered) bool { return true }); kept {
		t.Error("a trace was kept")
	}
	r.Result.TextOnly = true
	plain = s.use(t, s.ana, "hark context", opt("question", "when?"))
	plain.Content = tokensOf.ReplaceAllString(plain.Content, "N tokens")
	s.says(t, plain)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return answer.Recalled{}, errDown
	}
	s.says(t, s.use(t, s.ana, "hark context", opt("question", "when?")))
}

// Where nothing is logged the prompt has the session, as far as whoever asks could read it.
func TestContextHasTheSessionWhereNothingIsLogged(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Choice: memory.Ignore})
	said := s.discord.Say(s.channel, s.bo.ID, "unlogged words")
	s.use(t, s.ana, "hark context", opt("question", "when?"))
	q := s.oracle.questions()[0]
	if len(q.Session) != 1 || q.Session[0].Content != "unlogged words" {
		t.Errorf("the session is %+v", q.Session)
	}
	g, err := s.log.Guild(t.Context(), memory.GuildID(s.guild.ID))
	if err != nil {
		t.Fatal(err)
	}
	if since := q.Attended(g, memory.ChannelID(s.channel)); since > memory.MessageID(said.ID) {
		t.Errorf("it may be used since %d, and began with %d", since, said.ID)
	}
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.ana.ID, discordtest.ViewChannel, 0))
	s.use(t, s.ana, "hark context", opt("question", "when?"))
	if since := q.Attended(g, memory.ChannelID(s.channel)); since <= memory.MessageID(said.ID) {
		t.Errorf("it may be used since %d, and was opened after %d", since, said.ID)
	}
}

func TestFilesThatDiscordRefuses(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.discord.Bot.ID, 0, discordtest.AttachFiles))
	i := s.discord.Slash(s.channel, s.ana.ID, "hark context", opt("question", "when?"))
	s.discord.WaitFor("a follow-up", func() bool { return len(i.FollowUps()) == 1 })
	s.says(t, i.FollowUps()[0])
}
