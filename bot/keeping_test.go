package bot

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// keepingCommands are all that these files add, with what has to be given.
func (s *scene) keepingCommands() map[string][]discordtest.Opt {
	return map[string][]discordtest.Opt{
		"hark channel log": nil, "hark channel ignore": nil, "hark channel answer": {opt("answer", "off")}, "hark retention": {opt("keep", "forever")},
		"hark backfill": nil, "hark purge member": {opt("member", s.bo.ID)}, "hark purge channel": nil, "hark purge before": {opt("before", "1d")}, "hark export": nil,
	}
}

func TestOnlyThoseWhoManageTheServerKeepIt(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	before := len(s.log.eventsNow())
	for command := range s.keepingCommands() {
		s.hides(t, s.bo, strings.Fields(command)[0])
	}
	for _, e := range s.log.eventsNow()[before:] {
		if _, seen := e.(memory.PersonSeen); !seen {
			t.Errorf("logged %+v", e)
		}
	}
}

// eventsNow are all events.
func (n *notebook) eventsNow() []memory.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]memory.Event(nil), n.events...)
}

func TestKeepingIsAcknowledgedInTime(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	confirm := s.use(t, s.ana, "hark retention", opt("keep", "1d"))
	s.discord.Say(s.channel, s.bo.ID, "hello")
	s.log.waitSaid(t, "them: hello")
	purge := s.use(t, s.ana, "hark purge channel")
	release := s.log.hold()
	s.discord.Say(s.channel, s.bo.ID, "waits")
	var is []*discordtest.Interaction
	for command, options := range s.keepingCommands() {
		is = append(is, s.discord.Slash(s.channel, s.ana.ID, command, options...))
	}
	is = append(is,
		s.discord.Click(confirm.Message, s.ana.ID, fmt.Sprintf("%s:%d:1d", keepsFor, s.channel)),
		s.discord.Click(purge.Message, s.ana.ID, fmt.Sprintf("%s:%s:%d", purges, purgesChannel, s.channel)))
	s.acknowledged(t, is, release)
}

func TestKeepingFailsInWords(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	purge := s.use(t, s.ana, "hark purge member", opt("member", s.bo.ID))
	s.log.fail(errDown)
	for _, command := range []string{"hark channel log", "hark channel ignore"} {
		s.says(t, s.use(t, s.ana, command), "Something went wrong")
	}
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("answer", "off")), "Something went wrong")
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "forever")), "Something went wrong")
	s.says(t, s.use(t, s.ana, "hark backfill"), "Something went wrong")
	s.log.fail(nil)
	s.log.mu.Lock()
	s.log.readFails, s.log.forgetting.fails = errDown, errDown
	s.log.mu.Unlock()
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "1d")), "Something went wrong")
	s.says(t, s.use(t, s.ana, "hark retention", opt("keep", "1d"), opt("server", true)), "Something went wrong")
	for _, command := range []string{"hark purge channel", "hark export", "hark backfill"} {
		s.says(t, s.use(t, s.ana, command), "Something went wrong")
	}
	i := s.discord.Click(purge.Message, s.ana.ID, fmt.Sprintf("%s:%s:%d", purges, purgesMember, s.bo.ID))
	s.discord.WaitFor("the failure", func() bool {
		all := i.FollowUps()
		return len(all) == 1 && strings.Contains(all[0].Content, "Something went wrong")
	})
}

func TestChannelsAreLoggedAndIgnored(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	hidden := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "hidden", Overwrites: []discordtest.Overwrite{
		discordtest.ForRole(s.guild.ID, 0, discordtest.ViewChannel), discordtest.ForRole(s.guild.BotRole.ID, discordtest.ViewChannel, 0)}})
	category := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "plans", Type: discordtest.Category})
	inside := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "inside", ParentID: &category.ID})
	s.discord.Say(s.channel, s.bo.ID, "one")
	s.log.waitSaid(t, "them: one")

	shown := s.use(t, s.ana, "hark channel ignore")
	s.says(t, shown, fmt.Sprintf("I remember nothing of what is said in <#%d>.", s.channel), "is told to nobody", "/hark purge channel")
	s.discord.Say(s.channel, s.bo.ID, "ignored")
	s.says(t, s.use(t, s.ana, "hark channel ignore", opt("channel", category.ID)), fmt.Sprintf("<#%d>", category.ID), "channels in it that nothing else was chosen for", "channel by channel")
	s.discord.Say(inside.ID, s.bo.ID, "ignored too")
	s.says(t, s.use(t, s.ana, "hark channel log", opt("channel", hidden.ID)), fmt.Sprintf("I remember what is said in <#%d>.", hidden.ID),
		"is remembered without end, as I was set up", "I answer who mentions me", "`/hark backfill` fetches it")
	s.discord.Say(hidden.ID, s.bo.ID, "hidden")
	s.log.waitSaid(t, "them: hidden")
	s.says(t, s.use(t, s.ana, "hark channel log"), fmt.Sprintf("I remember what is said in <#%d>.", s.channel))
	s.discord.Say(s.channel, s.bo.ID, "two")
	s.log.waitSaid(t, "them: two")
	if said := strings.Join(s.log.said(), ", "); said != "them: one, them: hidden, them: two" {
		t.Errorf("logged %s", said)
	}
	// The button leads to the purge.
	asked := s.discord.Click(shown.Message, s.ana.ID, fmt.Sprintf("%s:%d", asksPurge, s.channel)).WaitMessage()
	s.says(t, asked, fmt.Sprintf("**Forget all that was said in <#%d>, with its threads?**", s.channel), "- 2 messages in 1 channel")
	s.says(t, s.discord.Click(shown.Message, s.bo.ID, fmt.Sprintf("%s:%d", asksPurge, s.channel)).WaitMessage(), "I can't tell any more whether you may decide that.")
}

func TestNobodyIsAnsweredWhereThatIsOff(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "other"})
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &s.channel, Type: discordtest.PublicThread, Name: "more"})
	s.ask("when?")
	answer := s.answered(t, s.channel, "Friday")
	s.idle(t)
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("answer", "off")), fmt.Sprintf("In <#%d> I answer nobody who mentions me: I say nothing at all.", s.channel))
	if e := s.lastSetting(); e.Channel != memory.ChannelID(s.channel) || e.Key != memory.SettingAnswers || e.Value != "off" {
		t.Errorf("logged %+v", e)
	}
	s.ask("and now?")
	s.asks(thread.ID, s.ana, "and here?")
	s.log.waitSaid(t, "them: <@"+s.discord.Bot.ID.String()+"> and here?") // it is remembered all the same
	i := s.press(answer.Message, s.ana, "Ask again")
	s.discord.WaitFor("the refusal", func() bool {
		all := i.FollowUps()
		return len(all) == 1 && all[0].Content == silentHere
	})
	s.asks(other.ID, s.ana, "and there?")
	s.discord.WaitSent(other.ID, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	if n := len(s.oracle.questions()); n != 2 {
		t.Errorf("%d questions were taken: %+v", n, s.oracle.questions())
	}
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("answer", "off"), opt("server", true)), "In this server I answer nobody", fmt.Sprintf("Decided for itself: <#%d>", s.channel))
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("answer", "on"), opt("channel", thread.ID)), fmt.Sprintf("In <#%d> I answer who mentions me.", thread.ID))
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("channel", other.ID)), fmt.Sprintf("In <#%d> I answer nobody", other.ID))
	s.asks(other.ID, s.ana, "still there?")
	s.asks(thread.ID, s.ana, "and now here?")
	s.discord.WaitSent(thread.ID, func(m discordtest.Sent) bool { return m.Content == "Friday" })
	s.says(t, s.use(t, s.ana, "hark channel answer", opt("answer", "default"), opt("server", true)), "In this server I answer who mentions me")
	s.asks(other.ID, s.ana, "there again?")
	s.discord.WaitFor("both answers", func() bool { return len(s.discord.Sent(other.ID)) == 2 })
	if n := len(s.oracle.questions()); n != 4 {
		t.Errorf("%d questions were taken: %+v", n, s.oracle.questions())
	}
	s.idle(t)
}

func TestWhatIsLackingIsNamed(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	app, server := s.discord.AppID.String(), memory.GuildID(s.guild.ID)
	usual, connects := "(<"+InviteURL(app, server)+">)", "(<"+inviteURL(app, server, memory.Connect)+">)"
	bot := s.discord.Bot.ID
	unseen := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "unseen", Overwrites: []discordtest.Overwrite{discordtest.ForMember(bot, 0, discordtest.ViewChannel)}})
	mute := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "mute", Overwrites: []discordtest.Overwrite{discordtest.ForMember(bot, 0, discordtest.SendMessages|discordtest.SendMessagesInThreads)}})
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &mute.ID, Type: discordtest.PublicThread, Name: "more"})
	stage := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "stage", Type: discordtest.Stage, Overwrites: []discordtest.Overwrite{discordtest.ForMember(bot, 0, discordtest.Connect|discordtest.ReadMessageHistory)}})
	s.discord.Say(mute.ID, s.bo.ID, "hello")
	s.log.waitSaid(t, "them: hello")
	for _, tt := range []struct {
		at     discordtest.ID
		lacks  string
		silent string
	}{
		{thread.ID, "**Send Messages in Threads**", ""}, {mute.ID, "**Send Messages**", ""}, {stage.ID, "**Connect, Read Message History**", "**Connect, Read Message History**"}, {s.channel, "", ""},
	} {
		grant := usual
		if tt.at == stage.ID {
			grant = connects
		}
		shown := s.use(t, s.ana, "hark channel log", opt("channel", tt.at))
		if got := strings.Contains(shown.Content, "I lack: "+tt.lacks) && strings.Contains(shown.Content, grant); got != (tt.lacks != "") {
			t.Errorf("want %q in %q", tt.lacks, shown.Content)
		}
		shown = s.use(t, s.ana, "hark channel answer", opt("channel", tt.at), opt("answer", "off"))
		if got := strings.Contains(shown.Content, "I lack: "+tt.silent); got != (tt.silent != "") {
			t.Errorf("without answers, want %q in %q", tt.silent, shown.Content)
		}
	}
	s.says(t, s.use(t, s.ana, "hark channel log", opt("channel", unseen.ID)), "**View Channels**", usual)
	// Of the channel that it is used in, the use itself tells.
	requests := len(s.discord.Requests())
	m := s.discord.Slash(mute.ID, s.ana.ID, "hark channel answer", opt("answer", "on")).WaitMessage()
	s.says(t, m, "I lack: **Send Messages**", usual)
	for _, r := range s.discord.Requests()[requests:] {
		if r.Method == "GET" {
			t.Errorf("asked %s", r.Path)
		}
	}
	// Where an answer can't be sent, the log says so once, and how it is given.
	s.asks(mute.ID, s.ana, "when?")
	s.out.wait(t, `"missing":"Send Messages"`)
	s.asks(mute.ID, s.ana, "when, then?")
	s.idle(t)
	if n := strings.Count(s.out.String(), `"grant":"https://discord.com/oauth2/authorize`); n != 1 {
		t.Errorf("said %d times:\n%s", n, s.out)
	}
}

func TestInvitationAsksForWhatTheLinkGives(t *testing.T) {
	t.Parallel()
	if link := InviteURL("1", 0); !strings.Contains(link, "&permissions=274878008320") { // of the README
		t.Errorf("the link is %s", link)
	}
	b := &Bot{}
	if link := b.grantLink(5, 0); link != "" {
		t.Errorf("before Discord has told who Hark is, the link is %q", link)
	}
}
