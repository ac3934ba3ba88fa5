package bot

import (
	"strings"
	"testing"

	"hark/bot/discord"
	"hark/internal/discordtest"
	"hark/memory"
)

func TestWhatIsLackingIsNamed(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	app, server := s.discord.AppID.String(), s.guildID
	usual, connects := "(<"+discord.InviteURL(app, server)+">)", "(<"+discord.GrantURL(app, server, memory.Connect)+">)"
	bot := s.discord.Bot.ID
	unseen := s.addChannel("unseen", discordtest.ForMember(bot, 0, discordtest.ViewChannel))
	mute := s.addChannel("mute", discordtest.ForMember(bot, 0,
		discordtest.SendMessages|discordtest.SendMessagesInThreads))
	thread := s.addThread("more", mute.ID)
	stage := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "stage", Type: discordtest.Stage,
		Overwrites: []discordtest.Overwrite{discordtest.ForMember(bot, 0,
			discordtest.Connect|discordtest.ReadMessageHistory)}})
	s.posts(t, mute.ID, s.bo.ID, "hello")
	for _, tt := range []struct {
		at     discordtest.ID
		lacks  string // the link that gives it
		silent bool   // whether it is lacking without answers too
	}{{thread.ID, usual, false}, {mute.ID, usual, false}, {stage.ID, connects, true}, {s.channel, "", false}} {
		shown := s.use(t, s.ana, "hark channel log", opt("channel", tt.at))
		s.says(t, shown)
		if link := strings.Contains(shown.Content, "oauth2"); link != (tt.lacks != "") ||
			!strings.Contains(shown.Content, tt.lacks) {
			t.Errorf("want the link %q in %q", tt.lacks, shown.Content)
		}
		shown = s.use(t, s.ana, "hark channel answer", opt("channel", tt.at), opt("answer", "off"))
		s.says(t, shown)
		if link := strings.Contains(shown.Content, "oauth2"); link != tt.silent {
			t.Errorf("without answers, shown %q", shown.Content)
		}
	}
	s.says(t, s.use(t, s.ana, "hark channel log", opt("channel", unseen.ID)))
	// The interaction tells of its own channel.
	requests := len(s.discord.Requests())
	s.turns(t, s.discord.Slash(mute.ID, s.ana.ID, "hark channel answer", opt("answer", "on")))
	for _, r := range s.discord.Requests()[requests:] {
		if r.Method == "GET" {
			t.Errorf("asked %s", r.Path)
		}
	}
	// The journal says once that an answer can't be sent, with the link that gives the permission.
	s.asks(mute.ID, s.ana, "when?")
	s.out.wait(t, `"missing":"Send Messages"`)
	s.asks(mute.ID, s.ana, "when, then?")
	s.idle(t)
	if n := strings.Count(s.out.String(), `"grant":`); n != 1 {
		t.Errorf("said %d times:\n%s", n, s.out)
	}
}
