package discordtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hark/internal/discordtest"
)

// recorder is a testing.TB that keeps what a test would have failed with.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// recorded is a fake Discord whose complaints are kept rather than failing the test.
func recorded(t *testing.T, opts ...discordtest.Option) (*recorder, *discordtest.Server) {
	t.Helper()
	r := &recorder{TB: t}
	s := discordtest.New(r, opts...)
	t.Cleanup(func() {
		for _, f := range r.cleanups {
			f()
		}
	})
	return r, s
}

func TestMisuseOfMessages(t *testing.T) {
	t.Parallel()
	embeds := make([]map[string]any, 2)
	for i := range embeds {
		embeds[i] = map[string]any{"description": strings.Repeat("d", 3001)}
	}
	with := func(text string, more map[string]any) map[string]any {
		b := plain(text)
		for k, v := range more {
			b[k] = v
		}
		return b
	}
	buttons := func(n int, id, label string) map[string]any {
		var row []map[string]any
		for i := range n {
			if row = append(row, map[string]any{"type": 2, "style": 2, "label": label, "custom_id": id}); n > 1 {
				row[i]["custom_id"] = fmt.Sprint(id, i)
			}
		}
		return map[string]any{"type": 1, "components": row}
	}
	rows := func(all ...map[string]any) map[string]any { return with("a", map[string]any{"components": all}) }
	allowed := func(m map[string]any) map[string]any { return map[string]any{"allowed_mentions": m} }
	for _, test := range []struct {
		name   string
		body   any
		kind   discordtest.Misuse
		status int
		code   int
	}{
		{"2,001 characters", plain(strings.Repeat("é", 2001)), discordtest.TooLong, 400, 50035},
		{"nothing", plain(""), discordtest.Empty, 400, 50006},
		{"spaces", plain(" \n "), discordtest.Empty, 400, 50006},
		{"no allowed_mentions", map[string]any{"content": "a"}, discordtest.Unlocked, 200, 0},
		{"parse null", with("a", allowed(map[string]any{"parse": nil})), discordtest.Unlocked, 200, 0},
		{"no parse", with("a", allowed(map[string]any{"users": []string{}})), discordtest.Unlocked, 200, 0},
		{"parse users", with("a", allowed(map[string]any{"parse": []string{"users"}})), discordtest.Unlocked, 200, 0},
		{"a ping", map[string]any{"content": "hi <@USER>"}, discordtest.Pings, 200, 0},
		{"a ping of everyone", map[string]any{"content": "@everyone"}, discordtest.Pings, 200, 0},
		{"a ping of a role", map[string]any{"content": "<@&ROLE>"}, discordtest.Pings, 200, 0},
		{"parse beside users", with("a", allowed(map[string]any{"parse": []string{"users"}, "users": []string{"1"}})),
			discordtest.MixedMentions, 400, 50035},
		{"embeds", with("", map[string]any{"embeds": embeds}), discordtest.EmbedsTooLong, 400, 50035},
		{"six buttons in a row", rows(buttons(6, "b", "B")), discordtest.BadComponents, 400, 50035},
		{"six rows", rows(buttons(2, "a", "B"), buttons(2, "b", "B"), buttons(2, "c", "B"), buttons(2, "d", "B"), buttons(2, "e", "B"), buttons(2, "f", "B")),
			discordtest.BadComponents, 400, 50035},
		{"a long custom_id", rows(buttons(1, strings.Repeat("i", 101), "B")), discordtest.BadComponents, 400, 50035},
		{"the same custom_id twice", rows(buttons(1, "b", "B"), buttons(1, "b", "C")), discordtest.BadComponents, 400, 50035},
		{"a long label", rows(buttons(1, "b", strings.Repeat("l", 81))), discordtest.BadComponents, 400, 50035},
		{"a button without a label", rows(map[string]any{"type": 1, "components": []map[string]any{{"type": 2, "style": 2, "custom_id": "b"}}}), discordtest.BadComponents, 400, 50035},
		{"nonce", with("a", map[string]any{"nonce": strings.Repeat("n", 26)}), discordtest.BadNonce, 400, 50035},
		{"not JSON", `{"content":`, discordtest.BadRequest, 400, 50109},
		{"ill-typed", map[string]any{"content": 5}, discordtest.BadRequest, 400, 50035},
		{"unlike the document", with("a", map[string]any{"components": []map[string]any{{"type": 1}}}),
			discordtest.Deviation, 400, 50035},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec, discord := recorded(t)
			if test.kind == discordtest.Deviation && !discord.Validating() {
				t.Skip("Discord's OpenAPI document is not there")
			}
			g, c, ana := place(discord)
			discord.SetOverwrite(c.ID, discordtest.ForMember(discord.Bot.ID, discordtest.MentionEveryone, 0))
			role := discord.AddRole(g.ID, "team", 0)
			r := newREST(t, discord)
			body := test.body
			if m, isMap := body.(map[string]any); isMap {
				if text, isText := m["content"].(string); isText {
					m["content"] = strings.NewReplacer("USER", ana.ID.String(), "ROLE", role.ID.String()).Replace(text)
				}
			}
			r.want(test.status, test.code, "POST", "/channels/"+c.ID.String()+"/messages", body)
			rec.expect(t, test.kind)
			if got := len(discord.Sent(c.ID)); (got == 1) != (test.status == 200) {
				t.Errorf("%d messages were sent", got)
			}
		})
	}
}

// expect asserts that this misuse was reported.
func (r *recorder) expect(t *testing.T, kind discordtest.Misuse) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
		if strings.Contains(f, string(kind)) {
			return
		}
	}
	t.Errorf("reported %q, want %q", r.failures, kind)
}

func (r *recorder) expectNothing(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) > 0 {
		t.Errorf("reported %q, want nothing", r.failures)
	}
}

func TestWhatIsNoMisuse(t *testing.T) {
	t.Parallel()
	rec, discord := recorded(t)
	_, c, ana := place(discord)
	said := discord.Say(c.ID, ana.ID, "hi")
	r := newREST(t, discord)
	path := "/channels/" + c.ID.String() + "/messages"
	r.want(200, 0, "POST", path, plain(strings.Repeat("🔥", 2000))) // Discord counts code points
	r.want(200, 0, "POST", path, plain("@everyone and <@"+ana.ID.String()+">"))
	named := plain("<@" + ana.ID.String() + ">")
	named["allowed_mentions"] = map[string]any{"parse": []string{}, "users": []string{ana.ID.String()}}
	r.want(200, 0, "POST", path, named)
	answer := plain("an answer")
	answer["message_reference"] = map[string]any{"message_id": said.ID}
	answer["allowed_mentions"] = map[string]any{"parse": []string{}, "replied_user": true}
	r.want(200, 0, "POST", path, answer)
	rec.expectNothing(t)
	sent := discord.Sent(c.ID)
	for i, want := range []int{0, 0, 1, 1} {
		if got := len(sent[i].Pinged); got != want {
			t.Errorf("message %d pinged %v, want %d", i, sent[i].Pinged, want)
		}
	}
	if m := sent[3]; m.Referenced == nil || m.Referenced.ID != said.ID || m.Type != 19 {
		t.Errorf("the answer refers to %+v, type %d", m.Referenced, m.Type)
	}
}

func TestMisuseOfEdits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		body   map[string]any
		kind   discordtest.Misuse
		status int
		code   int
	}{
		{"too long", plain(strings.Repeat("x", 2001)), discordtest.TooLong, 400, 50035},
		{"emptied", plain(""), discordtest.Empty, 400, 50006},
		{"unlocked", map[string]any{"content": "b"}, discordtest.Unlocked, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec, discord := recorded(t)
			_, c, _ := place(discord)
			r := newREST(t, discord)
			path := "/channels/" + c.ID.String() + "/messages"
			r.want(200, 0, "POST", path, plain("a"))
			r.want(test.status, test.code, "PATCH", path+"/"+discord.Sent(c.ID)[0].ID.String(), test.body)
			rec.expect(t, test.kind)
		})
	}
}
