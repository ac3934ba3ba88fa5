package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/browsertest"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/llmtest"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browsertest.ThenClose(m)) }

const (
	garden   memory.GuildID   = 9_000_001
	everyone                  = memory.RoleID(garden)
	modRole  memory.RoleID    = 9_000_002
	general  memory.ChannelID = 9_000_011
	staff    memory.ChannelID = 9_000_012
	planning memory.ChannelID = 9_000_013
	harkUser memory.UserID    = 9_000_021
	ana      memory.UserID    = 9_000_022
	tom      memory.UserID    = 9_000_023
	zoe      memory.UserID    = 9_000_024
)

// world is a made-up server, with answers that a fake model wrote, and the site of its memory.
type world struct {
	testing.TB
	app    *setup.App
	site   *Site
	server *httptest.Server
	last   time.Time // something was said
	ids    memory.MessageID
}

func newWorld(t testing.TB) *world {
	t.Helper()
	model := llmtest.New(t, llmtest.Models("test-model"))
	model.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Say("Tom has taken over the server migration [1]. ", "The deadline is Friday [2].")
	})
	c := config.Default()
	c.Data, c.LLM.Model, c.LLM.BaseURL, c.Memory.Start = t.TempDir(), "test-model", model.URL(), "on"
	app, err := setup.Open(t.Context(), c, nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	w := &world{TB: t, app: app, last: time.Now().Add(-72 * time.Hour).Truncate(time.Second)}
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.site.ServeHTTP(rw, r)
	}))
	w.server.Start()
	t.Cleanup(w.server.Close)
	w.site = New(Config{Web: config.Web{Password: config.NewSecret("something to remember")}, Dir: c.Data,
		Address: w.server.Listener.Addr().String(), Version: "v1.2.3", App: func() *setup.App { return w.app },
		Examine: func(_ context.Context, _ bool, tell func(doctor.Finding)) {
			tell(doctor.Finding{Check: "configuration", OK: true, Detail: filepath.Base("config.toml")})
			tell(doctor.Finding{Check: "disk", OK: true, Detail: "little is free", Advice: "free some"})
		}})
	if err := w.site.Announce(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.site.Close(); err != nil {
			t.Error(err)
		}
	})
	w.site.checks.latest(w.site.Examine)
	w.site.checks.work.Wait()
	return w
}

func (w *world) apply(events ...memory.Event) {
	w.Helper()
	if err := w.app.Store.Apply(w.Context(), events...); err != nil {
		w.Fatal(err)
	}
}

// settle makes the server: #general and #planning for all, #staff for moderators.
func (w *world) settle() {
	w.Helper()
	const read = memory.ViewChannel | memory.ReadMessageHistory
	w.apply(memory.GuildSeen{At: w.last, Guild: memory.Guild{ID: garden, Name: "Garden", Owner: ana, Self: harkUser,
		Roles: []memory.Role{{ID: everyone, Name: "@everyone", Permissions: read}, {ID: modRole, Name: "Moderator"},
			{ID: modRole + 1, Name: "Hark", Bot: harkUser, Permissions: memory.Administrator}},
		Channels: []memory.Channel{{ID: general, Guild: garden, Name: "general"}, {ID: planning, Guild: garden, Name: "planning"},
			{ID: staff, Guild: garden, Name: "staff", Overwrites: []memory.Overwrite{{Role: everyone, Deny: memory.ViewChannel},
				{Role: modRole, Allow: memory.ViewChannel}}}}}})
	for _, p := range []memory.Person{{ID: ana, Username: "ana", Name: "Ana", Roles: []memory.RoleID{modRole}},
		{ID: tom, Username: "tom", Name: "Tom"}, {ID: zoe, Username: "zoe", Name: "Zoe"}} {
		p.Guild, p.RolesKnown = garden, true
		w.apply(memory.PersonSeen{Person: p})
	}
}

// say has somebody say something, some time after what was said last.
func (w *world) say(channel memory.ChannelID, who memory.UserID, after time.Duration, text string,
	reply ...memory.MessageID) memory.MessageID {
	w.Helper()
	w.last = w.last.Add(after)
	w.ids++
	m := memory.Message{ID: memory.FirstMessageID(w.last) + w.ids, Guild: garden, Channel: channel, Author: who, Content: text}
	if strings.Contains(text, "<@"+harkUser.String()+">") {
		m.Mentions = []memory.UserID{harkUser}
	}
	if len(reply) > 0 {
		m.ReplyTo = reply[0]
	}
	w.apply(memory.Posted{Message: m, Live: true})
	return m.ID
}

// ask has somebody ask Hark, and logs its answer as the bot does.
func (w *world) ask(channel memory.ChannelID, who memory.UserID, after time.Duration, text string) memory.MessageID {
	w.Helper()
	id := w.say(channel, who, after, "<@"+harkUser.String()+"> "+text)
	if err := w.app.Index(w.Context(), nil); err != nil {
		w.Fatal(err)
	}
	a, err := w.app.Answers.Answer(w.Context(), answer.Question{ID: id, Guild: garden, Channel: channel, Asker: who,
		Name: "Zoe", Text: text, Now: id.Time()}, nil)
	if err != nil || a.ModelError != nil {
		w.Fatal(err, a.ModelError)
	}
	w.last = w.last.Add(4 * time.Second)
	w.ids++
	m := memory.Message{ID: memory.FirstMessageID(w.last) + w.ids, Guild: garden, Channel: channel, Author: harkUser,
		Kind: memory.FromHark, Content: a.Text, ReplyTo: id}
	a.Trace.Answer = m.ID
	w.apply(append([]memory.Event{memory.Posted{Message: m}, memory.Answered{Trace: a.Trace}},
		answer.Recorded(a.Records, a.Trace, w.last)...)...)
	return m.ID
}

// talk fills the server with what people say, and returns an answer of Hark's.
func (w *world) talk() memory.MessageID {
	w.Helper()
	w.settle()
	first := w.say(planning, ana, time.Minute, "The deadline of Project X is Friday, 31 July, confirmed by the client")
	w.say(planning, tom, time.Minute, "I have taken over the server migration and begin on Monday", first)
	w.say(planning, zoe, time.Minute, "Then I water the tomatoes in the greenhouse meanwhile")
	secret := w.say(staff, ana, time.Minute, "Who has the server migration? The budget of the server migration is 90 gold pieces")
	w.say(general, zoe, 5*time.Hour, "Does anybody have seeds of the blue tomatoes?")
	w.say(general, tom, time.Minute, "In the shed, behind the watering cans")
	for i := range 12 {
		w.say(general, []memory.UserID{ana, tom, zoe}[i%3], 3*time.Minute, fmt.Sprintf("Row %d of the beans is planted now", i))
	}
	w.apply(memory.Starred{Guild: garden, Channel: planning, ID: first, On: true, At: w.last},
		memory.LoreTold{Lore: memory.Lore{ID: int64(first) + 7, Guild: garden, Name: "Project X", Text: "The new greenhouse",
			By: zoe, Channel: planning, At: w.last, Sources: []memory.MessageRef{{Channel: planning, Message: first}}}},
		memory.FactTold{Guild: garden, User: zoe, Fact: memory.Fact{ID: int64(secret) + 9, Text: "grows tomatoes", By: zoe,
			Channel: general}},
		memory.SettingChosen{Guild: garden, Key: memory.SettingPersona, Value: "a gardener", By: tom, At: w.last},
		memory.SettingChosen{Guild: garden, Channel: planning, Key: memory.SettingMode, Value: string(builder.ModeSearch),
			By: zoe, At: w.last},
		memory.GapFound{Gap: memory.Gap{Guild: garden, Channel: general, After: memory.FirstMessageID(w.last.Add(time.Minute)),
			Until: memory.FirstMessageID(w.last.Add(2 * time.Minute))}})
	w.say(general, tom, 4*time.Minute, "The beans are done")
	return w.ask(planning, zoe, time.Minute, "who has the server migration, and when is Project X due?")
}

// client is a browser without a screen, logged in by a link.
func (w *world) client() *http.Client {
	w.Helper()
	jar := &cookies{}
	c := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := c.Get(w.site.Link())
	if err != nil {
		w.Fatal(err)
	}
	_ = response.Body.Close()
	if jar.of == nil {
		w.Fatal("the link sets no cookie")
	}
	return c
}

// path returns the address of a page.
func (w *world) path(format string, args ...any) string {
	return strings.TrimSuffix(w.site.access.url(), "/") + fmt.Sprintf(format, args...)
}
