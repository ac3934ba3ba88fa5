package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// remembering is a scene whose guild has decided to be remembered. Its ana manages it.
func remembering(t *testing.T) *scene {
	t.Helper()
	s := asking(t)
	if err := s.log.Apply(t.Context(), memory.Chose{Guild: memory.GuildID(s.guild.ID), Choice: memory.RememberPublic}); err != nil {
		t.Fatal(err)
	}
	s.run(t).ready(t)
	s.waitRegistered()
	return s
}

// use uses a command as somebody, and is what they are shown.
func (s *scene) use(t *testing.T, who discordtest.User, name string, options ...discordtest.Opt) discordtest.Sent {
	t.Helper()
	m := s.discord.Slash(s.channel, who.ID, name, options...).WaitMessage()
	if m.Flags&discordtest.Ephemeral == 0 {
		t.Errorf("everybody sees what /%s shows", name)
	}
	return m
}

// says fails unless a message contains all of texts.
func (s *scene) says(t *testing.T, m discordtest.Sent, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(m.Content, text) {
			t.Errorf("%q is missing in %q", text, m.Content)
		}
	}
}

// hides fails if Discord lets somebody use a command of this name.
func (s *scene) hides(t *testing.T, who discordtest.User, command string) {
	t.Helper()
	if s.discord.Shows(s.channel, who.ID, command) {
		t.Errorf("%s may use /%s", who.Username, command)
	}
}

func opt(name string, value any) discordtest.Opt { return discordtest.Opt{Name: name, Value: value} }

func TestMembersSeeAndChangeWhatIsKept(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	hidden := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "hidden", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel), discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0)}})
	if err := s.log.Apply(t.Context(), memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember}); err != nil {
		t.Fatal(err)
	}
	s.discord.Say(hidden.ID, s.bo.ID, "said before I lost the right")
	last := s.discord.Say(s.channel, s.bo.ID, "hello")
	s.says(t, s.use(t, s.bo, "memory remove"), "nothing to take back")
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "plays the\n *tuba* ")), "Noted")
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "plays the *tuba*")), "know that already")
	s.says(t, s.use(t, s.bo, "memory alias", opt("name", "Bob")), "Noted")
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "keeps the keys")), "Noted", s.bo.Mention())
	shown := s.use(t, s.bo, "memory show")
	s.says(t, shown, "Names: bo", "- plays the \\*tuba\\* (told by you)\n", "- also called Bob (told by you)\n", "- keeps the keys (told by "+s.ana.Mention()+")",
		"can read: 1\n", fmt.Sprintf("- <#%d>: 1, from <t:%[2]d:f> to <t:%[2]d:f>\n", s.channel, last.ID.Time().Unix()),
		"And 1 message in channels that you can't read, or not from here.", "You haven't opted out.", "I keep messages, lore and what was made of them until they are forgotten")
	if strings.Contains(shown.Content, hidden.ID.String()) {
		t.Errorf("a channel is named that bo can't read: %q", shown.Content)
	}
	if m := s.use(t, s.ana, "memory show"); strings.Contains(m.Content, "tuba") || !strings.Contains(m.Content, "can read: none") {
		t.Errorf("ana is shown %q", m.Content)
	}
	menu := s.use(t, s.bo, "memory remove")
	told, _ := find(s.log, func(f memory.FactTold) bool { return f.Fact.By == memory.UserID(s.ana.ID) })
	i := s.discord.Click(menu.Message, s.bo.ID, removedFacts, fmt.Sprint(told.Fact.ID), "17")
	i.Wait()
	s.discord.WaitFor("the receipt", func() bool { return i.WaitMessage().Content == "Forgotten: 1 of what I was told about you." })
	if m := s.use(t, s.bo, "memory show"); strings.Contains(m.Content, "keys") || !strings.Contains(m.Content, "Bob") {
		t.Errorf("afterwards %q is shown", m.Content)
	}
}

func TestWhatIsToldIsChecked(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.says(t, s.use(t, s.bo, "memory add", opt("text", " \n ")), "nothing in it")
	s.says(t, s.use(t, s.bo, "memory add", opt("text", strings.Repeat("ü", 301))), "at most 300 characters, and it has 301")
	s.says(t, s.use(t, s.bo, "memory alias", opt("name", strings.Repeat("b", 65))), "at most 64")
	s.hides(t, s.bo, "hark")
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.ana.ID), opt("text", " ")), "nothing in it")
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"}).ID), opt("text", "x")), "I don't know <@")
	for i := range factsOf {
		s.says(t, s.use(t, s.bo, "memory add", opt("text", fmt.Sprintf("%d %s", i, strings.Repeat("long ", 58)))), "Noted")
	}
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "one too many")), "25 things already")
	show := s.discord.Slash(s.channel, s.bo.ID, "memory show")
	first := show.WaitMessage()
	all := ""
	s.discord.WaitFor("all pages", func() bool {
		all = first.Content
		for _, m := range show.FollowUps() {
			all += "\n" + m.Content
			if m.Flags&discordtest.Ephemeral == 0 {
				t.Error("everybody sees a page")
			}
		}
		return strings.Contains(all, "keep nothing of yours any more")
	})
	if n := strings.Count(all, "- "+"0 long"); n != 1 || !strings.Contains(all, "- 24 long") {
		t.Errorf("not all is shown: %d characters", len(all))
	}
	s.use(t, s.bo, "memory remove") // labels fit, or the fake refuses them
}

func TestNothingIsToldWhereNothingIsKept(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.notice(t, s.channel)
	s.waitRegistered()
	s.discord.Say(s.channel, s.bo.ID, "hello")
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "plays the tuba")), nothingKeptHere)
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "plays the tuba")), nothingKeptHere)
	dm := s.discord.DM(s.bo.ID, "hello")
	m := s.discord.Slash(dm.ChannelID, s.bo.ID, "memory add", opt("text", "plays the tuba")).WaitMessage()
	s.says(t, m, nothingInDirect)
	if _, told := find(s.log, func(memory.FactTold) bool { return true }); told {
		t.Error("it is kept nevertheless")
	}
	bo := memory.UserID(s.bo.ID)
	for _, guild := range []memory.GuildID{memory.GuildID(s.guild.ID), memory.DirectGuild} { // from when something was
		if err := s.log.Apply(t.Context(), memory.PersonSeen{Person: memory.Person{ID: bo, Guild: guild, Username: "bo"}},
			memory.FactTold{Guild: guild, User: bo, Fact: memory.Fact{ID: 5, Text: "plays the horn", By: bo}}); err != nil {
			t.Fatal(err)
		}
	}
	change := []discordtest.Opt{opt("fact", "5"), opt("text", "plays the tuba")}
	for channel, want := range map[discordtest.ID]string{s.channel: nothingKeptHere, dm.ChannelID: nothingInDirect} {
		s.says(t, s.discord.Slash(channel, s.bo.ID, "memory edit", change...).WaitMessage(), want)
		s.says(t, s.discord.Slash(channel, s.bo.ID, "memory edit", change[0]).WaitMessage(), want) // rather than a form
	}
	if _, told := find(s.log, func(f memory.FactTold) bool { return f.Fact.ID != 5 }); told {
		t.Error("the change is kept nevertheless")
	}
	s.says(t, s.discord.MessageAction(s.discord.Say(s.channel, s.bo.ID, "mark me"), s.ana.ID, starCommand).WaitMessage(), starNot)
}

func TestOptingOutAndIn(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.Say(s.channel, s.bo.ID, "hello")
	s.says(t, s.use(t, s.bo, "memory optin"), "haven't opted out")
	ask := s.use(t, s.bo, "memory optout")
	s.says(t, ask, "**Opt out in this server", "- 1 message in 1 channel\n- 2 things I was told about you\n- 1 answer of mine that used them\n", "can't be undone")
	if _, out := find(s.log, func(memory.Opted) bool { return true }); out {
		t.Error("opted out before it is confirmed")
	}
	i := s.discord.Click(ask.Message, s.bo.ID, confirmOptOut)
	i.Wait()
	s.discord.WaitFor("the receipt", func() bool { return strings.Contains(i.WaitMessage().Content, "Forgotten") })
	s.says(t, i.WaitMessage(), "You've opted out", "- 7 messages\n- 2 things I was told about you\n- 1 answer of mine", "backups", "language model's host", "Discord itself")
	if m := i.WaitMessage(); len(m.Components) > 0 {
		t.Error("it can be confirmed again")
	}
	opted, _ := find(s.log, func(memory.Opted) bool { return true })
	who := memory.Opted{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), Out: true, At: opted.At}
	if opted != who || opted.At.IsZero() {
		t.Errorf("logged %+v", opted)
	}
	want := memory.Forgetting{Guild: who.Guild, User: who.User, Why: memory.WhyOptOut, At: opted.At}
	if got := s.log.forgetting.begun; len(got) != 1 || got[0] != want {
		t.Errorf("forgets %+v", got)
	}
	s.says(t, s.use(t, s.bo, "memory show"), youAreOut)
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "x")), youAreOut)
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "x")), "they've opted out")
	s.says(t, s.use(t, s.bo, "memory optin"), "What was forgotten stays forgotten")
	if opted, _ := find(s.log, func(memory.Opted) bool { return true }); opted.Out {
		t.Error("still opted out")
	}
}

func TestForgettingShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.log.forgetting.steps = make(chan int)
	dm := s.discord.DM(s.bo.ID, "hello")
	ask := s.discord.Slash(dm.ChannelID, s.bo.ID, "memory forget").WaitMessage()
	s.says(t, ask, "wrote to me in direct messages")
	i := s.discord.Click(ask.Message, s.bo.ID, confirmForget)
	s.log.forgetting.steps <- 30
	s.discord.WaitFor("the progress", func() bool { return i.WaitMessage().Content == "Forgetting: 30 of 100 messages are gone." })
	close(s.log.forgetting.steps)
	s.discord.WaitFor("the receipt", func() bool {
		return strings.Contains(i.WaitMessage().Content, "**Forgotten** on <t:") && strings.Contains(i.WaitMessage().Content, "- 7 messages")
	})
	if got := s.log.forgetting.begun; len(got) != 1 || got[0].Guild != memory.DirectGuild || got[0].Why != memory.WhyMember || got[0].User != memory.UserID(s.bo.ID) {
		t.Errorf("forgets %+v", got)
	}
	if _, out := find(s.log, func(memory.Opted) bool { return true }); out {
		t.Error("opted out")
	}
}

// Discord counts from the use, however long it waited for the log. The forgetting goes on all the same.
func TestForgettingGoesOnWithoutBeingWatched(t *testing.T) {
	t.Parallel()
	s := asking(t).run(t).ready(t)
	s.waitRegistered()
	s.log.forgetting.steps, s.log.forgetting.fails = make(chan int), errDown
	x := s.used(s.bo, "limits")
	x.came = s.discord.Now().Add(-s.bot.timing.command)
	edits := func() (texts []string) {
		for _, r := range s.discord.Requests() {
			if r.Method == "PATCH" && strings.Contains(r.Path, x.Token) {
				texts = append(texts, string(r.Body))
			}
		}
		return texts
	}
	before := len(edits())
	ended := make(chan error, 1)
	go func() {
		_, err := s.bot.commands.forgetting(context.Background(), x, memory.Forgetting{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), Why: memory.WhyMember, At: s.discord.Now()}, x.receipt)
		ended <- err
	}()
	s.discord.WaitFor("the last word", func() bool { return len(edits()) > before })
	for step := range 20 { // it is still at it
		s.log.forgetting.steps <- 40 + step
	}
	close(s.log.forgetting.steps)
	if err := <-ended; !errors.Is(err, errShown) {
		t.Errorf("it ended with %v", err)
	}
	if told := edits()[before:]; len(told) != 1 || !strings.Contains(told[0], goesOn) {
		t.Errorf("told %q", told)
	}
	if !strings.Contains(s.out.String(), errDown.Error()) { // it is over for the member
		t.Errorf("logged %s", s.out)
	}
}

func TestForgettingThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.log.forgetting.fails = errDown
	ask := s.use(t, s.bo, "memory forget")
	i := s.discord.Click(ask.Message, s.bo.ID, confirmForget)
	i.Wait()
	s.discord.WaitFor("the error", func() bool { return len(i.FollowUps()) == 1 })
	s.says(t, i.FollowUps()[0], "Something went wrong")
	ask = s.use(t, s.bo, "memory optout")
	s.log.fail(errDown)
	out := s.discord.Click(ask.Message, s.bo.ID, confirmOptOut)
	out.Wait()
	s.discord.WaitFor("the error", func() bool { return len(out.FollowUps()) == 1 })
	s.says(t, out.FollowUps()[0], "Something went wrong")
	if len(s.log.forgetting.begun) != 1 {
		t.Error("forgets, though opting out failed")
	}
	s.log.fail(nil)
}

func TestStoreThatFailsIsntKeptSecret(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "mark me")
	s.log.waitSaid(t, "them: mark me")
	s.log.mu.Lock()
	s.log.readFails = errDown
	s.log.mu.Unlock()
	for _, name := range []string{"memory show", "memory remove", "memory optin"} {
		s.says(t, s.use(t, s.bo, name), "Something went wrong")
	}
	s.says(t, s.use(t, s.bo, "memory add", opt("text", "x")), "Something went wrong")
	s.says(t, s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "x")), "Something went wrong")
	s.says(t, s.discord.MessageAction(said, s.ana.ID, starCommand).WaitMessage(), "Something went wrong")
}

func TestSlowLogIsAcknowledgedInTime(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "mark me")
	ask := s.use(t, s.bo, "memory optout")
	release := s.log.hold()
	s.discord.Say(s.channel, s.bo.ID, "waits")
	is := []*discordtest.Interaction{
		s.discord.Slash(s.channel, s.bo.ID, "memory show"),
		s.discord.Slash(s.channel, s.bo.ID, "memory add", opt("text", "plays the tuba")),
		s.discord.Slash(s.channel, s.ana.ID, "hark memory"),
		s.discord.MessageAction(said, s.ana.ID, starCommand),
		s.discord.Click(ask.Message, s.bo.ID, confirmOptOut),
	}
	s.acknowledged(t, is, release)
}

func TestMessagesAreMarked(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	q := s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	for _, want := range []string{starOn, starOff, starOn} {
		m := s.discord.MessageAction(said, s.ana.ID, starCommand).WaitMessage()
		if m.Content != want || m.Flags&discordtest.Ephemeral == 0 {
			t.Errorf("got %q, want %q", m.Content, want)
		}
	}
	star, _ := find(s.log, func(memory.Starred) bool { return true })
	want := memory.Starred{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), ID: memory.MessageID(said.ID), On: true, At: star.At}
	if star != want || star.At.IsZero() {
		t.Errorf("logged %+v", star)
	}
	s.says(t, s.discord.MessageAction(answer.Message, s.ana.ID, starCommand).WaitMessage(), starMine)
	s.log.mu.Lock()
	s.log.events = slices.DeleteFunc(s.log.events, func(e memory.Event) bool {
		p, ok := e.(memory.Posted)
		return ok && p.Message.ID == memory.MessageID(q.ID)
	})
	s.log.mu.Unlock()
	s.says(t, s.discord.MessageAction(q, s.ana.ID, starCommand).WaitMessage(), starNone)
}

// acknowledged holds that uses are acknowledged while the log is held, and answered once it is released.
func (s *scene) acknowledged(t *testing.T, is []*discordtest.Interaction, release func()) {
	t.Helper()
	for _, i := range is {
		if r := i.Wait(); !r.Deferred() {
			t.Errorf("answered with %+v", r)
		}
	}
	s.discord.Advance(10 * time.Second) // an acknowledgement would be too late now
	release()
	for _, i := range is {
		i.WaitMessage()
	}
}
