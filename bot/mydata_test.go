package bot

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hark/bot/command"
	"hark/internal/discordtest"
	"hark/internal/personaldata"
	"hark/memory"
)

// hiddenChannel is a remembered channel that only Hark sees.
func (s *scene) hiddenChannel(t *testing.T) discordtest.Channel {
	t.Helper()
	hidden := s.secret("hideout")
	s.apply(t, memory.Chose{Guild: s.guildID, Channel: memory.ChannelID(hidden.ID), Choice: memory.Remember})
	return hidden
}

// An edited fact keeps the place and the message that it was learned from.
func TestLearnedFactsAreChanged(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	said := s.posts(t, s.channel, s.bo.ID, "I sail on Sundays")
	learned := memory.Fact{ID: 5, Text: "sails on Sundays", By: s.boID,
		Channel: s.channelID, Message: memory.MessageID(said.ID)}
	s.apply(t, memory.FactTold{Guild: s.guildID, User: learned.By, Fact: learned})
	s.says(t, s.use(t, s.bo, "memory edit", opt("fact", "5"), opt("text", "sails on Mondays")))
	if told, _ := find(s.log, func(f memory.FactTold) bool {
		return f.Fact.Text == "sails on Mondays"
	}); told.Fact.Channel != learned.Channel || told.Fact.Message != learned.Message {
		t.Errorf("what was learned became %+v", told.Fact)
	}
	s.says(t, s.use(t, s.bo, "memory show"))
	form := s.discord.Slash(s.channel, s.bo.ID, "memory edit", opt("fact", "sails on mondays"))
	form.Wait()
	s.apply(t, memory.Opted{Guild: s.guildID, User: s.boID, Out: true})
	s.says(t, form.Submit(map[string]string{"text": "plays the horn"}).WaitMessage())
}

func TestAllAboutOneselfIsShown(t *testing.T) {
	t.Parallel()
	s := loreful(t, "Safe")
	s.posts(t, s.channel, s.bo.ID, "said long ago")
	s.apply(t, memory.Forgetting{Guild: s.guildID, User: s.boID,
		Why: memory.WhyMember, At: s.discord.Now().Add(time.Minute)})
	if _, err := s.log.Store.Forget(t.Context(), memory.Forgetting{ID: 1}, nil); err != nil {
		t.Fatal(err)
	}
	s.discord.Advance(time.Hour)
	hidden := s.hiddenChannel(t)
	said := s.discord.Say(s.channel, s.bo.ID, "the deadline is Friday")
	s.posts(t, hidden.ID, s.bo.ID, "said in the hideout")
	s.use(t, s.bo, "memory alias", opt("name", "Bobby Tables"))
	at := s.discord.Now()
	for i, l := range []memory.Lore{
		{Name: "Tuba", Text: "is brass", By: s.boID}, {Name: "Keys",
			Text: "bobby tables has them", By: s.anaID},
		{Name: "Boat", Text: "is blue", By: s.anaID}, {Name: "Crew", Text: "all but <@" +
			s.bo.ID.String() + ">"},
		{Name: "Safe", Text: "bo has the code", By: s.boID},
	} {
		l.ID, l.Guild, l.At = int64(i+1), s.guildID, at
		s.apply(t, memory.LoreTold{Lore: l})
	}
	s.apply(t, memory.Starred{Guild: s.guildID, Channel: s.channelID,
		ID: memory.MessageID(said.ID), On: true, At: at},
		memory.Answered{Trace: memory.Trace{Guild: s.guildID,
			Channel: s.channelID, Answer: memory.MessageID(said.ID) + 1, Asker: s.boID}},
		memory.Recorded{Record: memory.Record{CallID: "1", Timestamp: at, Speaker: memory.SpeakerUser,
			Method: "m", Asker: s.boID, Channel: s.channelID}},
		memory.Spent{Guild: s.guildID, User: s.boID,
			Question: memory.MessageID(said.ID), Tokens: 1234},
		memory.Learn{Guild: s.guildID, On: true,
			At: at}, memory.Learn{Guild: s.guildID, User: s.boID, On: true, At: at},
		memory.SettingChosen{Guild: s.guildID, Key: memory.SettingRetention, Value: "90d", At: at},
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
	_, p := s.personalData(t, s.export(t, s.channel, s.bo).Message)
	if r := p.Servers[0].Receipts; len(r) != 1 || r[0].Messages != 1 || r[0].Why != string(memory.WhyMember) ||
		r[0].At.IsZero() {
		t.Errorf("the export has the receipts %+v", r)
	}
}

// personalData reads the file of a message.
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

// export uses /memory export, after any before it.
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
	for i, l := range []memory.Lore{{Name: "Tuba", Text: "is brass", By: s.boID},
		{Name: "Boat", Text: "strange lore", By: s.anaID},
		{Name: "Safe", Text: "changed where bo can't read", By: s.boID}} {
		l.ID, l.Guild, l.At = int64(i+1), s.guildID, s.discord.Now()
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

// A slow export blocks neither its member's next nor others'.
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
			Guild: s.guildID, Channel: s.channelID,
			Author: s.boID, Content: text}
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

func TestPrivacyTellsWhatIsSo(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	hidden := s.hiddenChannel(t)
	never := s.addChannel("attic")
	adults := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "adults", NSFW: true})
	waitLogged(t, s.log, "the channels", func(e memory.ChannelSeen) bool {
		return e.Channel.ID == memory.ChannelID(adults.ID)
	})
	guild := s.guildID
	s.apply(t, memory.Chose{Guild: guild, Channel: memory.ChannelID(never.ID), Choice: memory.Ignore},
		memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(never.ID), Key: memory.SettingRetention,
			Value: "1d"})
	bare := s.everyPage(t, s.discord.Slash(s.channel, s.bo.ID, "privacy"))
	for _, text := range []string{hidden.ID.String(), "`/catchup`", "`/memory learn`"} {
		if strings.Contains(bare, text) {
			t.Errorf("%q is in %q", text, bare)
		}
	}
	at := func(channel discordtest.ID) string {
		t.Helper()
		return s.everyPage(t, s.discord.Slash(channel, s.bo.ID, "privacy"))
	}
	at(never.ID)
	at(adults.ID)
	privacy := command.Privacy{Operator: "Ann, <https://ann.example>", Prompts: 90 * time.Minute,
		Records: 72 * time.Hour, Summaries: true,
		Models: []string{"llm.example",
			"big.example:8080"}, Embedder: "vectors.example", Reranker: "order.example", Vision: true}
	cfg := s.bot.cfg
	cfg.Privacy, cfg.Retention = privacy, 48*time.Hour
	s.restartWith(t, cfg)
	s.apply(t, memory.Learn{Guild: guild, On: true, At: s.discord.Now()})
	at(s.channel)
	s.apply(t, memory.Learn{Guild: guild, At: s.discord.Now().Add(time.Second)})
	if got := at(s.channel); strings.Contains(got, "`/memory learn`") {
		t.Errorf("where nothing is learned: %q", got)
	}
	dm := s.discord.DM(s.bo.ID, "hello")
	at(dm.ChannelID)
}
