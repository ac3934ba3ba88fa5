package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/internal/archive"
	"hark/internal/dates"
	"hark/memory"
)

// keptJobs is how many receipts are shown.
const keptJobs = 20

// begin runs work in the background, also when the visitor leaves.
func (j *jobs) begin(what string, work func(ctx context.Context, progress func(done, total int)) (memory.DeletionReport,
	error)) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return nil, errStarted
	}
	if i := slices.IndexFunc(j.all, func(o *job) bool { return o.What == what && o.row().Finished.IsZero() }); i >= 0 {
		return j.all[i], nil // the form was sent twice
	}
	one := &job{
		ID:    1,
		What:  what,
		Begun: time.Now(),
	}
	if len(j.all) > 0 {
		one.ID = j.all[0].ID + 1
	}
	j.all = append([]*job{one}, j.all[:min(len(j.all), keptJobs-1)]...)
	ctx, cancel := context.WithCancel(context.Background())
	j.stop = append(j.stop, cancel)
	j.work.Go(func() {
		defer cancel()
		report, err := work(ctx, func(done, total int) {
			one.mu.Lock()
			one.done = done
			one.total = total
			one.mu.Unlock()
		})
		one.mu.Lock()
		defer one.mu.Unlock()
		one.report = report
		one.failed = err
		one.finished = time.Now()
	})
	return one, nil
}

// list returns the jobs, newest first.
func (j *jobs) list() (rows []jobRow) {
	j.mu.Lock()
	all := slices.Clone(j.all)
	j.mu.Unlock()
	for _, one := range all {
		rows = append(rows, one.row())
	}
	return rows
}

// close interrupts the jobs. What they began counts as forgotten; "hark run" finishes it.
func (j *jobs) close() {
	j.mu.Lock()
	j.ended = true
	for _, stop := range j.stop {
		stop()
	}
	j.mu.Unlock()
	j.work.Wait()
}

// jobRow is the state of a job.
type jobRow struct {
	ID          int
	What        string
	Begun       time.Time
	Done, Total int
	Finished    time.Time
	Report      []counted
	Failed      string
	OutOfReach  []string
}

func (r jobRow) refresh() string {
	if r.Finished.IsZero() {
		return "1"
	}
	return ""
}

func (o *job) row() jobRow {
	o.mu.Lock()
	defer o.mu.Unlock()
	row := jobRow{
		ID:       o.ID,
		What:     o.What,
		Begun:    o.Begun,
		Done:     o.done,
		Total:    o.total,
		Finished: o.finished,
		Report:   countsOf(o.report),
	}
	if o.failed != nil {
		row.Failed = o.failed.Error()
	}
	return row
}

// counted is a number of things that go.
type counted struct {
	N    int
	Noun string
}

func countsOf(r memory.DeletionReport) []counted {
	return []counted{{r.Messages, "message"}, {r.Segments, "segment"}, {r.Vectors, "vector"}, {r.Answers, "answer"},
		{r.Facts, "fact"}, {r.Lore, "piece of lore"}, {r.Summaries, "summary"}, {r.Records, "record of a call"},
		{r.People, "person"}}
}

type forgettingData struct {
	Guild, Channel, Person, Before string
	OptOut                         bool
	Guilds                         []choice
	Channels                       []choiceGroup
	What                           string   // would be forgotten; empty before it is chosen
	Names                          []string // of the person
	Goes                           []counted
	In                             int    // channels
	Numbers                        string // what the confirmation must be
	Problem                        string
	Unfinished                     []jobRow
	Receipts                       []jobRow
	OutOfReach                     []string
}

// forgetting shows what a deletion would take with it.
func forgetting(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d, _, err := v.chooseForgetting()
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "forget", "Forgetting", d)
}

// chooseForgetting reads what is chosen, and counts what would go.
func (v *visit) chooseForgetting() (d forgettingData, target memory.Forgetting, err error) {
	d = forgettingData{
		Guild:      v.form("guild"),
		Channel:    v.form("channel"),
		Person:     v.form("person"),
		Before:     v.form("before"),
		OptOut:     v.form("optout") != "",
		Receipts:   v.jobs.list(),
		OutOfReach: v.archive.OutOfReach(),
	}
	for _, g := range v.archive.Servers {
		d.Guilds = append(d.Guilds, choice{g.ID.String(), v.guildRef(g.ID).Name})
		d.Channels = append(d.Channels, v.choicesOf(g))
	}
	begun, err := v.app.Store.Forgettings(v.ctx, memory.Everywhere, 0)
	if err != nil {
		return d, target, err
	}
	for _, r := range begun {
		d.Unfinished = append(d.Unfinished, jobRow{
			What:   v.describe(r.Forgetting),
			Begun:  r.Forgetting.At,
			Report: countsOf(r),
		})
	}
	if d.Guild == "" && d.Channel == "" && d.Person == "" && d.Before == "" {
		if v.r.URL.RawQuery != "" {
			d.Problem = chooseFirst
		}
		return d, target, nil
	}
	target, err = v.selected(d)
	if err != nil {
		d.Problem = err.Error()
		return d, target, nil
	}
	d.What = v.describe(target)
	for _, g := range v.archive.Servers {
		name := v.person(g.ID, target.User).DisplayName()
		within := target.Guild == memory.Everywhere || target.Guild == g.ID
		if name != "" && within && !slices.Contains(d.Names, name) {
			d.Names = append(d.Names, name)
		}
	}
	goes, err := v.app.Store.DryRun(v.ctx, memory.DryRunQuery{Forgetting: target})
	d.Goes = []counted{{goes.Messages, "message"}, {goes.Answers, "answer"}, {goes.Facts, "fact"},
		{goes.Lore, "piece of lore"}, {goes.Summaries, "summary"}}
	d.In = goes.Channels
	d.Numbers = strconv.Itoa(goes.Messages)
	return d, target, err
}

const chooseFirst = "Choose a server, a channel, a person or a day."

// selected returns what is chosen to be forgotten.
func (v *visit) selected(d forgettingData) (t memory.Forgetting, err error) {
	t = memory.Forgetting{
		Guild: memory.Everywhere,
		Why:   memory.WhyPurge,
		At:    time.Now(),
	}
	g, err := v.guild()
	if err != nil {
		return t, complain("there is no such server")
	}
	if g != nil {
		t.Guild = g.ID
	}
	t.Channel, err = id[memory.ChannelID](v, "channel")
	if err != nil {
		return t, err
	}
	if t.Channel != 0 {
		of, _, err := v.channelOf(t.Channel)
		if err != nil || g != nil && of.ID != g.ID {
			return t, complain("there is no such channel in that server")
		}
		t.Guild = of.ID
	}
	if d.Person != "" {
		t.User, _, err = v.archive.FindPerson(v.ctx, t.Guild, d.Person)
		if err != nil {
			return t, complaint{err}
		}
	}
	if d.Before != "" {
		t.Before, _, err = dates.Parse(d.Before, t.At, v.zone())
		if err != nil {
			return t, complain("before %w", err)
		}
		if t.Before.IsZero() {
			return t, complain("%s is before anything was said", d.Before)
		}
		if t.Before.After(t.At) {
			return t, complain("%s is in the future: what isn't said yet can't be forgotten", d.Before)
		}
	}
	if d.OptOut {
		if t.User == 0 || t.Channel != 0 || d.Before != "" {
			return t, complain("opting out is of a person as a whole: name one, and leave out channel and day")
		}
		t.Why = memory.WhyOptOut
	}
	return t, nil
}

// describe says in words what is forgotten. It names a person by their id: a receipt mustn't keep their name.
func (v *visit) describe(t memory.Forgetting) string {
	what := "everything"
	if t.User != 0 {
		what += fmt.Sprintf(" that person %d wrote", t.User)
	}
	switch {
	case t.Channel != 0:
		what += " in " + v.channelRef(t.Guild, t.Channel).Name + " of " + v.guildRef(t.Guild).Name
	case t.Guild != memory.Everywhere:
		what += " in " + v.guildRef(t.Guild).Name
	default:
		what += " in all servers"
	}
	if !t.Before.IsZero() {
		what += ", before " + t.Before.In(v.zone()).Format("2006-01-02 15:04")
	}
	if t.Why == memory.WhyOptOut {
		what += ", and nothing from now on"
	}
	return what
}

// forget forgets what was chosen, once the number of messages is confirmed.
func forget(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	d, target, err := v.chooseForgetting()
	if err != nil {
		return err
	}
	if d.What == "" {
		d.Problem = cmp.Or(d.Problem, chooseFirst)
		return v.show(http.StatusBadRequest, "forget", "Forgetting", d)
	}
	if strings.Join(strings.Fields(v.form("confirm")), "") != d.Numbers {
		d.Problem = "Nothing was forgotten: to confirm, enter the number of messages, which is " + d.Numbers + " now."
		return v.show(http.StatusBadRequest, "forget", "Forgetting", d)
	}
	memoryOf, err := archive.New(v.ctx, v.app.Store, v.app.Config)
	if err != nil {
		return err
	}
	v.forgetSessions(memoryOf, target)
	begun, err := v.jobs.begin(d.What, func(ctx context.Context,
		progress func(done, total int)) (memory.DeletionReport, error) {
		defer v.checks.expire() // they tell how much is remembered
		return forgetAll(ctx, memoryOf, target, progress)
	})
	if err != nil {
		return err
	}
	return v.redirect(fmt.Sprintf("/forget/%d", begun.ID))
}

// forgetSessions forgets what the running bot holds beside the log.
func (v *visit) forgetSessions(k *archive.Archive, target memory.Forgetting) {
	if v.Live == nil {
		return
	}
	forget := v.Live().ForgetSessions
	for _, g := range k.Servers {
		if forget != nil && (target.Guild == memory.Everywhere || target.Guild == g.ID) {
			within := target
			within.Guild = g.ID
			forget(g, within)
		}
	}
}

// forgetAll does what "hark forget" does.
func forgetAll(ctx context.Context, k *archive.Archive, target memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	before, err := k.FinishForgetting(ctx, progress)
	if err != nil {
		return memory.DeletionReport{}, err
	}
	return k.ForgetAll(ctx, target, before, progress)
}

// forgettingPage shows how far a forgetting is, and its receipt.
func forgettingPage(v *visit) error {
	if err := v.open(); err != nil {
		return err
	}
	for _, row := range v.jobs.list() {
		if strconv.Itoa(row.ID) == v.r.PathValue("job") {
			row.OutOfReach = v.archive.OutOfReach()
			return v.show(http.StatusOK, "forgetting", "Forgetting", row)
		}
	}
	return errNoPage
}
