package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hark/bot/discord"
	"hark/internal/pace"
	"hark/internal/ttl"
	"hark/memory"
	"hark/search"
)

const (
	// reportEvery is the interval between progress lines of a long fill.
	reportEvery = 10 * time.Second
	// maxFetchTries bounds how often an incomplete channel or guild is fetched while Discord denies it: one
	// refusal may be a mistake.
	maxFetchTries = 5
)

// Filler fetches what is missing, page by page, oldest first: missed messages before the past that somebody asked
// for. Between the two it checks which channels were deleted and, slowly, whether logged messages changed unheard.
// Each page is logged with how far it reaches, so a new process continues there.
type Filler struct {
	*Options
	convert *converter
	wake    chan struct{}

	mu      sync.Mutex
	tasks   []task
	busy    bool // with a task that isn't in tasks
	watched map[*Progress]bool
	plans   map[memory.GuildID]*catchUpPlan // the last of each whole guild

	retryAt    map[memory.Gap]time.Time // gaps to leave alone until then
	sweepAt    time.Time                // when to compare the next page
	lastReport time.Time
	verified   atomic.Pointer[ttl.Cache[memory.MessageRef, bool]] // messages looked up since the last absence
	tally      tally
}

// tally counts what was done since Hark last caught up.
type tally struct{ messages, gaps, edited, deleted, channels int }

// gapKey identifies a gap.
func gapKey(g memory.Gap) memory.Gap {
	return memory.Gap{
		Channel: g.Channel,
		Until:   g.Until,
		Sweep:   g.Sweep,
	}
}

// task is something to do about a channel or, with channel 0, a guild.
type task struct {
	guild   memory.GuildID
	channel memory.ChannelID
	// urgent tasks are done before anything else, and given up after maxFetchTries denials.
	urgent bool
	do     func(context.Context) error
	tries  int       // failed ones
	after  time.Time // the earliest next try
}

// NewFiller returns a filler that isn't running yet.
func NewFiller(o *Options) *Filler {
	f := &Filler{
		Options: o,
		convert: o.converter(),
		wake:    make(chan struct{}, 1),
		plans:   map[memory.GuildID]*catchUpPlan{},
		retryAt: map[memory.Gap]time.Time{},
		watched: map[*Progress]bool{},
	}
	f.verified.Store(ttl.New[memory.MessageRef, bool](maxVerified))
	return f
}

// Nudge has the filler look for work now.
func (f *Filler) Nudge() { pace.Wake(f.wake) }

// Settled reports whether nothing is left to do that only this process knows of.
func (f *Filler) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.tasks) == 0 && !f.busy
}

// nextTask returns the next task that is due.
func (f *Filler) nextTask(onlyFirst bool) (task, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, t := range f.tasks {
		if (t.urgent || !onlyFirst) && !f.Now().Before(t.after) {
			f.tasks = slices.Delete(f.tasks, i, i+1)
			f.busy = true
			return t, true
		}
	}
	return task{}, false
}

// runTask does a task, or postpones it if it fails.
func (f *Filler) runTask(ctx context.Context, t task) {
	defer f.Progress()
	err := t.do(ctx)
	t.tries++
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = false
	if err == nil || t.urgent && discord.Denied(err) && t.tries >= maxFetchTries {
		return
	}
	f.failed(ctx, err, "couldn't ask Discord about a channel yet")
	t.after = f.Now().Add(f.Timing.Aside)
	f.tasks = append(f.tasks, t)
}

func (f *Filler) isPostponed(g memory.Gap) bool { return f.Now().Before(f.retryAt[gapKey(g)]) }

// compareGaps orders missed messages before the past that was asked for, then by age.
func compareGaps(a, b memory.Gap) int {
	past := func(g memory.Gap) int {
		if g.Past {
			return 1
		}
		return 0
	}
	return cmp.Or(past(a)-past(b), cmp.Compare(a.After, b.After), cmp.Compare(a.Channel, b.Channel))
}

func (t *tally) add(more tally) {
	t.messages += more.messages
	t.gaps += more.gaps
	t.edited += more.edited
	t.deleted += more.deleted
	t.channels += more.channels
}

func (f *Filler) failed(ctx context.Context, err error, what string) {
	if ctx.Err() == nil {
		f.Log.Warn().Err(discord.Redact(err)).Msg(what)
	}
}

func (f *Filler) report(what string, left int) {
	e := f.Log.Info().Int("messages", f.tally.messages).Int("gaps", f.tally.gaps)
	if left > 0 {
		e = e.Int("left", left)
	}
	e.Int("edited", f.tally.edited).Int("deleted", f.tally.deleted).Int("channels_deleted", f.tally.channels).Msg(what)
}

// pageResult is what follows from a page of a channel.
type pageResult struct {
	tally
	events []memory.Event
	asks   []*Question // missed ones, about to be logged
}

// add adds a fetched message and, if it was missed, its question.
func (p *pageResult) add(o *Options, convert *converter, w *discord.Message, missed bool) {
	var out converted
	if !convert.sourceWasDeleted(w, &out) {
		convert.message(w, false, &out)
	}
	for i, e := range out.events {
		if seen, ok := e.(memory.PersonSeen); ok {
			seen.Said = memory.MessageID(w.ID)
			out.events[i] = seen
		}
	}
	p.events = append(p.events, out.events...)
	if a := convert.question(w); missed && a != nil && o.IsFresh(a) {
		p.asks = append(p.asks, a)
	}
}

// commit logs a page, and then asks its questions.
func (f *Filler) commit(ctx context.Context, p pageResult) error {
	for _, a := range p.asks {
		p.events = append(p.events, a.Opened())
	}
	if err := f.Queue.Commit(ctx, p.events); err != nil {
		return err
	}
	for _, a := range p.asks {
		f.Ask(ctx, a)
	}
	return nil
}

// fetchPage returns the next page of a gap. A gap that Discord refuses for good ends.
func (f *Filler) fetchPage(ctx context.Context, g memory.Gap) (got pageResult, err error) {
	remembered, err := f.Filter.Remembers(ctx, g.Guild, g.Channel)
	if err != nil {
		return got, err
	}
	ended := pageResult{events: []memory.Event{memory.GapFilled{Gap: g, Through: g.Until}}, tally: tally{gaps: 1}}
	if g.Past { // it may be asked for again
		ended.events = memory.StopPast([]memory.Gap{g}, f.Now())
	}
	if !remembered {
		return ended, nil
	}
	page, err := f.Client.Messages(ctx, g.Guild, g.Channel, max(g.After, 1))
	switch {
	case f.givesUp(g, err):
		return ended, nil
	case err != nil:
		return got, err
	case len(page) == 0:
		switch err := f.confirmReadable(ctx, g.Guild, g.Channel); {
		case g.Past && errors.Is(err, discord.ErrUnreadable): // /hark backfill says what is missing
			return ended, nil
		case err != nil:
			return got, err
		case f.mayLag(g):
			return got, fmt.Errorf("fetch messages of channel %d: %w", g.Channel, errLag)
		}
	}
	for i := range page {
		before := len(got.events)
		if id := memory.MessageID(page[i].ID); id > g.After && id <= g.Until {
			got.add(f.Options, f.convert, &page[i], !g.Past)
		}
		if len(got.events) > before {
			got.messages++
		}
	}
	through := g.Until
	heard := g.Until
	if len(page) > 0 {
		through = min(memory.MessageID(page[len(page)-1].ID), g.Until)
		heard = through
	} else if isTimeID(g.Until) {
		heard = g.After
	}
	if through <= g.After {
		return got, fmt.Errorf("fetch messages of channel %d: Discord tells of none after %d", g.Channel, g.After)
	}
	g.Fetched += got.messages
	got.events = append(got.events, memory.GapFilled{Gap: g, Through: through})
	if through == g.Until {
		got.gaps = 1
	}
	// A fetched range must not become a gap again: its questions would be asked twice.
	if !g.Past && heard > 0 {
		got.events = append(got.events, memory.Heard{
			Guild:   g.Guild,
			Channel: g.Channel,
			ID:      heard,
		})
	}
	// Discord's newest message of a channel may lag, so only an empty page proves that nothing is missing.
	rest := memory.Gap{
		Guild:   g.Guild,
		Channel: g.Channel,
		After:   g.Until,
		Until:   timeID(f.Now()),
	}
	if through == g.Until && !g.Past && !isTimeID(g.Until) && rest.After < rest.Until {
		got.events = append(got.events, memory.GapFound{Gap: rest})
	}
	return got, nil
}

// lag is how long Discord's list of messages may lack the newest message, of which it has told elsewhere.
const lag = time.Minute

var errLag = errors.New("Discord doesn't list yet what it has told of")

// mayLag reports whether a gap that looks empty ends with a message so new that Discord may not list it yet.
func (f *Filler) mayLag(g memory.Gap) bool {
	return !g.Past && !isTimeID(g.Until) && f.Now().Sub(g.Until.Time()) < lag
}

// givesUp reports whether err ends a gap: the channel is gone, or missed messages can't be read and are now older
// than CatchUp.
func (f *Filler) givesUp(g memory.Gap, err error) bool {
	return discord.Status(err) == http.StatusNotFound ||
		discord.Denied(err) && (g.Past || g.Until < memory.FirstMessageID(f.Now().Add(-f.CatchUp)))
}

// confirmReadable returns ErrUnreadable if a channel looks empty only because Hark can't read it.
func (f *Filler) confirmReadable(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) error {
	if guild == memory.DirectGuild {
		return nil
	}
	may, kind, err := f.Grants.In(ctx, guild, channel)
	if err == nil && !may.Has(kind.Reading()) {
		err = discord.ErrUnreadable
	}
	if err != nil {
		return fmt.Errorf("look whether channel %d is empty: %w", channel, err)
	}
	return nil
}

// checkDeleted finds out whether a channel that Discord doesn't list any more was deleted.
func (f *Filler) checkDeleted(ctx context.Context, v *catchUpPlan, channel memory.ChannelID) error {
	err := f.Client.Channel(ctx, channel, nil)
	switch {
	case discord.Code(err) == discord.CodeUnknownChannel:
		f.tally.channels++
		return f.Queue.Commit(ctx, []memory.Event{memory.ChannelDeleted{
			Guild:   v.guild,
			Channel: channel,
			At:      f.Now(),
		}})
	case err == nil, discord.Denied(err): // archived, or hidden
		return nil
	}
	return fmt.Errorf("ask whether channel %d was deleted: %w", channel, err)
}

// fetchGuild returns a guild as in GUILD_CREATE.
func (f *Filler) fetchGuild(ctx context.Context, id memory.GuildID) (*discord.Guild, error) {
	g := &discord.Guild{Members: []*discord.Member{{}}}
	err := f.Grants.Parts(ctx, id, g, g.Members[0], &g.Channels)
	if err == nil {
		g.Threads, err = f.Client.ActiveThreads(ctx, id)
	}
	return g, err
}

// Question returns what a fetched message asks Hark, or nil.
func (f *Filler) Question(w *discord.Message) *Question { return f.convert.question(w) }

// Unlogged returns the message that a fetched message replies to, if that isn't logged; else nil.
func (f *Filler) Unlogged(w *discord.Message) *Unlogged { return f.convert.unlogged(w.Referenced, w) }

// Progress counts messages fetched from the past of a channel and its threads. Filler.mu guards it.
type Progress struct {
	channel memory.ChannelID
	of      map[memory.ChannelID]bool
	fetched map[memory.Gap]int
	stopped bool
}

// Bounds of looking up messages at Discord.
const (
	maxLookUpPages = 20
	maxVerified    = 1 << 14 // messages known to match Discord's,
	verifiedFor    = 24 * time.Hour
)

// ShutOut returns the channels of g that Hark can't read. Only Hark's own roles matter.
func ShutOut(ctx context.Context, log memory.PeopleReader, g *memory.Guild) (map[memory.ChannelID]bool, error) {
	self, err := log.People(ctx, g.ID, g.Self)
	if err != nil {
		return nil, fmt.Errorf("look up Hark in server %d: %w", g.ID, err)
	}
	return search.UnreadableByHark(g, func(memory.UserID) (memory.Person, bool) {
		if len(self) == 0 {
			return memory.Person{}, false
		}
		return self[0], true
	}), nil
}

// isTimeID tells such an id from a message's, whose last 22 bits are hardly ever zero.
func isTimeID(id memory.MessageID) bool { return id&(1<<22-1) == 0 }

// timeID returns an id that stands for everything until now, where Discord doesn't name the newest message.
func timeID(now time.Time) memory.MessageID {
	return memory.FirstMessageID(now.Add(time.Millisecond))
}
