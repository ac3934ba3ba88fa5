package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"hark/internal/text"
	"hark/memory"
)

const (
	logShown      = 100           // messages on a page
	foundShown    = 50            // messages that a search finds
	countedTalk   = 20_000        // messages that the plot of a channel counts
	talkWeeks     = 26            // of the plot
	silence       = 3 * time.Hour // that the log draws as such
	week          = 7 * 24 * time.Hour
	threadColours = 8
)

// said is a message as the log shows it.
type said struct {
	ID        memory.MessageID
	URL       string
	Author    refOf
	Initial   string
	Avatar    int // a colour
	Time      time.Time
	Text      string        // as it was written, with names
	Body      template.HTML // as Discord shows it
	Line      template.HTML // the same on one line
	Edited    time.Time
	Starred   bool
	Bot, Hark bool
	Reply     *said // what it replies to, if that is known
	ReplyTo   memory.MessageID
	Thread    int    // its conversation's colour, from 1; 0: none
	ThreadOf  string // its conversation
	Answer    string // where the page of this answer of Hark's is
	At        bool   // the link leads to it
}

// logRow is a line of the log: a message, or what lies between two.
type logRow struct {
	Day     string
	Silence time.Duration
	Gap     *memory.Gap
	Said    *said
	Follows bool // the author wrote the message before, too
	Summary *memory.Summary
}

type channelData struct {
	Guild, Ref             refOf
	Channel                memory.Channel
	Parent                 refOf
	Kind                   string
	Tags                   []string // of a forum post
	Messages               int
	Remembered             bool
	Rows                   []logRow
	Older, Newer           string // links to pages
	Q                      string
	Found                  []said
	Talk                   plot
	TalkCut                bool // only the newest messages are counted
	Gaps                   int
	Forget, Audience, Asks string
}

// channelPage shows a channel's log.
func channelPage(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	at, err := id[memory.ChannelID](v, "channel")
	if err != nil {
		return err
	}
	g, c, err := v.channelOf(at)
	if err != nil {
		return err
	}
	if v.r.PathValue("guild") != g.ID.String() {
		return errNoPage
	}
	d := channelData{
		Guild:      v.guildRef(g.ID),
		Ref:        v.channelRef(g.ID, c.ID),
		Channel:    *c,
		Kind:       kindNames[c.Kind],
		Remembered: v.policy().Remembers(g, c.ID),
		Q:          v.form("q"),
		Forget:     "/forget?" + encode("guild", g.ID.String(), "channel", c.ID.String()),
		Asks:       "/ask?" + encode("in", c.ID.String()),
		Audience: "/audience?" + encode("guild", g.ID.String(), "place",
			c.ID.String()),
	}
	d.Tags = memory.TitleOf(c, g.Channel(c.Parent)).Tags
	if g.Channel(c.Parent) != nil {
		d.Parent = v.channelRef(g.ID, c.Parent)
	}
	scope := memory.Scope{Channels: []memory.ChannelID{c.ID}}
	d.Messages, _, err = v.app.Store.Frequencies(v.ctx, scope, nil, 0)
	if err != nil {
		return err
	}
	if d.Q != "" {
		d.Found, err = v.find(scope, d.Q)
		if err != nil {
			return err
		}
	}
	gaps, err := v.app.Store.Gaps(v.ctx, g.ID, false)
	if err != nil {
		return err
	}
	gaps = slices.DeleteFunc(slices.Clone(gaps), func(gap memory.Gap) bool { return gap.Channel != c.ID })
	d.Gaps = len(gaps)
	d.Rows, err = v.log(&d, gaps)
	if err != nil {
		return err
	}
	d.Talk, err = v.talk(g.ID, scope)
	if err != nil {
		return err
	}
	d.TalkCut = d.Messages > countedTalk
	return v.show(http.StatusOK, "channel", d.Ref.Name, d)
}

var kindNames = map[memory.ChannelKind]string{memory.TextChannel: "text channel", memory.VoiceChannel: "voice channel",
	memory.ForumChannel: "forum", memory.CategoryChannel: "category", memory.PublicThread: "thread",
	memory.PrivateThread: "private thread", memory.LocalChannel: "local channel"}

// log reads a page of the log: around a message, before or after one, or the newest.
func (v *visit) log(d *channelData, gaps []memory.Gap) ([]logRow, error) {
	at, err := id[memory.MessageID](v, "at")
	if err != nil {
		return nil, err
	}
	before, err := id[memory.MessageID](v, "before")
	if err != nil {
		return nil, err
	}
	after, err := id[memory.MessageID](v, "after")
	if err != nil {
		return nil, err
	}
	channel := d.Channel.ID
	var messages []memory.Message
	switch {
	case after != 0:
		messages, err = v.app.Store.Log(v.ctx, channel, after, math.MaxInt64, logShown)
	case at != 0:
		messages, err = v.app.Store.Around(v.ctx, channel, []memory.MessageID{at}, logShown/2, logShown/2)
	default:
		until := []memory.MessageID{cmp.Or(before, math.MaxInt64)}
		messages, err = v.app.Store.Around(v.ctx, channel, until, logShown, 0)
		messages = slices.DeleteFunc(slices.Clone(messages), func(m memory.Message) bool { return m.ID == before })
	}
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return v.rows(channel, nil, gaps, at, 0, math.MaxInt64)
	}
	first := messages[0].ID
	last := messages[len(messages)-1].ID
	var beforeFirst, afterLast memory.MessageID = 0, math.MaxInt64 // the messages beside the page
	if older, err := v.app.Store.Around(v.ctx, channel, []memory.MessageID{first}, 1, 0); err != nil {
		return nil, err
	} else if len(older) > 1 {
		beforeFirst = older[0].ID
		d.Older = v.with("before", first.String(), "after", "", "at", "", "q", "")
	}
	if newer, err := v.app.Store.Log(v.ctx, channel, last, math.MaxInt64, 1); err != nil {
		return nil, err
	} else if len(newer) > 0 {
		afterLast = newer[0].ID
		d.Newer = v.with("after", last.String(), "before", "", "at", "", "q", "")
	}
	return v.rows(channel, messages, gaps, at, beforeFirst, afterLast)
}

// rows lays out messages with what lies between them, and between them and the messages beside the page.
func (v *visit) rows(channel memory.ChannelID, messages []memory.Message, gaps []memory.Gap,
	at, older, newer memory.MessageID) ([]logRow, error) {
	ids := make([]memory.MessageID, len(messages))
	var replies []memory.MessageID
	for i, m := range messages {
		ids[i] = m.ID
		if m.ReplyTo != 0 {
			replies = append(replies, m.ReplyTo)
		}
	}
	segments, err := v.app.Store.SegmentsOf(v.ctx, channel, ids)
	if err != nil {
		return nil, err
	}
	replied, err := v.app.Store.Around(v.ctx, channel, replies, 0, 0)
	if err != nil {
		return nil, err
	}
	summaries, err := v.app.Store.Summaries(v.ctx, channel)
	if err != nil {
		return nil, err
	}
	var rows []logRow
	addGaps := func(after, until memory.MessageID) { // each at the first place where it is
		gaps = slices.DeleteFunc(gaps, func(gap memory.Gap) bool {
			is := max(after, gap.After)+1 <= min(until-1, gap.Until)
			if is {
				rows = append(rows, logRow{Gap: &gap})
			}
			return is
		})
	}
	for i, m := range messages {
		row := logRow{}
		addGaps(older, m.ID)
		older = m.ID
		if i > 0 {
			before := messages[i-1]
			if quiet := m.Time().Sub(before.Time()); quiet >= silence {
				rows = append(rows, logRow{Silence: quiet.Round(time.Minute)})
			}
			row.Follows = before.Author == m.Author && m.ReplyTo == 0 && m.Time().Sub(before.Time()) < 5*time.Minute
		}
		if day := m.Time().In(v.zone()).Format("Monday, 2 January 2006"); i == 0 ||
			day != messages[i-1].Time().In(v.zone()).Format("Monday, 2 January 2006") {
			rows = append(rows, logRow{Day: day})
			row.Follows = false
		}
		shown := v.said(m)
		shown.At = m.ID == at
		if segment := segments[m.ID]; segment != 0 {
			shown.Thread = 1 + int(segment%threadColours)
			shown.ThreadOf = fmt.Sprint(segment)
		}
		k := slices.IndexFunc(replied, func(r memory.Message) bool { return r.ID == m.ReplyTo })
		if m.ReplyTo != 0 && k >= 0 {
			to := v.said(replied[k])
			to.Line = v.markupLine(replied[k].Guild, replied[k].Text())
			shown.Reply = &to
		}
		row.Said = &shown
		rows = append(rows, row)
		for _, s := range summaries {
			if s.ID == m.ID {
				rows = append(rows, logRow{Summary: &s})
			}
		}
	}
	addGaps(older, newer)
	return rows, nil
}

// said returns a message as the log shows it.
func (v *visit) said(m memory.Message) said {
	s := said{
		ID:      m.ID,
		URL:     v.messageURL(m.Guild, m.Channel, m.ID),
		Author:  v.personRef(m.Guild, m.Author),
		Time:    m.Time(),
		Text:    v.named(m),
		Body:    v.markup(m.Guild, m.Text()),
		Edited:  m.Edited,
		Starred: m.Starred,
		ReplyTo: m.ReplyTo,
		Bot:     m.Kind == memory.FromBot || m.Kind == memory.FromWebhook,
		Hark:    m.Kind == memory.FromHark,
		Avatar:  1 + int(uint64(m.Author)%threadColours),
	}
	if s.Hark {
		s.Author.Name = "Hark"
		s.Answer = fmt.Sprintf("/answers/%d/%d", m.Channel, m.ID)
	}
	for _, r := range strings.ToUpper(s.Author.Name) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			s.Initial = string(r)
			break
		}
	}
	return s
}

// asked returns a question without the mention of Hark.
func (v *visit) asked(s said) string {
	return strings.TrimSpace(strings.ReplaceAll(s.Text, "@Hark", ""))
}

// find searches words within channels, best first.
func (v *visit) find(scope memory.Scope, words string) (found []said, err error) {
	hits, err := v.app.Store.FullText(v.ctx, scope, text.QueryTerms(words), foundShown)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		there, err := v.app.Store.Around(v.ctx, h.Channel, []memory.MessageID{h.ID}, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, m := range there {
			shown := v.said(m)
			shown.ID = 0 // its place is in the log
			found = append(found, shown)
		}
	}
	return found, nil
}

// talk draws who wrote how much, by week.
func (v *visit) talk(guild memory.GuildID, scope memory.Scope) (plot, error) {
	now := time.Now().UTC().Truncate(24 * time.Hour)
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	from := monday.AddDate(0, 0, 7*(1-talkWeeks))
	scope.Since = from
	found, err := v.app.Store.Activity(v.ctx, scope, true, countedTalk)
	if err != nil {
		return plot{}, err
	}
	total := map[memory.UserID]int{}
	for _, a := range found {
		total[a.Author] += a.Messages
	}
	var users []memory.UserID
	for user := range total {
		users = append(users, user)
	}
	slices.SortFunc(users, func(a, b memory.UserID) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	place := map[memory.UserID]int{}
	var names, labels []string
	for i, user := range users {
		place[user] = min(i, maxSeries-1)
		if i < maxSeries {
			names = append(names, v.personRef(guild, user).Name)
		}
	}
	if len(users) > maxSeries {
		names[maxSeries-1] = "others"
	}
	values := make([][]int, talkWeeks)
	for i := range values {
		values[i] = make([]int, len(names))
		labels = append(labels, "week of "+from.Add(time.Duration(i)*week).Format("2 Jan 2006"))
	}
	for _, a := range found {
		if w := int(a.Day.Sub(from) / week); w >= 0 && w < talkWeeks {
			values[w][place[a.Author]] += a.Messages
		}
	}
	return newPlot("Who wrote how much, by week", labels, names, values), nil
}
