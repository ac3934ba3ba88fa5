package bot

import (
	"strconv"
	"sync"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

const (
	findsMost = 500              // searches of which it is known what they found
	findsKept = 15 * time.Minute // after it was last looked at
)

// finds know what members have found, for as long as they may turn its pages. There are ids in it and nothing that was said:
// each page is read anew, by whoever may read it then.
type finds struct {
	mu   sync.Mutex
	list map[snowflake]*discovery // by the use that searched
}

// discovery is what a member has found somewhere.
type discovery struct {
	membership
	channel memory.ChannelID // where they searched
	found   []answer.Found
	words   bool      // whether it was found by words only
	at      time.Time // when it was last looked at
}

func (d *discovery) pages() int { return pagesOf(len(d.found)) }

// pagesOf is how many pages so many messages take.
func pagesOf(found int) int { return (found + foundPerPage - 1) / foundPerPage }

func newFinds() *finds { return &finds{list: map[snowflake]*discovery{}} }

// put keeps what was found, in the place of what is over or was looked at longest ago.
func (f *finds) put(id snowflake, found *discovery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var oldest snowflake
	for other, o := range f.list {
		if found.at.Sub(o.at) >= findsKept {
			delete(f.list, other)
		} else if oldest == 0 || o.at.Before(f.list[oldest].at) {
			oldest = other
		}
	}
	if len(f.list) >= findsMost {
		delete(f.list, oldest)
	}
	f.list[id] = found
}

// get is what somebody has found, or nil if that isn't known, or not any more.
func (f *finds) get(id snowflake, who membership, now time.Time) *discovery {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.list[id]
	if found == nil || found.membership != who || now.Sub(found.at) >= findsKept {
		return nil
	}
	found.at = now
	return found
}

// pagerName is the name of the buttons that turn pages, whose ids have the search's and the page's number.
const pagerName = "found"

// pager are the buttons below a page, the first of which is 0.
func pager(id snowflake, page, pages int, l locale) []component {
	if pages < 2 {
		return nil
	}
	at := pagerName + ":" + short36(int64(id)) + ":"
	turn := func(label string, to int) component {
		b := button(styleGrey, label, at+strconv.Itoa(to))
		b.Disabled = to < 0 || to >= pages
		return b
	}
	here := button(styleGrey, l.number(page+1)+"/"+l.number(pages), at+"here")
	here.Disabled = true
	return []component{row(turn("«", page-1), here, turn("»", page+1))}
}

// pageAsked is the search and the page that a button's id names; false if it names none.
func pageAsked(x *exchange) (id snowflake, page int, ok bool) {
	args := x.args()
	if len(args) != 2 {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(args[0], 36, 64)
	page, bad := strconv.Atoi(args[1])
	return snowflake(n), page, err == nil && bad == nil
}
