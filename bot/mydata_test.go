package bot

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/personaldata"
	"hark/memory"
)

// hiddenChannel is a channel that only Hark sees, which remembers it.
func (s *scene) hiddenChannel(t *testing.T) discordtest.Channel {
	t.Helper()
	hidden := s.secret("hideout")
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(hidden.ID),
		Choice: memory.Remember})
	return hidden
}

// What was learned stays where its message may be read, and goes with it.
func TestLearnedFactsAreChanged(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.posts(t, s.channel, s.bo.ID, "I sail on Sundays")
	learned := memory.Fact{ID: 5, Text: "sails on Sundays", By: memory.UserID(s.bo.ID),
		Channel: memory.ChannelID(s.channel), Message: memory.MessageID(said.ID)}
	s.apply(t, memory.FactTold{Guild: memory.GuildID(s.guild.ID), User: learned.By, Fact: learned})
	s.says(t, s.use(t, s.bo, "memory edit", opt("fact", "5"), opt("text", "sails on Mondays")))
	if told, _ := find(s.log, func(f memory.FactTold) bool {
		return f.Fact.Text == "sails on Mondays"
	}); told.Fact.Channel != learned.Channel || told.Fact.Message != learned.Message {
		t.Errorf("what was learned became %+v", told.Fact)
	}
	s.says(t, s.use(t, s.bo, "memory show"))
	form := s.discord.Slash(s.channel, s.bo.ID, "memory edit", opt("fact", "sails on mondays"))
	form.Wait()
	s.apply(t, memory.Opted{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), Out: true})
	s.says(t, form.Submit(map[string]string{"text": "plays the horn"}).WaitMessage())
}

func TestAllAboutOneselfIsShown(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Safe")
	s.posts(t, s.channel, s.bo.ID, "said long ago")
	s.apply(t, memory.Forgetting{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID),
		Why: memory.WhyMember, At: s.discord.Now().Add(time.Minute)})
	if _, err := s.log.Store.Resume(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	s.discord.Advance(time.Hour)
	hidden := s.hiddenChannel(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.posts(t, hidden.ID, s.bo.ID, "said in the hideout")
	s.use(t, s.bo, "memory alias", opt("name", "Bobby Tables"))
	at := s.discord.Now()
	for i, l := range []memory.Lore{
		{Name: "Tuba", Text: "is brass", By: memory.UserID(s.bo.ID)}, {Name: "Keys",
			Text: "bobby tables has them", By: memory.UserID(s.ana.ID)},
		{Name: "Boat", Text: "is blue", By: memory.UserID(s.ana.ID)}, {Name: "Crew", Text: "all but <@" +
			s.bo.ID.String() + ">"},
		{Name: "Safe", Text: "bo has the code", By: memory.UserID(s.bo.ID)},
	} {
		l.ID, l.Guild, l.At = int64(i+1), memory.GuildID(s.guild.ID), at
		s.apply(t, memory.LoreTold{Lore: l})
	}
	s.apply(t, memory.Starred{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel),
		ID: memory.MessageID(said.ID), On: true, At: at},
		memory.Answered{Trace: memory.Trace{Guild: memory.GuildID(s.guild.ID),
			Channel: memory.ChannelID(s.channel), Answer: memory.MessageID(said.ID) +
				1, Asker: memory.UserID(s.bo.ID)}},
		memory.Called{Record: memory.Record{CallID: "1", Timestamp: at, Speaker: memory.SpeakerUser,
			Method: "m", Asker: memory.UserID(s.bo.ID), Channel: memory.ChannelID(s.channel)}},
		memory.Spent{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID),
			Question: memory.MessageID(said.ID), Tokens: 1234},
		memory.Learn{Guild: memory.GuildID(s.guild.ID), On: true,
			At: at}, memory.Learn{Guild: memory.GuildID(s.guild.ID), User: memory.UserID(s.bo.ID), On: true, At: at},
		memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Key: memory.SettingRetention, Value: "90d", At: at},
	)
	for _, i := range []*discordtest.Interaction{s.discord.Slash(s.channel, s.bo.ID, "memory show"),
		s.discord.UserAction(s.channel, s.bo.ID, s.bo.ID, aboutCommand)} {
		all := s.everyPage(t, i)
		for _, text := range []string{"hideout", hidden.ID.String(), "Boat", "Safe"} {
			if strings.Contains(all, text) {
				t.Errorf("%q is in %q", text, all)
			}
		}
		if m := i.WaitMessage(); m.Flags&discordtest.Ephemeral == 0 {
			t.Error("everybody sees it")
		}
	}
}

// personalData is the file that a message of Hark's has.
func (s *scene) personalData(t *testing.T, m discordtest.Message) (file []byte, p personaldata.Person) {
	t.Helper()
	if len(m.Attachments) != 1 {
		t.Fatalf("the message has %d files: %q", len(m.Attachments), m.Content)
	}
	file, there := s.discord.File(m.Attachments[0])
	if !there {
		t.Fatal("the file isn't there")
	}
	text := file
	if strings.HasSuffix(m.Attachments[0].Filename, ".gz") {
		text = unpacked(t, file)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return text, p
}

// export uses /memory export, once any before it has ended.
func (s *scene) export(t *testing.T, channel discordtest.ID, who discordtest.User,
	options ...discordtest.Opt) discordtest.Sent {
	t.Helper()
	s.idle(t)
	m := s.discord.Slash(channel, who.ID, "memory export", options...).WaitMessage()
	if m.Flags&discordtest.Ephemeral == 0 {
		t.Error("everybody sees what /memory export shows")
	}
	return m
}

func TestExportHoldsOnesOwnOnly(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Safe")
	hidden := s.hiddenChannel(t)
	s.says(t, s.export(t, s.channel, s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"})))
	said := s.discord.Say(s.channel, s.bo.ID, "own words, to "+s.ana.Mention())
	secretly := s.discord.Say(hidden.ID, s.bo.ID, "own words over there")
	s.discord.Say(s.channel, s.ana.ID, "strange words")
	dm := s.discord.DM(s.bo.ID, "own words elsewhere")
	s.log.waitSaid(t, "them: strange words")
	s.use(t, s.bo, "memory add", opt("text", "plays the tuba"))
	s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "keeps the keys"))
	s.use(t, s.ana, "hark fact", opt("member", s.bo.ID), opt("text", "has the keys"))
	for i, l := range []memory.Lore{{Name: "Tuba", Text: "is brass", By: memory.UserID(s.bo.ID)},
		{Name: "Boat", Text: "strange lore", By: memory.UserID(s.ana.ID)},
		{Name: "Safe", Text: "changed where bo can't read", By: memory.UserID(s.bo.ID)}} {
		l.ID, l.Guild, l.At = int64(i+1), memory.GuildID(s.guild.ID), s.discord.Now()
		s.apply(t, memory.LoreTold{Lore: l})
	}
	m := s.export(t, s.channel, s.bo)
	s.says(t, m)
	text, p := s.personalData(t, m.Message)
	for _, strange := range []string{"strange", "hideout\"", "elsewhere", "Safe", "\"ana\"", dm.ID.String()} {
		if strings.Contains(string(text), strange) {
			t.Errorf("%q is in %s", strange, text)
		}
	}
	if p.User.String() != s.bo.ID.String() || len(p.Servers) != 1 || p.Servers[0].Name != "Garden" ||
		p.Servers[0].Username != "bo" || len(p.Servers[0].Facts) != 3 ||
		p.Servers[0].Facts[1].By.String() != s.ana.ID.String() || len(p.Servers[0].Lore) != 1 {
		t.Errorf("%+v", p)
	}
	if len(p.Messages) != 2 || p.Messages[0].ID != said.ID.String() || p.Messages[0].Channel != "general" ||
		p.Messages[1].ID != secretly.ID.String() ||
		p.Messages[1].Channel != hidden.ID.String() || p.Messages[1].Text != "own words over there" {
		t.Errorf("messages %+v", p.Messages)
	}
	direct := s.export(t, dm.ChannelID, s.bo)
	if _, p := s.personalData(t, direct.Message); len(p.Servers) > 1 || len(p.Servers[0].Facts) > 0 {
		t.Errorf("in direct messages: %+v", p)
	}
}

func TestExportByDirectMessage(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.posts(t, s.channel, s.bo.ID, "own words")
	closed := s.discord.Inject("POST /channels/*/messages", 1, discordtest.Closed())
	s.says(t, s.export(t, s.channel, s.bo, opt("by", exportByDM)))
	if closed.Hits() != 1 {
		t.Errorf("tried %d times", closed.Hits())
	}
	s.discord.Inject("POST /users/@me/channels", 1, discordtest.Closed())
	s.says(t, s.export(t, s.channel, s.bo, opt("by", exportByDM)))
	m := s.export(t, s.channel, s.bo, opt("by", exportByDM))
	s.says(t, m)
	if len(m.Attachments) > 0 {
		t.Error("the file is here as well")
	}
	place := m.Content[strings.LastIndexByte(m.Content, '/')+1:]
	var direct discordtest.ID
	if err := json.Unmarshal([]byte(`"`+place+`"`), &direct); err != nil {
		t.Fatal(err)
	}
	sent := s.discord.WaitSent(direct, func(m discordtest.Sent) bool { return len(m.Attachments) == 1 })
	s.says(t, sent)
	if _, p := s.personalData(t, sent.Message); len(p.Messages) != 1 || p.Messages[0].Text != "own words" {
		t.Errorf("%+v", p)
	}
	s.discord.Inject("POST /channels/*/messages", 9, discordtest.Unfit())
	s.says(t, s.export(t, s.channel, s.bo, opt("by", exportByDM)))
}

// One that takes long keeps neither its member's next one waiting nor others'.
func TestExportsAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.posts(t, s.channel, s.bo.ID, "own words")
	hang := s.discord.Inject("POST /users/@me/channels", 1, discordtest.Hang())
	s.discord.Slash(s.channel, s.bo.ID, "memory export", opt("by", exportByDM))
	hang.WaitHits(1)
	s.says(t, s.use(t, s.bo, "memory export"))
	s.says(t, s.use(t, s.ana, "memory export"))
}

func TestLargeExports(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.bot.sizes.File, s.bot.sizes.Unpacked = 10_000, 60_000
	said := s.posts(t, s.channel, s.bo.ID, "own words")
	add := func(n int, text string) {
		t.Helper()
		m := memory.Message{ID: memory.MessageID(said.ID) + memory.MessageID(n),
			Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel),
			Author: memory.UserID(s.bo.ID), Content: text}
		s.apply(t, memory.Posted{Message: m})
	}
	add(1, strings.Repeat("over and over ", s.bot.sizes.File/14))
	m := s.export(t, s.channel, s.bo)
	s.says(t, m)
	if _, p := s.personalData(t, m.Message); len(p.Messages) != 2 {
		t.Errorf("%d messages", len(p.Messages))
	}
	s.discord.Inject("PATCH /webhooks/*/*/messages/@original", 1, discordtest.Forbidden())
	s.says(t, s.export(t, s.channel, s.bo))
	s.says(t, s.export(t, s.channel, s.bo, opt("by", exportByDM)))

	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 2*s.bot.sizes.File)
	for i := range noise {
		noise[i] = byte(' ' + 1 + random.IntN(90))
	}
	add(2, string(noise))
	s.says(t, s.export(t, s.channel, s.bo))
	add(3, strings.Repeat("x", s.bot.sizes.Unpacked))
	s.says(t, s.export(t, s.channel, s.bo))
}

// A press after a restart counts as one before it.
func TestForgettingIsConfirmedAfterARestart(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.discord.Say(s.channel, s.bo.ID, "hello")
	ask := s.use(t, s.bo, "memory forget")
	s.says(t, ask)
	s.again(t)
	s.turns(t, s.discord.Click(ask.Message, s.bo.ID, confirmForget))
	s.says(t, s.use(t, s.bo, "memory show"))
	_, p := s.personalData(t, s.export(t, s.channel, s.bo).Message)
	if len(p.Servers) != 1 {
		t.Fatalf("%+v", p)
	}
	if r := p.Servers[0].Receipts; len(r) != 1 || r[0].Messages != 1 ||
		r[0].Why != string(memory.WhyMember) || r[0].At.IsZero() {
		t.Errorf("the export has the receipts %+v", r)
	}
}
