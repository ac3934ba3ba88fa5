package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// get returns a page for who is logged in.
func (w *world) get(c *http.Client, want int, format string, args ...any) string {
	w.Helper()
	code, body, _ := fetch(w, c, request(w, "GET", w.path(format, args...)))
	if code != want {
		w.Fatalf("%s: %d, want %d:\n%s", fmt.Sprintf(format, args...), code, want, body)
	}
	return body
}

// What isn't there is told so, whatever an address names.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk()
	in := w.client()
	for at, want := range map[string]int{
		"/memory/999/9000011": http.StatusNotFound, "/memory/9000001/1": http.StatusNotFound, "/memory/0/9000011": http.StatusNotFound,
		"/memory/9000001/people/0": http.StatusNotFound, "/memory/9000001/people/12345": http.StatusNotFound,
		"/answers/9000013/5": http.StatusNotFound, "/answers?person=Nobody": http.StatusOK, "/ask?q=x&mode=odd": http.StatusBadRequest,
		"/ask?q=x&layout=odd": http.StatusBadRequest, "/ask?q=x&in=7": http.StatusBadRequest,
		"/memory/9000001/9000011?at=x": http.StatusBadRequest, "/forget?before=0001-01-01": http.StatusOK,
		"/static/templates%2fpage.html": http.StatusNotFound, "/audience?guild=9000001&place=4": http.StatusBadRequest,
	} {
		w.get(in, want, "%s", at)
	}
	if said := w.get(in, http.StatusOK, "/answers?person=Nobody&outcome=unanswered"); !strings.Contains(said, "no person is called") {
		t.Error(said)
	}
	if said := w.get(in, http.StatusOK, "/forget?before=0001-01-01"); strings.Contains(said, "This would go") {
		t.Error(said)
	}
}

// Every link of a page within the site leads to a page.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.talk()
	in := w.client()
	examples := w.examples(answer)
	seen := map[string]bool{}
	at := []string{"/", "/ask?q=" + url.QueryEscape("who has the server migration of Project X?"), // everywhere
		examples["GET /ask"], examples["GET /audience"], examples["GET /forget"]}
	for len(at) > 0 && len(seen) < 300 {
		page := strings.ReplaceAll(at[0], "&amp;", "&")
		at = at[1:]
		page, _, _ = strings.Cut(page, "#")
		if seen[page] || page == "" {
			continue
		}
		seen[page] = true
		body := w.get(in, http.StatusOK, "%s", page)
		for _, part := range strings.Split(body, `href="`)[1:] {
			if link, _, _ := strings.Cut(part, `"`); strings.HasPrefix(link, "/") {
				at = append(at, link)
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d pages are linked", len(seen))
	}
}

// A gap is drawn once, wherever it is: before, between and after the messages of a page, and over several.
func TestGapsAreDrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	var ids []memory.MessageID
	for i := range 2*logShown + 10 {
		ids = append(ids, w.say(planning, tom, 10*time.Minute, fmt.Sprintf("line %d", i)))
	}
	gap := func(after, until memory.MessageID) {
		w.apply(memory.GapFound{Gap: memory.Gap{Guild: garden, Channel: planning, After: after, Until: until}})
	}
	in := w.client()
	drawn := func(of string) int {
		return strings.Count(w.get(in, http.StatusOK, "/memory/%d/%d%s", garden, planning, of), "Something is missing here")
	}
	last := len(ids) - 1
	first := fmt.Sprintf("?before=%d", ids[5])
	for _, c := range []struct {
		what         string
		after, until memory.MessageID
		newest, old  int
	}{
		{"after the last", ids[last], ids[last] + 1000, 1, 0},
		{"before the first", ids[0] - 1000, ids[0] - 1, 1, 1},
		{"over several", ids[last-5], ids[last-2], 2, 1},
		{"between pages", ids[last-logShown], ids[last-logShown+1] - 1, 3, 1},
	} {
		gap(c.after, c.until)
		if newest, old := drawn(""), drawn(first); newest != c.newest && c.what != "before the first" || old != c.old {
			t.Errorf("%s: %d gaps on the newest page, want %d, and %d on the oldest, want %d", c.what, newest, c.newest, old, c.old)
		}
	}
}

// Who wrote today is in the plot, and all of a channel's messages are on its pages, once.
func TestTheLogIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	w.last = time.Now().Add(-20 * time.Hour)
	for i := range 250 {
		w.say(general, tom, 4*time.Minute, fmt.Sprintf("line %d", i))
	}
	in := w.client()
	body := w.get(in, http.StatusOK, "/memory/%d/%d", garden, general)
	if !strings.Contains(body, "Who wrote how much, by week: 250 in all") {
		t.Error("the plot leaves out today's messages")
	}
	lines := map[string]int{}
	for at := fmt.Sprintf("/memory/%d/%d", garden, general); at != ""; {
		body := w.get(in, http.StatusOK, "%s", at)
		for part := range strings.SplitSeq(body, `dir="auto">line `) {
			if n, _, is := strings.Cut(part, "</div>"); is && len(n) < 4 {
				lines[n]++
			}
		}
		_, rest, more := strings.Cut(body, `<a href="`+fmt.Sprintf("/memory/%d/%d?", garden, general)+"before=")
		if at = ""; more {
			before, _, _ := strings.Cut(rest, `"`)
			at = fmt.Sprintf("/memory/%d/%d?before=%s", garden, general, before)
		}
	}
	for i := range 250 {
		if n := lines[fmt.Sprint(i)]; n != 1 {
			t.Errorf("line %d is shown %d times", i, n)
		}
	}
}

// Direct messages are nobody's but their writers'.
func TestDirectMessagesStayClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk()
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: 777, Guild: memory.DirectGuild, Kind: memory.DirectChannel}},
		memory.PersonSeen{Person: memory.Person{ID: zoe, Guild: memory.DirectGuild, Name: "Zoe"}},
		memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(w.last), Guild: memory.DirectGuild, Channel: 777, Author: zoe,
			Content: "a secret of Zoe"}})
	in := w.client()
	for _, at := range []string{"/", "/memory", "/answers", "/ask?q=secret", "/forget", "/settings"} {
		if body := w.get(in, http.StatusOK, "%s", at); strings.Contains(body, "a secret of Zoe") {
			t.Errorf("%s tells of it", at)
		}
	}
	for _, at := range []string{"/memory/0", "/memory/0/777", "/memory/0/people"} {
		w.get(in, http.StatusNotFound, "%s", at)
	}
}

// Another Hark that can't run leaves the key of the one that does.
func TestKeyBelongsToItsSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := New(w.site.Config)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := readKey(w.app.Config.Data); err != nil {
		t.Error(err)
	}
	if err := other.Announce(); err != nil { // as after the first one's end
		t.Fatal(err)
	}
	if err := w.site.access.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := readKey(w.app.Config.Data); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
}

// Each line of a prompt links to the message that it tells, in every layout.
func TestPromptsLinkToTheirMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk()
	in := w.client()
	said, err := w.app.Store.Log(t.Context(), planning, 0, 1<<62, 3)
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`<a href="([^"]+)"[^>]*>([^<]*)</a>`)
	for _, layout := range builder.Layouts() {
		body := w.get(in, http.StatusOK, "/ask?q=who+has+the+server+migration+of+Project+X&as=Zoe&in=%d&layout=%s", planning, layout)
		_, prompt, _ := strings.Cut(body, "<pre")
		found := 0
		for _, l := range link.FindAllStringSubmatch(prompt, -1) {
			for _, m := range said {
				if strings.Contains(html.UnescapeString(l[2]), m.Content) {
					if found++; !strings.Contains(l[1], "at="+m.ID.String()) {
						t.Errorf("%s: %q leads to %s, want message %d", layout, l[2], l[1], m.ID)
					}
				}
			}
		}
		if found != len(said) {
			t.Errorf("%s: %d of %d messages are linked", layout, found, len(said))
		}
		if !strings.Contains(prompt, fmt.Sprintf(`href="/memory/%d/people/%d"`, garden, zoe)) && layout != builder.LayoutPlain {
			t.Errorf("%s: the asker isn't linked", layout)
		}
	}
}

// The page of settings tells what admins stated of roles, and what of it isn't used any more.
func TestSettingsTellWhatIsStatedOfRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	const crew, keepers memory.RoleID = 9000051, 9000052
	stated := memory.Implied{Role: crew, Also: keepers}
	refuted := memory.Implied{Role: keepers, Also: crew}
	g := &memory.Guild{ID: garden}
	w.apply(memory.RoleSeen{Guild: garden, Role: memory.Role{ID: crew, Name: "Crew"}},
		memory.RoleSeen{Guild: garden, Role: memory.Role{ID: keepers, Name: "Keepers"}}, g.Stated(stated, tom, w.last),
		g.Refuted(refuted, w.last))
	body := w.get(w.client(), http.StatusOK, "/settings?guild=%d", garden)
	for _, want := range []string{"Crew also has @Keepers<", "Keepers also has @Crew (not used:"} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q:\n%s", want, body)
		}
	}
}

// An answer in the terminal may be about people and channels of any server: they have their names there, too.
func TestNamesInTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	const (
		terminal memory.ChannelID = 1
		operator memory.UserID    = 77
		question memory.MessageID = 1001
		answered memory.MessageID = 1002
	)
	w.apply(
		memory.GuildSeen{At: w.last, Guild: memory.Guild{ID: memory.LocalGuild, Self: 1,
			Channels: []memory.Channel{{ID: terminal, Guild: memory.LocalGuild, Name: "terminal"}}}},
		memory.PersonSeen{Person: memory.Person{ID: operator, Guild: memory.LocalGuild, Name: "Olga"}},
		memory.Posted{Message: memory.Message{ID: question, Guild: memory.LocalGuild, Channel: terminal, Author: operator,
			Content: "@hark who waters the tomatoes?"}},
		memory.Posted{Message: memory.Message{ID: answered, Guild: memory.LocalGuild, Channel: terminal, Author: 1,
			Kind: memory.FromHark, Content: fmt.Sprintf("<@%d> does, see <#%d>.", tom, planning)}},
		memory.Answered{Trace: memory.Trace{Guild: memory.LocalGuild, Channel: terminal, Question: question, Answer: answered,
			Asker: operator, Named: []memory.UserID{tom}}})
	page := w.get(w.client(), http.StatusOK, "/answers/%d/%d", terminal, answered)
	for _, want := range []string{"Olga", `<bdi class="name">@Tom</bdi> does, see <bdi class="name">#planning</bdi>.`, fmt.Sprintf(`<a href="/memory/%d/people/%d"><bdi>Tom</bdi></a>`, garden, tom)} {
		if !strings.Contains(page, want) {
			t.Errorf("%q isn't in\n%s", want, page)
		}
	}
	if strings.Contains(page, ">"+tom.String()+"<") {
		t.Error("Tom is a number")
	}
}
