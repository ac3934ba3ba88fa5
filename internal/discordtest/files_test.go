package discordtest_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"hark/internal/discordtest"
)

// part is a file of a form: the field it is in, what it is called and what it holds.
type part struct{ field, name, data string }

// form sends a message with files.
func (r *rest) form(status, code int, method, path, payload string, parts ...part) {
	r.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if payload != "" {
		_ = w.WriteField("payload_json", payload)
	}
	for _, p := range parts {
		f, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, p.field, p.name)}})
		_, _ = io.WriteString(f, p.data)
	}
	w.Close()
	q, err := http.NewRequest(method, "https://discord.com/api/v9"+path, &b)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", r.token)
	q.Header.Set("Content-Type", w.FormDataContentType())
	a, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(a.Body)
	if a.StatusCode != status || code != 0 && !strings.Contains(string(text), fmt.Sprintf(`"code":%d`, code)) {
		r.t.Errorf("%s %s: %d %s, want %d, %d", method, path, a.StatusCode, text, status, code)
	}
}

func TestFormsAndTheirRules(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, _ := place(discord)
	r := newREST(t, discord)
	path := "/channels/" + c.ID.String() + "/messages"
	const quiet = `"allowed_mentions":{"parse":[]}`
	files := func(n int) (all []part) {
		for i := range n {
			all = append(all, part{fmt.Sprintf("files[%d]", i), fmt.Sprintf("%d.txt", i), "x"})
		}
		return all
	}
	discord.Allow(discordtest.BadFiles, discordtest.Empty, discordtest.BadRequest, discordtest.Deviation)
	for _, tt := range []struct {
		status, code int
		payload      string
		parts        []part
	}{
		{400, 0, "", files(1)},
		{400, 50035, `{` + quiet + `}`, []part{{"upload", "a.txt", "x"}}},
		{400, 50035, `{` + quiet + `}`, []part{{"files[0]", "a.txt", "x"}, {"files[0]", "b.txt", "x"}}},
		{400, 50035, `{"attachments":[{"id":"1","filename":"a.txt"}],` + quiet + `}`, files(1)},
		{400, 50035, `{` + quiet + `}`, files(11)},
		{413, 40005, `{` + quiet + `}`, []part{{"files[0]", "a.txt", strings.Repeat("x", 10<<20+1)}}},
	} {
		before := len(discord.Misuses())
		r.form(tt.status, tt.code, "POST", path, tt.payload, tt.parts...)
		if len(discord.Misuses()) == before {
			t.Errorf("%s with %d files isn't reported", tt.payload, len(tt.parts))
		}
	}
	r.form(200, 0, "POST", path, `{"attachments":[{"id":"0","filename":"0.txt","description":"the first"}],`+quiet+`}`, files(2)...)
	m := discord.Sent(c.ID)[0]
	if len(m.Attachments) != 2 || m.Attachments[0].Description != "the first" || m.Attachments[1].Filename != "1.txt" {
		t.Fatalf("sent %+v", m.Attachments)
	}
	kept, gone := m.Attachments[1], m.Attachments[0]
	at := path + "/" + m.ID.String()
	r.want(200, 0, "PATCH", at, map[string]any{"attachments": []any{map[string]any{"id": kept.ID}}, "flags": 4})
	m = discord.Sent(c.ID)[0]
	_, there := discord.File(kept)
	if _, still := discord.File(gone); len(m.Attachments) != 1 || m.Attachments[0].ID != kept.ID || !there || still || m.Flags&4 == 0 {
		t.Errorf("edited %+v", m)
	}
	r.form(200, 0, "PATCH", at, `{"content":"more","flags":0,`+quiet+`}`, files(1)...)
	if m = discord.Sent(c.ID)[0]; len(m.Attachments) != 2 || m.Flags&4 != 0 {
		t.Errorf("with one more %+v", m)
	}
	r.want(400, 50006, "PATCH", at, map[string]any{"content": "", "attachments": []any{}, "allowed_mentions": map[string]any{"parse": []string{}}})
	discord.SetOverwrite(c.ID, discordtest.ForMember(discord.Bot.ID, 0, discordtest.AttachFiles))
	r.form(403, 50013, "PATCH", at, `{`+quiet+`}`, files(1)...)
	discord.Delete(c.ID, m.ID)
	if _, there := discord.File(m.Attachments[0]); there {
		t.Error("a deleted message's file is still there")
	}
}

func TestFilesOfDiscord(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	said := discord.Say(c.ID, ana.ID, "", discordtest.WithData("a.txt", "", "text/plain", []byte("data")), discordtest.WithFile("b.txt", ""))
	get := func(a discordtest.Attachment, token string) (int, string) {
		q, err := http.NewRequest("GET", a.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			q.Header.Set("Authorization", token)
		}
		r, err := discord.Client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(data)
	}
	if status, data := get(said.Attachments[0], ""); status != 200 || data != "data" || said.Attachments[0].Size != 4 {
		t.Errorf("%d %q", status, data)
	}
	if status, _ := get(said.Attachments[1], ""); status != 404 {
		t.Errorf("a file without data: %d", status)
	}
	discord.Inject("GET /attachments/*/*/*", 1, discordtest.ServerError())
	if status, _ := get(said.Attachments[0], ""); status != 500 {
		t.Errorf("in trouble: %d", status)
	}
	discord.Allow(discordtest.BadFiles)
	get(said.Attachments[0], "Bot "+discord.Token)
	if n := len(discord.Misuses()); n != 1 {
		t.Errorf("%d misuses", n)
	}
	discord.Expire(said.Attachments[0])
	if status, _ := get(said.Attachments[0], ""); status != 404 {
		t.Errorf("an address that has expired: %d", status)
	}
}
