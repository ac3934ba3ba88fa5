package web

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

const answersShown = 50

// answersData is a list of answers, and how it is filtered.
type answersData struct {
	Guild, Channel, Person, Model, Outcome string
	Guilds                                 []choice
	Channels                               []choiceGroup
	Models                                 []string
	Stray                                  string // a name that nobody has
	Answers                                []answerRow
	Next                                   string // a link
	Unanswered                             []unansweredRow
	Withdrawn                              int
}

// answerRow is an answer in the list.
type answerRow struct {
	URL      string
	Time     time.Time
	Place    refOf
	Guild    refOf
	Asker    refOf
	Question template.HTML
	Writer   string
	Found    string // what the search found; empty: enough
	Trace    memory.Trace
}

// unansweredRow is a question that wasn't answered.
type unansweredRow struct {
	URL     string
	Time    time.Time
	Place   refOf
	Asker   refOf
	Outcome string
}

// What the list of answers can be narrowed to.
const (
	outcomeModel      = "model"
	outcomeQuoted     = "quoted"
	outcomeUnanswered = "unanswered"
)

// answers lists Hark's answers, newest first.
func answers(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := answersData{
		Guild:   v.form("guild"),
		Channel: v.form("channel"),
		Person:  v.form("person"),
		Model:   v.form("model"),
		Outcome: v.form("outcome"),
		Models:  v.app.Models.Names(),
	}
	q := memory.TraceQuery{Model: d.Model, Limit: answersShown + 1}
	for _, g := range v.archive.Servers {
		d.Guilds = append(d.Guilds, choice{g.ID.String(), v.guildRef(g.ID).Name})
		d.Channels = append(d.Channels, v.choicesOf(g))
	}
	g, err := v.guild()
	if err != nil {
		return err
	}
	for _, each := range v.archive.Servers {
		if g == nil || g == each {
			q.Guilds = append(q.Guilds, each.ID)
		}
	}
	q.Channel, err = id[memory.ChannelID](v, "channel")
	if err != nil {
		return err
	}
	q.Before, err = id[memory.MessageID](v, "before")
	if err != nil {
		return err
	}
	if d.Person != "" {
		within := memory.Everywhere
		if g != nil {
			within = g.ID
		}
		q.Asker, _, err = v.archive.FindPerson(v.ctx, within, d.Person)
		if err != nil {
			d.Stray = err.Error()
			err = nil
		}
	}
	switch d.Outcome {
	case outcomeModel:
		q.Generated = true
	case outcomeQuoted:
		q.Extractive = true
	}
	switch {
	case d.Stray != "":
	case d.Outcome == outcomeUnanswered:
		err = v.listUnanswered(&d, q)
	default:
		err = v.listAnswers(&d, q)
	}
	if err != nil {
		return err
	}
	const most = 1000
	withdrawn, err := v.app.Store.Withdrawn(v.ctx, most)
	d.Withdrawn = len(withdrawn)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "answers", "Answers", d)
}

func (v *visit) listAnswers(d *answersData, q memory.TraceQuery) error {
	traces, err := v.app.Store.Traces(v.ctx, q)
	if err != nil {
		return err
	}
	if len(traces) > answersShown {
		traces = traces[:answersShown]
		d.Next = v.with("before", traces[answersShown-1].Answer.String())
	}
	for _, t := range traces {
		row := answerRow{
			URL:    "/answers/" + t.Channel.String() + "/" + t.Answer.String(),
			Time:   t.Answer.Time(),
			Place:  v.channelRef(t.Guild, t.Channel),
			Guild:  v.guildRef(t.Guild),
			Asker:  v.personRef(t.Guild, t.Asker),
			Writer: writerOf(t),
			Found:  foundNames[t.Origin.Found],
			Trace:  t,
		}
		said, err := v.app.Store.Around(v.ctx, t.Channel, []memory.MessageID{t.Question}, 0, 0)
		if err != nil {
			return err
		}
		if len(said) > 0 {
			row.Question = v.markupLine(t.Guild, said[0].Text())
		}
		d.Answers = append(d.Answers, row)
	}
	return nil
}

// foundNames say in short that a search found too little.
var foundNames = map[memory.Found]string{memory.FoundNothing: "nothing found", memory.FoundLittle: "little found",
	memory.FoundSmallTalk: "small talk"}

// writerOf says in short who wrote an answer.
func writerOf(t memory.Trace) string {
	switch {
	case t.Model != "":
		return t.Model
	case t.Origin.Writer == memory.TakenBack:
		return "taken back"
	case t.Origin.Quotes():
		return "quoted"
	case t.Origin.Writer != "":
		return "nothing quoted"
	}
	return "no model"
}

// listUnanswered lists the questions without an answer, by the records of calls.
func (v *visit) listUnanswered(d *answersData, q memory.TraceQuery) error {
	within := v.allChannels()
	switch {
	case q.Channel != 0:
		within = []memory.ChannelID{q.Channel}
	case len(q.Guilds) == 1:
		within = channelsOf(v.archive.GuildByID(q.Guilds[0]))
	}
	records, err := v.app.Store.Records(v.ctx, memory.RecordQuery{
		Channels: within,
		Method:   answer.MethodAsk,
		Asker:    q.Asker,
		Limit:    countedCalls,
	})
	for _, r := range records {
		if r.Answer == 0 && len(d.Unanswered) < answersShown {
			d.Unanswered = append(d.Unanswered, unansweredRow{v.messageURL(r.Guild, r.Channel, r.Question), r.Timestamp,
				v.channelRef(r.Guild, r.Channel), v.personRef(r.Guild, r.Asker), r.Outcome})
		}
	}
	return err
}

// answerData is one answer, and how it came about.
type answerData struct {
	Trace     memory.Trace
	Origin    []string // sentences
	Place     refOf
	Guild     refOf
	Asker     refOf
	Question  *said
	Parts     []said
	Steps     []step
	Recalled  []recalledRow
	Uses      []use
	Lore      []memory.Lore
	Prompt    []promptMessage
	NoPrompt  string // why the prompt isn't kept
	Withdrawn bool   // Discord shows it still, though something in it is gone
	Edited    time.Time
	People    []refOf // whom the prompt names
	ReAsk     string
	AsHark    string // the question without an audience, for the operator
	Audience  string
	Spent     spent
}

// spent is what an answer cost, by its record.
type spent struct {
	Known                     bool
	Prompt, Completion, Calls int
}

// step is a moment in the making of an answer.
type step struct {
	Name  string
	At    time.Duration // since the question was taken up
	Took  time.Duration
	X, W  float64 // of 1000
	About string
}

// recalledRow is a message that was recalled for an answer.
type recalledRow struct {
	memory.TraceHit
	URL     string
	Author  refOf
	Channel refOf
	Body    template.HTML
	Time    time.Time
	Gone    bool
	Changed bool // edited since
	What    string
	Reasons []string
}

// answerPage shows one answer.
func answerPage(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	channel, err := id[memory.ChannelID](v, "channel")
	if err != nil {
		return err
	}
	of, err := id[memory.MessageID](v, "answer")
	if err != nil {
		return err
	}
	traces, err := v.app.Store.Traces(v.ctx, memory.TraceQuery{
		Channel: channel,
		Answer:  of,
		Prompts: true,
	})
	if err != nil {
		return err
	}
	if len(traces) == 0 || traces[0].Guild == memory.DirectGuild {
		return missing{errors.New("no such answer is remembered: it may have been forgotten, " +
			"or something that it was made from")}
	}
	t := traces[0]
	d := answerData{
		Trace:  t,
		Origin: markdown.Origin(locale.Locale{}, t.Origin, t.Model, t.Mode),
		Place:  v.channelRef(t.Guild, channel),
		Guild:  v.guildRef(t.Guild),
		Asker:  v.personRef(t.Guild, t.Asker),
		Uses:   usesOf(t.Sections, t.MaxTokens),
		Steps:  stepsOf(t),
	}
	if t.Guild > 0 {
		d.Audience = audienceURL(t.Guild, channel)
	}
	if d.Trace.Asker == 0 {
		d.Asker = refOf{Name: "the terminal"}
	}
	if err := v.readAnswer(&d); err != nil {
		return err
	}
	d.Recalled, err = v.recalledRows(t)
	if err != nil {
		return err
	}
	if err := v.readSpent(&d); err != nil {
		return err
	}
	prompt, why := v.archive.PromptOf(t)
	d.NoPrompt = why
	if why == "" {
		d.Prompt = promptOf(prompt, nil)
	}
	for _, user := range t.Named {
		d.People = append(d.People, v.personRef(t.Guild, user))
	}
	ids := t.IDsOf(memory.SourceLore)
	told, err := v.app.Store.Lore(v.ctx, t.Guild)
	for _, l := range told {
		if slices.Contains(ids, l.ID) {
			d.Lore = append(d.Lore, l)
		}
	}
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "answer", "An answer", d)
}

// readAnswer reads the question and the answer from the log.
func (v *visit) readAnswer(d *answerData) error {
	t := d.Trace
	ids := slices.Concat([]memory.MessageID{t.Question, t.Answer}, t.Parts)
	messages, err := v.app.Store.Around(v.ctx, t.Channel, ids, 0, 0)
	if err != nil {
		return err
	}
	for _, m := range messages {
		shown := v.said(m)
		shown.ReplyTo = 0 // it stands above
		if m.ID == t.Question {
			d.Question = &shown
			continue
		}
		d.Parts = append(d.Parts, shown)
		if m.Edited.After(d.Edited) {
			d.Edited = m.Edited
		}
	}
	if d.Question != nil {
		d.AsHark = "/ask?" + encode("q", v.asked(*d.Question))
		d.ReAsk = "/ask?" + encode("q", v.asked(*d.Question), "in", t.Channel.String(), "as", t.Asker.String())
	}
	const most = 1000
	withdrawn, err := v.app.Store.Withdrawn(v.ctx, most)
	d.Withdrawn = slices.ContainsFunc(withdrawn, func(w memory.Withdrawn) bool {
		return w.Channel == t.Channel && (w.Message == t.Answer || slices.Contains(t.Parts, w.Message))
	})
	return err
}

func (v *visit) readSpent(d *answerData) error {
	t := d.Trace
	records, err := v.app.Store.Records(v.ctx, memory.RecordQuery{
		Channels: []memory.ChannelID{t.Channel},
		Method:   answer.MethodAnswer,
		Since:    t.Question.Time(),
		Until:    t.Answer.Time().Add(time.Hour),
		Limit:    200,
	})
	for _, r := range records {
		if r.Answer == t.Answer {
			d.Spent = spent{true, asInt(r.Kwargs["prompt_tokens"]), asInt(r.Kwargs["completion_tokens"]),
				asInt(r.Kwargs["model_calls"])}
		}
	}
	return err
}

// recalledRows returns what was recalled for an answer, best first, as it is now.
func (v *visit) recalledRows(t memory.Trace) ([]recalledRow, error) {
	wanted := map[memory.ChannelID][]memory.MessageID{}
	for _, h := range t.Recalled {
		wanted[h.Channel] = append(wanted[h.Channel], h.Message)
	}
	there := map[memory.MessageRef]memory.Message{}
	for channel, ids := range wanted {
		found, err := v.app.Store.Around(v.ctx, channel, ids, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			there[memory.MessageRef{Channel: channel, Message: m.ID}] = m
		}
	}
	var rows []recalledRow
	for _, h := range t.Recalled {
		m, ok := there[memory.MessageRef{Channel: h.Channel, Message: h.Message}]
		guild := cmp.Or(m.Guild, t.Guild)
		row := recalledRow{
			TraceHit: h,
			URL:      v.messageURL(guild, h.Channel, h.Message),
			Channel:  v.channelRef(guild, h.Channel),
			Time:     h.Message.Time(),
			Gone:     !ok,
			What:     whatBecame(h),
		}
		if ok {
			row.Author = v.personRef(guild, m.Author)
			row.Body = v.markup(guild, m.Text())
			row.Changed = m.Kind != memory.FromHark && m.AsSource(false).Version != h.Edited
		}
		for _, why := range h.Why {
			row.Reasons = append(row.Reasons, cmp.Or(reasonNames[why], why))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// whatBecame says what became of a recalled message.
func whatBecame(h memory.TraceHit) string {
	switch {
	case h.Cited:
		return "cited"
	case h.Number > 0:
		return "shown"
	case h.Context:
		return "shown beside others"
	}
	return "dropped"
}

// stepsOf draws the making of an answer as a timeline.
func stepsOf(t memory.Trace) []step {
	steps := []step{{Name: "searched", Took: t.Search}}
	if t.Built > 0 {
		steps = append(steps, step{
			Name: "prompt built",
			At:   t.Search,
			Took: t.Built - t.Search,
		})
	}
	at := max(t.Built, t.Search)
	for _, c := range t.Calls {
		steps = append(steps, step{
			Name:  "tool " + c.Tool,
			At:    at,
			Took:  c.Took,
			About: c.Outcome,
		})
		at += c.Took
	}
	if t.Began > 0 {
		steps = append(steps, step{
			Name: "waited for the model",
			At:   at,
			Took: t.Began - at,
		},
			step{Name: "first word", At: t.Began})
		at = t.Began
	}
	if t.Model != "" {
		steps = append(steps, step{
			Name: "written by " + t.Model,
			At:   at,
			Took: t.Total - at,
		})
	}
	steps = append(steps, step{Name: "done", At: t.Total})
	const whole = 1000
	for i := range steps {
		s := &steps[i]
		all := float64(max(t.Total, 1))
		s.X = whole * float64(s.At) / all
		s.W = max(3, whole*float64(s.Took)/all)
		s.X = min(s.X, whole-3)
	}
	return steps
}
