package command

import (
	"context"
	"fmt"
	"strings"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/memory"
)

// relatedCommand is in the menu of a message.
const relatedCommand = "Find related"

const (
	mostFound    = 25 // messages of a search
	foundPerPage = 5
	beforeLength = 80 // graphemes quoted of the message before a found one
)

const (
	askForSomething = "What are you looking for? Please write a question or a few words."
	foundNothing    = "I found nothing about that in what you may read. Other words may find it."
	foundNoneHere   = "I found nothing about that, with these filters, in what you may read. Try a longer span, or leave out `in`, `from`, `since` or `until`; other words may find it, too."
	foundNoneLeft   = "Nothing of this page is left that you may read."
	searchIsOver    = "I no longer know what this search found. Please search again."
	noTextToRelate  = "This message has no text, so there is nothing that I could look for. I can't read images and embeds."
)

// find searches for what /recall asks.
func (c *Commands) find(ctx context.Context, x *interaction) (response, error) {
	q := c.question(x)
	q.Text = strings.TrimSpace(q.Text)
	if q.Text == "" {
		return response{}, refusal(x.Text(askForSomething))
	}
	var err error
	q.Filter, err = c.filter(x)
	if err != nil {
		return response{}, err
	}
	nothing := x.Text(foundNothing)
	if len(q.Filter.In)+len(q.Filter.From) > 0 || !q.Filter.Since.IsZero() || !q.Filter.Until.IsZero() {
		nothing = x.Text(foundNoneHere)
	}
	return c.showFound(ctx, x, q, heading(x.Locale, q.Text), nothing)
}

func heading(l locale.Locale, question string) string {
	return l.Text("**What was said about “%s”**", markdown.AsSaid(question, 100))
}

// filter returns the filter that the options give.
func (c *Commands) filter(x *interaction) (answer.Filter, error) {
	var f answer.Filter
	if id, given := x.OptionID("in"); given {
		f.In = []memory.ChannelID{memory.ChannelID(id)}
	}
	if id, given := x.OptionID("from"); given {
		f.From = []memory.UserID{memory.UserID(id)}
	}
	since, _, err := c.timeOption(x, "since")
	if err != nil {
		return f, err
	}
	_, until, err := c.timeOption(x, "until")
	if err != nil {
		return f, err
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return f, refusal(x.Text("`since` is after `until`, so nothing was said in between."))
	}
	f.Since = since
	f.Until = until
	return f, nil
}

// related returns the text of the message in whose menu x is used.
func (x *interaction) related() string {
	m, _ := x.target()
	if m == nil || m.Content == nil {
		return ""
	}
	return strings.TrimSpace(memory.Clean(*m.Content))
}

func relatesNothing(x *interaction) string {
	if x.related() == "" {
		return x.Text(noTextToRelate)
	}
	return ""
}

// findRelated searches for a message's text, which isn't kept. If its author has opted out or nothing is remembered
// there, it is sent to no server.
func (c *Commands) findRelated(ctx context.Context, x *interaction) (response, error) {
	q := c.question(x)
	m, channel := x.target()
	q.ID = memory.MessageID(x.Data.Target)
	q.Channel = channel
	q.Text = markdown.Clip(x.related(), longestQuestion)
	q.Local = !x.remembers(q.Channel)
	if !q.Local && m.Author != nil {
		var err error
		q.Local, err = memory.HasOptedOut(ctx, c.Memory, q.Guild, memory.UserID(m.Author.ID))
		if err != nil {
			return response{}, fmt.Errorf("look up who wrote message %d: %w", q.ID, err)
		}
	}
	heading := x.Text("**What is related to [this message](<%s>)**", markdown.JumpURL(q.Guild, q.Channel, q.ID))
	return c.showFound(ctx, x, q, heading, x.Text(foundNothing))
}

// showFound searches and shows the first page, or the text nothing.
func (c *Commands) showFound(ctx context.Context, x *interaction, q answer.Question,
	heading, nothing string) (response, error) {
	if _, h := c.counted(ctx, x); h != nil {
		return response{Content: reply.LimitReached(x.Locale, h)}, nil
	}
	q.Limit = mostFound
	f, err := c.Answers.Find(ctx, q)
	if err != nil {
		return response{}, err
	}
	c.warn(x, f.Unranked, "found without the reranker")
	if len(f.Found) == 0 {
		return response{Content: markdown.Lines(nothing, when(f.Below > 0, "-# "+leftOutText(x.Locale, f.Below)))}, nil
	}
	d := &resultCache{
		Membership: memory.Membership{Guild: q.Guild, User: q.Asker},
		channel:    q.Channel,
		found:      f.Found,
		below:      f.Below,
		words:      f.TextOnly,
	}
	if d.pages() > 1 {
		c.results.Put(x.ID, d, q.Now, q.Now.Add(resultTTL))
	}
	return c.page(ctx, q, x, d, page{heading: heading, id: x.ID})
}

// turnPage shows another page.
func (c *Commands) turnPage(ctx context.Context, x *interaction) (response, error) {
	n, ok := reply.Integers(x.Args(), 36)
	if !ok || len(n) != 2 || x.Message == nil {
		return response{}, refusal(x.Text(searchIsOver))
	}
	id := discord.Snowflake(n[0])
	at := int(n[1])
	q := c.question(x)
	d, known := c.results.Get(id, q.Now)
	if !known || d.Membership != (memory.Membership{Guild: q.Guild, User: q.Asker}) || at < 0 || at >= d.pages() {
		return response{}, refusal(x.Text(searchIsOver))
	}
	c.results.Put(id, d, q.Now, q.Now.Add(resultTTL))
	heading, _, _ := strings.Cut(x.Message.Content, "\n") // only the message still has it
	return c.page(ctx, q, x, d, page{
		heading: heading,
		id:      id,
		at:      at,
	})
}

// page shows p as far as the asker may read it now. Messages stay on their page, so that none is missed when others go.
func (c *Commands) page(ctx context.Context, q answer.Question, x *interaction, d *resultCache,
	p page) (response, error) {
	q.Channel = d.channel
	p.all = len(d.found)
	p.below = d.below
	p.words = d.words
	var err error
	p.seen, err = c.Answers.Inspect(ctx, q, d.found[p.at*foundPerPage:min(p.all, (p.at+1)*foundPerPage)])
	return p.response(x.Locale), err
}

// page is one page of a search.
type page struct {
	heading string
	id      discord.Snowflake // of the search
	at      int               // from 0
	all     int               // found messages
	below   int               // left out as too little related
	words   bool              // found by words only
	seen    []answer.InspectedMessage
}

func (p page) response(l locale.Locale) response {
	note := "\n-# " + l.Count(p.all, "%s message found", "%s messages found")
	if p.below > 0 {
		note += " · " + leftOutText(l, p.below)
	}
	if p.words {
		note += " · " + l.Text("by words only: I can't search by meaning right now")
	}
	room := (markdown.MessageLimit - markdown.Units(p.heading) - markdown.Units(note)) / max(len(p.seen), 1)
	var b strings.Builder
	b.WriteString(p.heading)
	for _, s := range p.seen {
		b.WriteString(seenWithin(s, l, room))
	}
	if len(p.seen) == 0 {
		b.WriteString("\n" + l.Text(foundNoneLeft))
	}
	return response{Content: b.String() + note, Components: pager(p.id, p.at, pagesOf(p.all), l)}
}

func leftOutText(l locale.Locale, n int) string {
	return l.Count(n, "%s message left out: too little to do with it", "%s messages left out: too little to do with it")
}

// seenWithin shows a found message, cut so that it takes at most room units.
func seenWithin(s answer.InspectedMessage, l locale.Locale, room int) string {
	for length := quoteLength; ; length /= 2 {
		text := showSeen(s, l, length)
		if markdown.Units(text) <= room || length == 0 {
			return text
		}
	}
}

func showSeen(s answer.InspectedMessage, l locale.Locale, length int) string {
	m := s.Message
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s <@%d>%s", mark(s.Relevance), m.Author, whereIs(l, m))
	if before := s.Before; before != nil && length >= beforeLength {
		fmt.Fprintf(&b, "\n-# <@%d>: %s", before.Author, markdown.AsSaid(before.Text(), beforeLength))
	}
	fmt.Fprintf(&b, "\n> %s", markdown.AsSaid(m.Text(), length))
	return b.String()
}

func (d *resultCache) pages() int { return pagesOf(len(d.found)) }

// pagesOf returns how many pages found messages take.
func pagesOf(found int) int { return (found + foundPerPage - 1) / foundPerPage }

// pagerName names the buttons that turn pages. Their ids have the search's id and the page's number in base 36.
const pagerName = "found"

// pager returns the buttons below a page, counted from 0.
func pager(id discord.Snowflake, page, pages int, l locale.Locale) []discord.Component {
	if pages < 2 {
		return nil
	}
	at := pagerName + ":" + reply.Short36(int64(id)) + ":"
	turn := func(label string, to int) discord.Component {
		b := discord.Button(discord.StyleGrey, label, at+reply.Short36(int64(to)))
		b.Disabled = to < 0 || to >= pages
		return b
	}
	here := discord.Button(discord.StyleGrey, l.Number(page+1)+"/"+l.Number(pages), at+"here")
	here.Disabled = true
	return []discord.Component{discord.Row(turn("«", page-1), here, turn("»", page+1))}
}
