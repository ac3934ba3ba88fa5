package bot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hark/bot/command"
	"hark/bot/discord"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/llmtest"
	counting "hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/search"
)

const screensHead = `# What members see

Drawn by a test from what Hark really sends, in a server made up for it. What only one person sees is marked so. Times are as Discord shows
them; links are underlined there and have an arrow here. The
pictures are drawn from the same messages, in colours like Discord's.

This page is made from the code: ` + "`go test ./bot -run TestScreens -update`" + ` writes it anew.
`

// TestScreens compares docs/screens.md with what people see.
func TestScreens(t *testing.T) {
	t.Parallel()
	s := newScreens(t)
	s.play()
	golden.File(t, "../docs/screens.md", s.page.String())
	t.Run("pictures", s.photograph)
}

// screens is a server and the page of what its members see.
type screens struct {
	*testing.T
	*scene
	planning discordtest.Channel
	servers  discordtest.Channel
	staff    discordtest.Channel
	jane     discordtest.User
	tom      discordtest.User
	names    map[discordtest.ID]string
	page     strings.Builder
	pictures []*picture
}

func newScreens(t *testing.T) *screens {
	t.Helper()
	d := discordtest.New(t, discordtest.WithTime(time.Date(2026, 7, 3, 9, 12, 0, 0, time.UTC)))
	s := &screens{T: t, scene: &scene{discord: d, guild: d.AddGuild("Garden"), out: &journal{}}}
	s.planning = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "planning"})
	s.servers = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "servers"})
	role := s.discord.AddRole(s.guild.ID, "staff", 0)
	s.staff = s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "staff", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel),
		discordtest.ForRole(role.ID, discordtest.ViewChannel, 0),
		discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0),
	}})
	s.ana = s.discord.AddMember(s.guild.ID, discordtest.User{Username: "ana", GlobalName: new("Ana")}, role.ID)
	s.jane = s.discord.AddMember(s.guild.ID, discordtest.User{Username: "jane", GlobalName: new("Jane")}, role.ID)
	s.tom = s.discord.AddMember(s.guild.ID, discordtest.User{Username: "tom", GlobalName: new("Tom")})
	s.discord.SetOwner(s.guild.ID, s.ana.ID)
	s.names = map[discordtest.ID]string{
		s.ana.ID: "@Ana", s.jane.ID: "@Jane", s.tom.ID: "@Tom", s.discord.Bot.ID: "@Hark",
		s.planning.ID: "#planning", s.servers.ID: "#servers", s.staff.ID: "#staff",
	}
	s.page.WriteString(screensHead)
	s.start()
	return s
}

// start runs Hark as its operator would, with a model.
func (s *screens) start() {
	store := sqlitetest.Open(s.T, sqlite.Options{Space: embed.Builtin{}.Space(), Tokens: counting.New().Count})
	s.Cleanup(func() { store.Close() })
	s.log = &notebook{Store: store, poke: s.discord.Poke}
	model := llmtest.New(s.T)
	model.Answer(func(r llmtest.Request) llmtest.Reply {
		return llmtest.Say(s.tell(r))
	})
	policy := memory.Policy{Ask: true}
	s.engine = answering(s.T, s.log, search.New(s.log, s.log, embed.Builtin{}), modelAt(model.URL()), policy)
	s.with(s.T, Config{
		Token: s.discord.Token, Policy: policy, EditAnswers: true,
		Choices: answer.Choices{Models: []string{"test-model"},
			Default: answer.Settings{Model: "test-model", Tools: true, Language: "en"}},
		Limits: reply.Limits{Member: memory.Limit{Messages: 10, Tokens: 100_000}},
		Privacy: command.Privacy{Operator: "Ann, ann@example.org", Models: []string{"llm.example"},
			Prompts: 7 * 24 * time.Hour, Records: 90 * 24 * time.Hour},
		Version: "1.0.0",
	})
	s.run(s.T).ready(s.T)
}

func (s *screens) play() {
	d := s.discord
	notice := d.WaitSent(s.planning.ID, func(m discordtest.Sent) bool { return len(m.Components) > 0 })
	s.screen("Hark comes to a server",
		"It asks what it may remember, and remembers nothing before somebody who manages the server has decided.", notice.Message)
	s.picture("notice", "Hark comes to a server and asks what it may remember", "", notice.Message)
	choosing := d.Click(notice.Message, s.ana.ID, chooseChannels)
	menu := choosing.WaitMessage().Message
	d.Click(menu, s.ana.ID, buttonOf(s.T, menu, chosenChannels),
		s.planning.ID.String(), s.servers.ID.String(), s.staff.ID.String())
	d.WaitFor("the settings in place of the menu", func() bool { return choosing.WaitMessage().Content != menu.Content })
	decided := d.WaitSent(s.planning.ID, func(m discordtest.Sent) bool {
		return m.ID == notice.ID && len(m.Components) == 0
	})
	s.screen("It is decided", "Ana chose #planning, #servers and #staff. #staff isn't named where not everyone can see it.", decided.Message)

	first := d.Say(s.planning.ID, s.jane.ID, "Project X has to be done by Friday, 24 July")
	d.Advance(19*24*time.Hour + time.Hour)
	d.Say(s.servers.ID, s.tom.ID, "I have taken over the server migration from "+s.jane.Mention()+" and begin on Monday")
	d.Advance(24 * time.Hour)
	moved := d.Say(s.planning.ID, s.jane.ID, "Good news: the client moves the deadline of Project X to Friday, 31 July")
	d.Advance(time.Minute)
	between := d.Say(s.staff.ID, s.jane.ID, "Between us: if Project X is late again, we lose the client")
	s.index(4)
	d.Advance(23 * time.Hour)
	question, answered := s.ask(s.planning.ID, 1)
	s.screen("A question", "Each number is a link that jumps to the message. What was said in #staff isn't there: not everyone in #planning can read it.",
		question, answered)
	s.picture("answer", "Ana asks when a project is due, and Hark answers with links to what was said in two channels", "",
		first, moved, question, answered)
	same, there := s.ask(s.staff.ID, 2)
	s.screen("The same question in #staff", "Everyone there can read #staff, so the answer uses what was said there.", same, there)
	s.picture("staff", "The same question in a private channel: the answer uses what was said there", "", between, same, there)
	s.alone("Sources, by the button", s.ana,
		d.Click(answered, s.ana.ID, buttonOf(s.T, answered, reply.ButtonSources)))
	why := s.alone("Why did you say that?, in the menu of the answer", s.tom,
		d.MessageAction(answered, s.tom.ID, whyCommand))
	s.picture("why", "How an answer came about: what was recalled and shown to the model", "Tom "+whyCommand, why)
	s.alone("/recall", s.tom, d.Slash(s.planning.ID, s.tom.ID, "recall",
		opt("question", "deadline of Project X"), discordtest.Opt{Name: "from", Value: s.jane.ID}))
	s.alone("/catchup", s.tom, d.Slash(s.planning.ID, s.tom.ID, "catchup"))
	s.alone("/context", s.tom, d.Slash(s.planning.ID, s.tom.ID, "context",
		opt("question", "when is the deadline?")))
	s.alone("/memory add", s.jane, d.Slash(s.planning.ID, s.jane.ID, "memory add",
		opt("text", "Prefers short answers")))
	kept := s.alone("/memory show", s.jane, d.Slash(s.planning.ID, s.jane.ID, "memory show"))
	s.picture("memory", "What /memory show tells Jane: what Hark keeps about her, and how to change it",
		"Jane /memory show", kept)
	privacy := d.Slash(s.planning.ID, s.tom.ID, "privacy")
	d.WaitFor("its second page", func() bool { return len(privacy.FollowUps()) == 1 })
	s.alone("/privacy", s.tom, privacy)
	s.alone("/limits", s.tom, d.Slash(s.planning.ID, s.tom.ID, "limits"))
	s.alone("/hark status", s.ana, d.Slash(s.planning.ID, s.ana.ID, "hark status"))
	settings := s.alone("/hark settings", s.ana, d.Slash(s.planning.ID, s.ana.ID, "hark settings"))
	s.picture("settings", "The settings of a channel, with menus and buttons to change them", "Ana /hark settings", settings)
	d.SetLocale(s.tom.ID, "de")
	s.alone("/help, auf Deutsch", s.tom, d.Slash(s.planning.ID, s.tom.ID, "help", opt("command", "recall")))
	d.SetLocale(s.tom.ID, "en-US")
	s.alone("/memory forget", s.tom, d.Slash(s.planning.ID, s.tom.ID, "memory forget"))
}

// ask has Ana ask Hark in a channel. The answer is its nth.
func (s *screens) ask(channel discordtest.ID, n int) (question, answered discordtest.Message) {
	d := s.discord
	question = d.Say(channel, s.ana.ID, d.Bot.Mention()+" who has the server migration, and when is Project X due?")
	answered = d.WaitSent(channel, func(m discordtest.Sent) bool {
		return len(m.Components) > 0 && strings.Contains(string(m.Components[0]), `"`+reply.ButtonSources+":")
	}).Message
	s.traces(s.T, n)
	return question, answered
}

// tell answers as a model does: with what the prompt has, and the numbers that it gives it.
func (s *screens) tell(r llmtest.Request) string {
	var told []string
	for _, fact := range []struct{ said, means string }{
		{"I have taken over", "Tom has taken over the server migration and begins on Monday"},
		{"moves the deadline", "Project X is due on **Friday, 31 July**"},
		{"has to be done by", "Before that, it was the 24th"},
		{"Between us", "If it is late again, you lose the client"},
	} {
		if m := regexp.MustCompile(`\[(\d+)\][^\n]*` + fact.said).FindStringSubmatch(r.Prompt()); m != nil {
			told = append(told, fact.means+" ["+m[1]+"].")
		}
	}
	return strings.Join(told, " ")
}

// index waits for n logged messages and gives them vectors.
func (s *screens) index(n int) {
	s.scene.log.wait(s.T, "the messages", func() bool { return len(s.log.said()) >= n })
	indexer := memory.Indexer{Queue: s.log, Embedder: embed.Builtin{}}
	if err := indexer.Drain(s.Context(), nil); err != nil {
		s.Fatal(err)
	}
}

// screen draws public messages.
func (s *screens) screen(title, means string, messages ...discordtest.Message) {
	fmt.Fprintf(&s.page, "\n## %s\n\n", title)
	if means != "" {
		s.page.WriteString(means + "\n\n")
	}
	s.page.WriteString("```\n")
	for i, m := range messages {
		if i > 0 {
			s.page.WriteByte('\n')
		}
		s.draw(m, "")
	}
	s.page.WriteString("```\n")
}

// alone draws what one person sees.
func (s *screens) alone(title string, who discordtest.User, i *discordtest.Interaction) discordtest.Message {
	m := i.WaitMessage()
	fmt.Fprintf(&s.page, "\n## %s\n\n```\n", title)
	for _, page := range append([]discordtest.Sent{m}, i.FollowUps()...) {
		s.draw(page.Message, "only "+s.names[who.ID]+" sees this")
	}
	s.page.WriteString("```\n")
	return m.Message
}

const screenWidth = 96

func (s *screens) draw(m discordtest.Message, note string) {
	author := m.Author.Username
	if n := m.Author.GlobalName; n != nil {
		author = *n
	}
	if m.Author.ID == s.discord.Bot.ID {
		author = "Hark [APP]"
	}
	if note != "" {
		author += "  (" + note + ")"
	}
	s.page.WriteString(author + "\n")
	if m.Referenced != nil {
		s.line("  ╭─ ", s.names[m.Referenced.Author.ID]+" "+s.read(m.Referenced.Content))
	}
	for line := range strings.SplitSeq(s.read(m.Content), "\n") {
		s.line("  ", line)
	}
	for _, raw := range m.Components {
		var c discord.Component
		if err := json.Unmarshal(raw, &c); err != nil {
			s.Fatal(err)
		}
		var parts []string
		for _, of := range c.Components {
			if of.Type == discord.ComponentButton {
				parts = append(parts, "[ "+of.Label+" ]")
			} else {
				parts = append(parts, "[ "+of.Placeholder+" ▾ ]")
			}
		}
		s.line("  ", strings.Join(parts, " "))
	}
	for _, a := range m.Attachments {
		s.line("  ", "📎 "+a.Filename)
	}
}

// line writes text behind a mark, wrapped.
func (s *screens) line(mark, text string) {
	room := screenWidth - utf8.RuneCountInString(mark)
	for {
		part, rest := text, ""
		if utf8.RuneCountInString(text) > room {
			runes := []rune(text)
			at := room
			for at > 0 && runes[at] != ' ' {
				at--
			}
			if at == 0 {
				at = room
			}
			part, rest = string(runes[:at]), strings.TrimLeft(string(runes[at:]), " ")
		}
		s.page.WriteString(strings.TrimRight(mark+part, " ") + "\n")
		if rest == "" {
			return
		}
		text, mark = rest, "  "
	}
}

var (
	mentionMark = regexp.MustCompile(`<[@#][!&]?(\d+)>`)
	commandMark = regexp.MustCompile(`</([^:>]+):\d+>`)
	timeMark    = regexp.MustCompile(`<t:(\d+)(?::([a-zA-Z]))?>`)
	linkMark    = regexp.MustCompile(`\[((?:\\.|[^\[\]\\])*)\]\(<?https?://[^)>]*>?\)`)
	tookMark    = regexp.MustCompile(`\d+\.\d\d s\b`)
	waitMark    = regexp.MustCompile(`\d+ events? waits?\b`)
	escaped     = regexp.MustCompile(`\\([*_~|>\x60\[\]():.#-])`)
)

// read is text about as Discord shows it.
func (s *screens) read(text string) string {
	text = mentionMark.ReplaceAllStringFunc(text, func(mark string) string {
		var id discordtest.ID
		if _, err := fmt.Sscan(mentionMark.FindStringSubmatch(mark)[1], &id); err != nil || s.names[id] == "" {
			s.Errorf("%s is nobody's mention", mark)
		}
		return s.names[id]
	})
	text = commandMark.ReplaceAllString(text, "/$1")
	text = timeMark.ReplaceAllStringFunc(text, func(mark string) string {
		parts := timeMark.FindStringSubmatch(mark)
		var n int64
		_, _ = fmt.Sscan(parts[1], &n)
		at := time.Unix(n, 0).UTC()
		if parts[2] == "R" {
			return apart(at.Sub(s.discord.Now()))
		}
		return at.Format("2 January 2006 15:04")
	})
	text = linkMark.ReplaceAllString(text, "$1↗")
	text = steady(text)
	text = strings.NewReplacer("**", "", "-# ", "").Replace(text)
	return escaped.ReplaceAllString(text, "$1")
}

// steady is text without what differs between runs.
func steady(text string) string {
	text = tookMark.ReplaceAllString(text, "0.01 s")
	return waitMark.ReplaceAllString(text, "0 events wait") // its own use may
}

// apart is a span as Discord shows it, in the largest fitting unit.
func apart(d time.Duration) string {
	away, unit := int(d.Abs().Round(time.Minute)/time.Minute), "minute"
	if away >= 60 {
		away, unit = away/60, "hour"
	}
	if unit == "hour" && away >= 24 {
		away, unit = away/24, "day"
	}
	said := fmt.Sprint(away, " ", unit)
	if away != 1 {
		said += "s"
	}
	if d > 0 {
		return "in " + said
	}
	return said + " ago"
}

func partsOf(m discordtest.Message) (all []discord.Component) {
	for _, raw := range m.Components {
		var row discord.Component
		if err := json.Unmarshal(raw, &row); err != nil {
			panic(err) // the fake took it
		}
		all = append(all, row.Components...)
	}
	return all
}

// buttonOf is the id of a button or menu, by what it does.
func buttonOf(t *testing.T, m discordtest.Message, does string) string {
	t.Helper()
	for _, b := range partsOf(m) {
		if is, _, _ := strings.Cut(b.CustomID, ":"); is == does {
			return b.CustomID
		}
	}
	t.Fatalf("no button or menu %q", does)
	return ""
}
