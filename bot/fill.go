package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

const (
	// pageSize is how many messages Discord tells at most in one answer.
	pageSize = 100
	// tellEvery is how far the lines are apart that tell how far a long fill has come.
	tellEvery = 10 * time.Second

	caughtUp = "caught up with Discord"
)

// filler fetches what is missing, page by page: what was missed before what was asked for, the oldest first. Between the two
// it looks whether channels were deleted, and, slowly, whether what is in the log has changed unheard. Each page is logged with
// how far it reaches, so that it goes on from there whenever the process ends.
type filler struct {
	bot     *Bot
	convert *converter
	wake    chan struct{}

	mu      sync.Mutex
	tasks   []task
	watched map[*watching]bool

	asked []*ask // what messages ask that were missed and are about to be logged

	visits map[memory.GuildID]*visit // the last to all of a guild
	later  map[gapKey]time.Time      // gaps that are left alone until then
	next   time.Time                 // when to fetch the next page that is compared
	told   time.Time
	tally  tally
}

// tally counts what was done since all was well.
type tally struct{ messages, gaps, edited, deleted, channels int }

type gapKey struct {
	sweep   bool
	channel memory.ChannelID
	until   memory.MessageID
}

// task is something to do about one channel.
type task struct {
	visit   *visit
	channel memory.ChannelID
	what    work
	ticket  int       // of what is fetched
	tries   int       // that failed
	after   time.Time // not before then
}

// work is what a task is about, in the order in which it is done.
type work uint8

const (
	look    work = iota // fetch it, or with channel 0 the guild, since Discord told too little of it
	probe               // whether it was deleted
	archive             // search it for threads in the archive
)

func newFiller(b *Bot) *filler {
	return &filler{bot: b, convert: newConverter(b.self, b.cfg.LogBots, b.now), wake: make(chan struct{}, 1), visits: map[memory.GuildID]*visit{}, later: map[gapKey]time.Time{}, watched: map[*watching]bool{}}
}

// put takes what is to be done about a guild. A visit to the whole takes the place of what was left to do of an earlier one.
func (f *filler) put(v visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := map[memory.ChannelID]bool{}
	var tasks []task
	for _, id := range v.missing {
		tasks = append(tasks, task{visit: &v, channel: id, what: probe})
	}
	for _, id := range v.parents {
		tasks = append(tasks, task{visit: &v, channel: id, what: archive})
	}
	if v.whole {
		f.visits[v.guild] = &v
		f.bot.looked.forget()
	}
	for _, t := range tasks {
		fresh[t.channel] = true
	}
	slices.SortFunc(tasks, func(a, b task) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.channel, b.channel)) })
	f.tasks = append(slices.DeleteFunc(f.tasks, func(t task) bool { return t.what != look && fresh[t.channel] && t.visit.guild == v.guild }), tasks...)
	f.nudge()
}

// putUnknown takes what is to be fetched since Discord told too little of it. It comes before everything else.
func (f *filler) putUnknown(all []untold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range all {
		f.tasks = append([]task{{visit: &visit{guild: u.guild}, channel: u.channel, what: look, ticket: u.ticket}}, f.tasks...)
	}
	f.nudge()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fill does what there is to do, until ctx ends.
func (f *filler) fill(ctx context.Context) {
	for ctx.Err() == nil && f.step(ctx) {
	}
	if f.tally != (tally{}) && ctx.Err() == nil {
		f.report(caughtUp, 0)
		f.tally, f.told = tally{}, time.Time{}
	}
}

// step does what is next, if there is anything: a page of what was missed, else a task, else a page of what was asked for.
func (f *filler) step(ctx context.Context) bool {
	open, err := f.bot.memory.Gaps(ctx, memory.Everywhere, false)
	if err != nil {
		f.failed(ctx, err, "couldn't find what is missing")
		return false
	}
	open = slices.DeleteFunc(open, func(g memory.Gap) bool { return f.bot.now().Before(f.later[keyOf(g)]) })
	slices.SortFunc(open, older)
	if t, ok := f.nextTask(look); ok {
		f.work(ctx, t)
		return true
	}
	if len(open) > 0 && !open[0].Past {
		f.page(ctx, open[0], len(open))
		return true
	}
	if t, ok := f.nextTask(archive); ok {
		f.work(ctx, t)
		return true
	}
	swept, err := f.sweep(ctx, len(open) == 0)
	if err != nil {
		f.failed(ctx, err, "couldn't find what is to be compared")
		return false
	}
	if len(open) > 0 {
		f.page(ctx, open[0], len(open))
	}
	return swept || len(open) > 0
}

// work does a task, or puts it off.
func (f *filler) work(ctx context.Context, t task) {
	if err := f.do(ctx, t); err != nil {
		f.failed(ctx, err, "couldn't ask Discord about a channel yet")
		t.after, t.tries = f.bot.now().Add(f.bot.timing.aside), t.tries+1
		f.mu.Lock()
		f.tasks = append(f.tasks, t)
		f.mu.Unlock()
	}
}

func keyOf(g memory.Gap) gapKey { return gapKey{g.Sweep, g.Channel, g.Until} }

// older puts what was missed before what was asked for, and of either the oldest first.
func older(a, b memory.Gap) int {
	return cmp.Or(cmp.Compare(bit(a.Past), bit(b.Past)), cmp.Compare(a.After, b.After), cmp.Compare(a.Channel, b.Channel))
}

// nextTask is the next task, of what is done up to most.
func (f *filler) nextTask(most work) (task, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, t := range f.tasks {
		if t.what <= most && !f.bot.now().Before(t.after) {
			f.tasks = slices.Delete(f.tasks, i, i+1)
			return t, true
		}
	}
	return task{}, false
}

func (f *filler) do(ctx context.Context, t task) error {
	switch t.what {
	case look:
		return f.look(ctx, t)
	case probe:
		return f.probe(ctx, t)
	}
	remembered, err := f.bot.admit.remembers(ctx, t.visit.guild, t.channel)
	if err != nil || !remembered {
		return err
	}
	return f.searchArchive(ctx, t)
}

// probe finds out whether a channel that Discord doesn't list any more was deleted.
func (f *filler) probe(ctx context.Context, t task) error {
	address := discordgo.EndpointChannel(t.channel.String())
	err := f.bot.rest.call(ctx, http.MethodGet, address, address, nil, nil)
	switch {
	case code(err) == discordgo.ErrCodeUnknownChannel:
		f.tally.channels++
		return f.bot.commit(ctx, []memory.Event{memory.ChannelDeleted{Guild: t.visit.guild, Channel: t.channel, At: f.bot.now()}})
	case err == nil, denied(err): // it is in the archive, or out of sight
		return nil
	}
	return fmt.Errorf("ask whether channel %d was deleted: %w", t.channel, err)
}

func (f *filler) failed(ctx context.Context, err error, what string) {
	if ctx.Err() == nil {
		f.bot.log.Warn().Err(redact(err)).Msg(what)
	}
}

func (f *filler) report(what string, left int) {
	e := f.bot.log.Info().Int("messages", f.tally.messages).Int("gaps", f.tally.gaps)
	if left > 0 {
		e = e.Int("left", left)
	}
	e.Int("edited", f.tally.edited).Int("deleted", f.tally.deleted).Int("channels_deleted", f.tally.channels).Msg(what)
}

// page fetches the next page of a gap. What can't be had for good ends the gap; what may be had later is left alone.
func (f *filler) page(ctx context.Context, g memory.Gap, left int) {
	f.asked = nil
	events, n, done, err := f.read(ctx, g)
	if err == nil {
		f.count(g, g.Fetched+n) // before the log tells that nothing is left; tried again, it is the same number
		err = f.commit(ctx, events)
	}
	if err != nil {
		f.failed(ctx, err, "couldn't fetch what is missing yet")
		f.later[keyOf(g)] = f.bot.now().Add(f.bot.timing.aside)
		return
	}
	f.tally.messages += n
	if done {
		f.tally.gaps++
		delete(f.later, keyOf(g))
	}
	if now := f.bot.now(); f.told.IsZero() {
		f.told = now
	} else if now.Sub(f.told) >= tellEvery {
		f.told = now
		f.report("fetching what is missing", left)
	}
}

// errUnreadable says that Discord shows no past because Hark may not read it, rather than because there is none.
var errUnreadable = errors.New("the channel's history may not be read")

// read is the next page of a gap, for the log, with how many messages it has and whether it is the last.
func (f *filler) read(ctx context.Context, g memory.Gap) (events []memory.Event, n int, done bool, err error) {
	remembered, err := f.bot.admit.remembers(ctx, g.Guild, g.Channel)
	if err != nil {
		return nil, 0, false, err
	}
	ended := []memory.Event{memory.GapFilled{Gap: g, Through: g.Until}}
	if g.Past { // which may be asked for again
		ended = memory.StopPast([]memory.Gap{g}, f.bot.now())
	}
	if !remembered {
		return ended, 0, true, nil
	}
	page, err := f.fetch(ctx, g.Guild, g.Channel, "after", max(g.After, 1))
	switch {
	case f.givesUp(g, err):
		return ended, 0, true, nil
	case err != nil:
		return nil, 0, false, err
	case len(page) == 0:
		switch err := f.confirm(ctx, g.Guild, g.Channel); {
		case g.Past && errors.Is(err, errUnreadable): // /hark backfill says what is missing
			return ended, 0, true, nil
		case err != nil:
			return nil, 0, false, err
		}
	}
	through := g.Until
	for i := range page {
		w := &page[i]
		if id := memory.MessageID(w.ID); id <= g.After || id > g.Until {
			continue
		}
		before := len(events)
		if events = tell(f.convert, events, w); !g.Past {
			f.ask(w)
		}
		if len(events) > before {
			n++
		}
	}
	if len(page) > 0 {
		through = min(memory.MessageID(page[len(page)-1].ID), g.Until)
	}
	if through <= g.After {
		return nil, 0, false, fmt.Errorf("fetch messages of channel %d: Discord tells of none after %d", g.Channel, g.After)
	}
	g.Fetched += n
	events = append(events, memory.GapFilled{Gap: g, Through: through})
	done = through >= g.Until
	events = f.heardAll(events, g, page, done)
	if rest, ok := f.rest(g); ok && done {
		events = append(events, memory.GapFound{Gap: rest})
	}
	return events, n, done, nil
}

// rest is what may be missing after a gap: Discord may be late to tell which message of a channel is the newest, so nothing is
// missing only once a page comes back empty.
func (f *filler) rest(g memory.Gap) (memory.Gap, bool) {
	rest := memory.Gap{Guild: g.Guild, Channel: g.Channel, After: g.Until, Until: momentID(f.bot.now())}
	return rest, !g.Past && !isMoment(g.Until) && rest.After < rest.Until
}

// givesUp reports whether to give a gap up because of err: there is no such channel any more, or what was missed may not be
// read and is further back by now than anything is fetched. What was asked for is asked for again when it may be read.
func (f *filler) givesUp(g memory.Gap, err error) bool {
	return status(err) == http.StatusNotFound ||
		denied(err) && (g.Past || g.Until < memory.FirstMessageID(f.bot.now().Add(-f.bot.cfg.CatchUp)))
}

// heardAll adds how far nothing of a gap is missing any more, page by page, so that no gap is found again in what was fetched: else what was
// asked there would be asked again, though it was answered. What is left of the gap is on record.
func (f *filler) heardAll(events []memory.Event, g memory.Gap, page []wireMessage, done bool) []memory.Event {
	upTo := g.After
	switch {
	case done && !isMoment(g.Until):
		upTo = g.Until
	case len(page) > 0:
		upTo = min(memory.MessageID(page[len(page)-1].ID), g.Until)
	}
	if g.Past || upTo <= 0 {
		return events
	}
	return append(events, memory.Heard{Guild: g.Guild, Channel: g.Channel, ID: upTo})
}

// tell appends what a message that was fetched tells.
func tell(c *converter, events []memory.Event, w *wireMessage) []memory.Event {
	var out converted
	if !c.withdrawn(w, &out) {
		c.message(w, false, &out)
	}
	for i, e := range out.events {
		if p, ok := e.(memory.PersonSeen); ok {
			p.Said = memory.MessageID(w.ID)
			out.events[i] = p
		}
	}
	return append(events, out.events...)
}

// ask takes note of what a message that was missed asks Hark.
func (f *filler) ask(w *wireMessage) {
	if a := f.convert.question(w); a != nil && f.bot.isFresh(a) {
		f.asked = append(f.asked, a)
	}
}

// commit has events logged, and what was asked meanwhile answered.
func (f *filler) commit(ctx context.Context, events []memory.Event) error {
	for _, a := range f.asked {
		events = append(events, a.opened())
	}
	if err := f.bot.commit(ctx, events); err != nil {
		return err
	}
	for _, a := range f.asked {
		f.bot.questions.take(ctx, a)
	}
	return nil
}

// fetch is a page of a channel's messages, oldest first: those next to id, before or after it, or the newest if id is 0.
func (f *filler) fetch(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, which string, id memory.MessageID) ([]wireMessage, error) {
	bucket := discordgo.EndpointChannelMessages(channel.String())
	address := fmt.Sprintf("%s?limit=%d", bucket, pageSize)
	if id > 0 {
		address += fmt.Sprintf("&%s=%d", which, id)
	}
	var page []wireMessage
	if err := f.bot.rest.call(ctx, http.MethodGet, address, bucket, nil, &page); err != nil {
		return nil, fmt.Errorf("fetch messages of channel %d: %w", channel, err)
	}
	for i := range page {
		page[i].Guild, page[i].Channel = snowflake(guild), snowflake(channel)
	}
	slices.SortFunc(page, func(a, b wireMessage) int { return cmp.Compare(a.ID, b.ID) })
	return page, nil
}

// denied reports whether Discord says that there is nothing to be had.
func denied(err error) bool {
	s := status(err)
	return s == http.StatusForbidden || s == http.StatusNotFound
}

// confirm asks Discord whether a past that is shown as empty is, and returns errUnreadable if nobody can know.
func (f *filler) confirm(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) error {
	if guild == memory.DirectGuild {
		return nil
	}
	may, kind, err := f.bot.permissionsIn(ctx, guild, channel)
	if err == nil && !may.Has(kind.Reading()) {
		err = errUnreadable
	}
	if err != nil {
		return fmt.Errorf("look whether channel %d is empty: %w", channel, err)
	}
	return nil
}
