package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// crumbs matches the line of links above a page's heading.
var crumbs = regexp.MustCompile(`<p class="crumbs">.*?</p>`)

// fromFile adds a channel as an export tells of it, with a message.
func (w *world) fromFile(c memory.Channel) {
	w.Helper()
	c.Guild, c.Unplaced = garden, true
	w.ids++
	w.apply(memory.ChannelSeen{Channel: c}, memory.Posted{Message: memory.Message{
		ID: memory.FirstMessageID(w.last) + w.ids, Guild: garden, Channel: c.ID, Author: zoe, Content: "in " + c.Name}})
}

// Forum posts that were imported without their forum stand apart, and not below the channel that comes before them by
// name.
func TestThreadsWithoutTheirChannelStandApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	const forum, another memory.ChannelID = 9_000_101, 9_000_102
	w.fromFile(memory.Channel{ID: 9_000_111, Parent: another, Kind: memory.PublicThread, Name: "aphids"})
	w.fromFile(memory.Channel{ID: 9_000_112, Parent: forum, Kind: memory.PublicThread, Name: "hoses"})
	w.fromFile(memory.Channel{ID: 9_000_113, Parent: another, Kind: memory.PublicThread, Name: "moles"})
	w.fromFile(memory.Channel{ID: 9_000_114, Parent: general, Kind: memory.PublicThread, Name: "seeds"})
	in := w.client()
	body := w.get(in, http.StatusOK, "/memory/%d", garden)
	var order []string
	for _, m := range regexp.MustCompile(`<th scope="(?:row|rowgroup)"[^>]*>.*?</th>`).FindAllString(body, -1) {
		name := regexp.MustCompile(`#[a-z]+|Threads whose channel`).FindString(m)
		if strings.Contains(m, `class="thread"`) {
			name = "> " + name
		}
		if name != "" {
			order = append(order, name)
		}
	}
	if got := strings.Join(order, " "); got != "#general > #seeds #planning #staff "+
		"Threads whose channel > #hoses > #aphids > #moles" {
		t.Error(got)
	}
	ask := w.get(in, http.StatusOK, "/ask")
	if !strings.Contains(ask, ">↳ #seeds<") || !strings.Contains(ask, ">(thread) #moles<") {
		t.Error(ask)
	}
	for _, c := range []memory.ChannelID{9_000_111, 9_000_112, 9_000_113} {
		if got := crumbs.FindString(w.get(in, http.StatusOK, "/memory/%d/%d", garden, c)); strings.Contains(got, "90001") {
			t.Error(got)
		}
	}
}

// The links above a channel name what is there, and lead only to what has a page.
func TestCrumbs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	const known, unknown memory.ChannelID = 9_000_201, 9_000_202
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: known, Guild: garden, Kind: memory.CategoryChannel, Name: "Beds"}})
	w.fromFile(memory.Channel{ID: 9_000_211, Parent: known, Name: "herbs"})
	w.fromFile(memory.Channel{ID: 9_000_212, Parent: unknown, Name: "roses"})
	w.fromFile(memory.Channel{ID: 9_000_213, Parent: general, Kind: memory.PublicThread, Name: "seeds"})
	in := w.client()
	start := fmt.Sprintf(`<p class="crumbs"><a href="/memory">Memory</a> › <a href="/memory/%d"><bdi>Garden</bdi></a>`, garden)
	for channel, want := range map[memory.ChannelID]string{
		9_000_211: start + ` › <bdi>Beds</bdi> ›</p>`,
		9_000_212: start + ` ›</p>`,
		9_000_213: start + fmt.Sprintf(` › <a href="/memory/%d/%d"><bdi>#general</bdi></a> ›</p>`, garden, general),
	} {
		if got := crumbs.FindString(w.get(in, http.StatusOK, "/memory/%d/%d", garden, channel)); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// What names a channel that isn't remembered doesn't lead there.
func TestNothingLeadsToWhatIsNotRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	w.apply(memory.LoreTold{Lore: memory.Lore{ID: 9_000_311, Guild: garden, Name: "Hose", Text: "see <#9000399>",
		By: zoe, Channel: general, At: w.last}})
	said := w.say(general, zoe, time.Minute, "https://discord.com/channels/9000001/9000399/9000398 and <#9000399>")
	in := w.client()
	for _, at := range []string{fmt.Sprintf("/memory/%d/lore", garden), fmt.Sprintf("/memory/%d/%d?at=%d", garden, general, said)} {
		body := w.get(in, http.StatusOK, "%s", at)
		if strings.Contains(body, `href="/memory/9000001/9000399`) || !strings.Contains(body, "#9000399") {
			t.Error(body)
		}
	}
}

// A forum post has its tags beside its kind, as its forum names them now.
func TestTheTagsOfAPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	const forum, post memory.ChannelID = 9_000_401, 9_000_402
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: forum, Guild: garden, Kind: memory.ForumChannel, Name: "help",
		Tags: []memory.Tag{{ID: 1, Name: "so<lved"}}}})
	w.fromFile(memory.Channel{ID: post, Parent: forum, Kind: memory.PublicThread, Name: "hoses",
		Tags: []memory.Tag{{ID: 1}, {ID: 2}, {Name: "water"}}})
	body := w.get(w.client(), http.StatusOK, "/memory/%d/%d", garden, post)
	if !strings.Contains(body, "hread, so&lt;lved, water, ") {
		t.Errorf("no tags in\n%s", body)
	}
}
