package bot

import (
	"context"
	"fmt"
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

// Whoever the server gives /hark to may use all of it.
func TestCommandsAreForWhomTheServerGivesThem(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "hark", true)
	if s.discord.CanUseCommand(s.channel, s.bo.ID, "model") {
		t.Error("bo may use /model")
	}
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	for name, options := range map[string][]discordtest.Opt{
		"status": nil, "settings": nil, "set": {opt("setting", "mode")}, "pause": nil,
		"context": {opt("question", "when?")}, "limits": nil, "audience": nil, "memory": nil,
	} {
		if m := s.use(t, s.bo, "hark "+name, options...); strings.Contains(m.Content, notAllowed) ||
			strings.Contains(m.Content, useAgain) || m.Content == "" {
			t.Errorf("/hark %s tells a moderator %q", name, m.Content)
		}
	}
}

// restartWith runs a bot of another configuration over the same log.
func (s *scene) restartWith(t *testing.T, cfg Config) {
	t.Helper()
	s.stops(t)
	cfg.Token = s.discord.Token
	s.with(t, cfg).begins(t)
}

// promptOf is a recall whose prompt holds a message.
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

// tokensOf matches counts of tokens, which change with the builder's words.
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
	if !q.OnlyAsker || q.Operator || q.Everywhere || q.Asker != s.anaID || q.Roles == nil ||
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

// Where nothing is logged the prompt has the session, as far as the asker could read it.
func TestContextHasTheSessionWhereNothingIsLogged(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.oracle.recall = func(context.Context, answer.Question) (answer.Recalled, error) {
		return promptOf(t, "hello"), nil
	}
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.Ignore})
	said := s.discord.Say(s.channel, s.bo.ID, "unlogged words")
	s.use(t, s.ana, "hark context", opt("question", "when?"))
	q := s.oracle.questions()[0]
	if len(q.Session) != 1 || q.Session[0].Content != "unlogged words" {
		t.Errorf("the session is %+v", q.Session)
	}
	g, err := s.log.Guild(t.Context(), s.guildID)
	if err != nil {
		t.Fatal(err)
	}
	if since := q.Attended(g, s.channelID); since > memory.MessageID(said.ID) {
		t.Errorf("it may be used since %d, and began with %d", since, said.ID)
	}
	s.discord.SetOverwrite(s.channel, discordtest.ForMember(s.ana.ID, discordtest.ViewChannel, 0))
	s.use(t, s.ana, "hark context", opt("question", "when?"))
	if since := q.Attended(g, s.channelID); since <= memory.MessageID(said.ID) {
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

// Managers of a server who may not read a channel are told neither its name nor a number that depends on it.
func TestWhatAdminsMayNotReadMakesNoDifference(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	guild := s.guildID
	staff := s.discord.AddRole(s.guild.ID, "staff", 0)
	hidden := s.secret("hidden", discordtest.ForRole(staff.ID, discordtest.ViewChannel, 0))
	open := s.addChannel("open")
	cleo := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cleo"}, staff.ID)
	set := func(channel discordtest.ID, key memory.Setting, value string) memory.Event {
		return memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(channel), Key: key, Value: value,
			At: s.discord.Now()}
	}
	s.apply(t, memory.Chose{Guild: guild, Channel: memory.ChannelID(open.ID), Choice: memory.Remember},
		memory.Chose{Guild: guild, Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember},
		set(open.ID, memory.SettingRetention, "40d"), set(open.ID, memory.SettingModel, "x"), set(open.ID,
			memory.SettingAnswers, "off"))
	s.posts(t, s.channel, s.bo.ID, "one")
	s.discord.Advance(10 * 24 * time.Hour)
	server, before := opt("server", true), opt("before", "5d")
	screens := func(who discordtest.User) string {
		var all []string
		for _, use := range []struct {
			name    string
			options []discordtest.Opt
		}{
			{"hark status", nil}, {"hark memory", nil}, {"hark purge member",
				[]discordtest.Opt{opt("member", s.bo.ID)}}, {"hark purge before", []discordtest.Opt{before}},
			{"hark purge before", []discordtest.Opt{opt("before", "2d"),
				opt("channel", open.ID)}}, {"hark retention", []discordtest.Opt{opt("keep", "1d"), server}},
			{"hark retention", []discordtest.Opt{server}}, {"hark channel answer",
				[]discordtest.Opt{server}}, {"model", nil},
		} {
			m := s.use(t, who, use.name, use.options...)
			all = append(all, m.Content, fmt.Sprintf("%s", m.Components))
		}
		return strings.ReplaceAll(strings.Join(all, "\n"), "events wait", "event waits")
	}
	s.toEmbed(guild, 0)
	was, all := screens(s.ana), screens(s.guild.Owner)

	thread := s.addThread("more", hidden.ID)
	s.discord.Say(hidden.ID, s.bo.ID, "two")
	s.posts(t, thread.ID, cleo.ID, "three")
	s.apply(t, set(hidden.ID, memory.SettingRetention, "30d"), set(hidden.ID, memory.SettingModel, "x"),
		set(hidden.ID, memory.SettingAnswers, "off"),
		memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: memory.ChannelID(hidden.ID), After: 1, Until: 2}},
		memory.Forgetting{Guild: guild, Channel: memory.ChannelID(hidden.ID),
			Before: s.discord.Now().AddDate(-1, 0, 0), Why: memory.WhyPurge, At: s.discord.Now()})
	s.toEmbed(guild, 5)
	s.commitNothing(t)
	if now := screens(s.ana); now != was || strings.Contains(now, hidden.ID.String()) {
		t.Errorf("told\n%s\nwhere it was\n%s", now, was)
	}
	if now := screens(s.guild.Owner); now == all || !strings.Contains(now, hidden.ID.String()) {
		t.Errorf("the owner isn't told of it:\n%s", now)
	}
	// They get no numbers of what expires, or of what a purge took.
	s.apply(t, memory.SettingChosen{Guild: guild, Key: memory.SettingExpiring,
		Value: fmt.Sprintf("%d 20000 21000", s.discord.Now().UnixMilli()), At: s.discord.Now()})
	s.says(t, s.use(t, s.ana, "hark status"))
	m := s.use(t, s.ana, "hark purge member", opt("member", s.bo.ID))
	s.turns(t, s.discord.Click(m.Message, s.ana.ID, fmt.Sprintf("%s:%d:0:0", purges, s.bo.ID)))
	// Their choice leaves alone what they can't see.
	m = s.use(t, s.ana, "hark memory")
	s.discord.Click(m.Message, s.ana.ID, chosenChannels, s.channel.String()).Wait()
	s.idle(t)
	if g, err := s.log.Guild(t.Context(), guild); err != nil ||
		g.Channel(memory.ChannelID(hidden.ID)).Choice != memory.Remember ||
		g.Channel(memory.ChannelID(open.ID)).Choice != memory.Undecided {
		t.Errorf("after another choice: %+v, %v", g, err)
	}
}

// Should Discord pass on a use that it should have refused, Hark refuses it, unless the server gave the command to
// whoever uses it. Nothing of it counts for buttons and forms either.
func TestCommandsLookAgain(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	s.discord.LetAllUseCommands()
	s.says(t, s.use(t, s.bo, "hark settings"))
	for _, name := range []string{"hark memory", "hark status", "model", "hark limits"} {
		if m := s.use(t, s.bo, name); !strings.Contains(m.Content, notGiven) || len(m.Components) > 0 {
			t.Errorf("/%s tells %q with %s", name, m.Content, m.Components)
		}
	}
	said := s.discord.Say(s.channel, s.ana.ID, "the tulips are planted")
	if m := s.discord.MessageAction(said, s.bo.ID, starCommand).WaitMessage(); !strings.Contains(m.Content, notGiven) {
		t.Errorf("a star: %q", m.Content)
	}
	offered := func() int {
		return len(s.discord.Complete(s.channel, s.bo.ID, "model", opt("model", "")).Wait().Choices())
	}
	if n := offered(); n != 0 {
		t.Errorf("%d models are offered", n)
	}
	role := s.discord.AddRole(s.guild.ID, "moderators", 0)
	s.discord.UpdateMember(s.guild.ID, s.bo.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, role.ID) })
	s.discord.SetCommandPermission(s.guild.ID, role.ID, "model", true)
	if n := offered(); n == 0 {
		t.Error("the server gave it to the role, and no model is offered")
	}
	if m := s.use(t, s.bo, "model"); strings.Contains(m.Content, notGiven) {
		t.Errorf("the server gave it to the role: %q", m.Content)
	}
	if m := s.use(t, s.bo, "hark memory"); !strings.Contains(m.Content, notGiven) {
		t.Errorf("the server gave them another: %q", m.Content)
	}
	s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "model", false)
	s.discord.Advance(2 * time.Minute)
	if m := s.use(t, s.bo, "model"); !strings.Contains(m.Content, notGiven) {
		t.Errorf("the server took it from them: %q", m.Content)
	}
	s.discord.SetCommandPermission(s.guild.ID, s.guild.ID, "hark", true)
	if m := s.use(t, s.bo, "hark memory"); strings.Contains(m.Content, notGiven) {
		t.Errorf("the server gave it to everybody: %q", m.Content)
	}
	s.discord.Advance(2 * time.Minute)
	failing := s.discord.Inject("GET /applications/*/guilds/*/commands/permissions", 1000, discordtest.Forbidden())
	if m := s.use(t, s.bo, "hark memory"); !strings.Contains(m.Content, useAgain) {
		t.Errorf("nobody can tell: %q", m.Content)
	}
	if m := s.use(t, s.ana, "hark memory"); strings.Contains(m.Content, useAgain) {
		t.Errorf("who manages the server is refused: %q", m.Content)
	}
	failing.Release()
}
