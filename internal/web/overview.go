package web

import (
	"context"
	"encoding/json"
	"net/http"
	runtimemetrics "runtime/metrics"
	"slices"
	"time"

	"hark/internal/answer"
	"hark/internal/doctor"
	"hark/memory"
	"hark/memory/sqlstore"
)

const (
	plotDays     = 30
	timedAnswers = 200             // of which percentiles are told
	countedCalls = 5000            // answers that plots count
	checksFresh  = 5 * time.Minute // how long a result of doctor's checks is shown
	serversShown = 50              // on a page
)

// latest returns the last result, and begins to check again if it is old.
func (c *checks) latest(examine func(context.Context, bool, func(doctor.Finding))) (found []doctor.Finding,
	at time.Time, running bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil && time.Since(c.at) > checksFresh {
		ctx, cancel := context.WithCancel(context.Background())
		c.running = cancel
		c.work.Go(func() {
			var found []doctor.Finding
			examine(ctx, true, func(f doctor.Finding) { found = append(found, f) })
			cancel()
			c.mu.Lock()
			defer c.mu.Unlock()
			c.found = found
			c.at = time.Now()
			c.running = nil
		})
	}
	return c.found, c.at, c.running != nil
}

// expire has the next visitor see new checks.
func (c *checks) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
	c.found = nil
}

// close ends running checks.
func (c *checks) close() {
	c.mu.Lock()
	if c.running != nil {
		c.running()
	}
	c.mu.Unlock()
	c.work.Wait()
}

type overviewData struct {
	Findings  []doctor.Finding
	CheckedAt time.Time
	Checking  bool

	Live    *Live
	Memory  int64 // bytes that the process holds
	Amounts sqlstore.Amounts
	Kept    int // messages
	Other   int // of them those that can't be recalled: Hark's, notices and what is being forgotten
	All     serverRow
	Direct  serverRow // direct messages
	Servers []serverRow
	More    memory.GuildID // the first server of the next page; 0: there is none

	ToEmbed, Gaps, ToCompare, Questions, Forgettings, Withdrawn int

	Messages, Answers, Tokens plot
	NoRecords                 bool
	Cut                       int // the plots of answers count only so many; 0: all
	SearchP50, SearchP95      time.Duration
	TotalP50, TotalP95        time.Duration
	Timed                     int
}

func (d overviewData) refresh() string {
	if d.Checking {
		return "2"
	}
	return ""
}

// serverRow is what is kept of a server.
type serverRow struct {
	Ref      refOf
	ID       memory.GuildID
	Channels int
	Messages int
	People   int
	Lore     int
	Left     time.Time
}

// overview is the first page.
func overview(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d := overviewData{}
	d.Findings, d.CheckedAt, d.Checking = v.checks.latest(v.Examine)
	d.Findings = slices.Clip(d.Findings)
	for _, c := range v.app.Models.Clients() {
		d.Findings = append(d.Findings, doctor.Learned(c)...)
	}
	if v.Live != nil {
		d.Live = v.Live()
	}
	held := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(held)
	d.Memory = int64(held[0].Value.Uint64() - held[1].Value.Uint64())
	var err error
	d.Amounts, err = sqlstore.Count(v.ctx, v.app.Store)
	if err != nil {
		return err
	}
	d.Servers, d.More, err = v.serverRows(0)
	if err != nil {
		return err
	}
	if err := v.countKept(&d); err != nil {
		return err
	}
	if err := v.countWork(&d); err != nil {
		return err
	}
	if err := v.countAnswers(&d); err != nil {
		return err
	}
	d.Messages, err = v.messagesByDay(v.countedChannels())
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "overview", "Overview", d)
}

// serverRows returns a page of servers, from one on, and the first of the next page.
func (v *visit) serverRows(from memory.GuildID) (rows []serverRow, more memory.GuildID, err error) {
	for _, g := range v.archive.Servers {
		if from != 0 && g.ID < from {
			continue
		}
		if len(rows) == serversShown {
			return rows, g.ID, nil
		}
		row := serverRow{
			Ref:  v.guildRef(g.ID),
			ID:   g.ID,
			Left: g.Left,
		}
		scope := memory.Scope{Channels: channelsOf(g)}
		row.Channels = len(scope.Channels)
		row.Messages, _, err = v.app.Store.Frequencies(v.ctx, scope, nil, 0)
		if err != nil {
			return nil, 0, err
		}
		known, err := v.app.Store.People(v.ctx, g.ID)
		if err != nil {
			return nil, 0, err
		}
		told, err := v.app.Store.Lore(v.ctx, g.ID)
		if err != nil {
			return nil, 0, err
		}
		row.People = len(known)
		row.Lore = len(told)
		rows = append(rows, row)
	}
	return rows, 0, nil
}

// countKept counts what is kept in all servers and in direct messages.
func (v *visit) countKept(d *overviewData) (err error) {
	d.Kept, err = sqlstore.CountMessages(v.ctx, v.app.Store)
	if err != nil {
		return err
	}
	d.Direct.Channels = len(v.direct.Channels)
	in := memory.Scope{Channels: channelsOf(v.direct)}
	d.Direct.Messages, _, err = v.app.Store.Frequencies(v.ctx, in, nil, 0)
	if err != nil {
		return err
	}
	d.All.Channels = len(v.countedChannels())
	in.Channels = v.countedChannels()
	d.All.Messages, _, err = v.app.Store.Frequencies(v.ctx, in, nil, 0)
	if err != nil {
		return err
	}
	d.Other = max(0, d.Kept-d.All.Messages)
	told, err := v.app.Store.Lore(v.ctx, memory.DirectGuild)
	d.Direct.Lore = len(told)
	d.All.Lore = int(d.Amounts.Lore)
	return err
}

// channelsOf returns the channels of g that can hold messages.
func channelsOf(g *memory.Guild) (ids []memory.ChannelID) {
	for _, c := range g.Channels {
		if c.Kind != memory.CategoryChannel {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (v *visit) allChannels() (ids []memory.ChannelID) {
	for _, g := range v.archive.Servers {
		ids = append(ids, channelsOf(g)...)
	}
	return ids
}

// countedChannels are all channels, with those of direct messages.
func (v *visit) countedChannels() []memory.ChannelID {
	return append(v.allChannels(), channelsOf(v.direct)...)
}

// countWork counts what remains to be done.
func (v *visit) countWork(d *overviewData) (err error) {
	d.ToEmbed, err = v.app.Store.Waiting(v.ctx, memory.Everywhere)
	if err != nil {
		return err
	}
	gaps, err := v.app.Store.Gaps(v.ctx, memory.Everywhere, false)
	if err != nil {
		return err
	}
	compare, err := v.app.Store.Gaps(v.ctx, memory.Everywhere, true)
	if err != nil {
		return err
	}
	open, err := v.app.Store.Questions(v.ctx)
	if err != nil {
		return err
	}
	begun, err := v.app.Store.Forgettings(v.ctx, memory.Everywhere, 0)
	if err != nil {
		return err
	}
	const most = 1000
	withdrawn, err := v.app.Store.Withdrawn(v.ctx, most)
	d.Gaps = len(gaps)
	d.ToCompare = len(compare)
	d.Questions = len(open)
	d.Forgettings = len(begun)
	d.Withdrawn = len(withdrawn)
	return err
}

// messagesByDay draws how much was said in channels.
func (v *visit) messagesByDay(channels []memory.ChannelID) (plot, error) {
	now := time.Now()
	counts := map[time.Time]map[string]int{}
	found, err := v.app.Store.Activity(v.ctx, memory.Scope{Channels: channels,
		Since: now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-plotDays)}, false, 0)
	for _, a := range found {
		if counts[a.Day] == nil {
			counts[a.Day] = map[string]int{}
		}
		counts[a.Day]["messages"] += a.Messages
	}
	return perDay("Messages a day, of all kinds", now, plotDays, []string{"messages"}, counts), err
}

// countAnswers draws the answers and their tokens, by the records of calls, and tells how long the last took.
func (v *visit) countAnswers(d *overviewData) error {
	now := time.Now()
	d.NoRecords = v.app.Config.Memory.KeepRecords() == 0
	records, err := v.app.Store.Records(v.ctx, memory.RecordQuery{
		Channels: v.countedChannels(),
		Method:   answer.MethodAnswer,
		Since:    now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-plotDays),
		Limit:    countedCalls,
	})
	if err != nil {
		return err
	}
	if len(records) == countedCalls {
		d.Cut = countedCalls
	}
	outcomes := map[time.Time]map[string]int{}
	tokens := map[time.Time]map[string]int{}
	var models []string
	add := func(to map[time.Time]map[string]int, day time.Time, name string, n int) {
		if to[day] == nil {
			to[day] = map[string]int{}
		}
		to[day][name] += n
	}
	for _, r := range records {
		day := r.Timestamp.UTC().Truncate(24 * time.Hour)
		add(outcomes, day, outcomeOf(r.Outcome), 1)
		model, _ := r.Kwargs["model"].(string)
		if model == "" {
			continue
		}
		if !slices.Contains(models, model) {
			models = append(models, model)
		}
		add(tokens, day, model, asInt(r.Kwargs["prompt_tokens"])+asInt(r.Kwargs["completion_tokens"]))
	}
	slices.Sort(models)
	d.Answers = perDay("Answers a day", now, plotDays, outcomeNames, outcomes)
	d.Tokens = perDay("Tokens a day, by model", now, plotDays, models, tokens)
	traces, err := v.app.Store.Traces(v.ctx, memory.TraceQuery{Limit: timedAnswers})
	var search, total []time.Duration
	for _, t := range traces {
		search = append(search, t.Search)
		total = append(total, t.Total-t.Search)
	}
	d.Timed = len(traces)
	d.SearchP50 = percentile(search, 0.5)
	d.SearchP95 = percentile(search, 0.95)
	d.TotalP50 = percentile(total, 0.5)
	d.TotalP95 = percentile(total, 0.95)
	return err
}

// What became of questions.
var outcomeNames = []string{"answered", "quoted", "failed", "taken back"}

// outcomeOf returns which of outcomeNames a record of an answer tells.
func outcomeOf(outcome string) string {
	for _, name := range outcomeNames {
		if len(outcome) >= len(name) && outcome[:len(name)] == name {
			return name
		}
	}
	return "failed"
}

func asInt(value any) int {
	switch n := value.(type) {
	case json.Number:
		i, _ := n.Int64()
		return int(i)
	case int:
		return n
	}
	return 0
}

// allChecks shows doctor's checks as they come. The models are asked for a word each.
func allChecks(v *visit) error {
	t, err := templates()["checks"].Clone()
	if err != nil {
		return err
	}
	t = t.Funcs(v.funcs())
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p := page{
		Title:    "All checks",
		Version:  v.Version,
		LoggedIn: true,
	}
	control := http.NewResponseController(v.w)
	write := func(part string, data any) {
		_ = t.ExecuteTemplate(v.w, part, data) // an error means that the client hung up
		_ = control.Flush()
	}
	write("head", p)
	v.Examine(v.ctx, false, func(f doctor.Finding) { write("finding", f) })
	write("foot", p)
	return nil
}
