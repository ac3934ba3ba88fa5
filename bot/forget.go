package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hark/memory"
)

// The buttons that confirm.
const (
	confirmOptOut = "optout"
	confirmForget = "forget"
)

const (
	outOfReach = "I can't reach: backups that whoever runs me has made, what a language model's host was sent and may have kept, " +
		"what others quoted, and Discord itself, where your messages stay until you delete them."
	goesOn = "This takes longer than Discord lets me tell you about. It goes on by itself until all is forgotten; " +
		"nothing of it is told to anybody meanwhile."
)

// optOut keeps nothing of somebody from now on, and forgets what there is.
func (c *commands) optOut(ctx context.Context, x *exchange) (sheet, error) {
	limit, cancel := context.WithTimeout(ctx, c.left(x))
	defer cancel()
	at := c.at(x)
	c.bot.recent.forget(x.guild(), x.who())
	if err := c.bot.memory.Apply(limit, memory.Opted{Guild: x.guild(), User: x.who(), Out: true, At: at}); err != nil {
		return sheet{}, fmt.Errorf("keep that somebody has opted out: %w", err)
	}
	c.bot.recent.forget(x.guild(), x.who()) // what came in meanwhile
	s, err := c.forget(ctx, x, memory.Forgetting{Guild: x.guild(), User: x.who(), Why: memory.WhyOptOut, At: at})
	if err == nil {
		s.Content = x.text("You've opted out: I keep nothing that you write here any more.") + "\n" + s.Content
	}
	return s, err
}

func (c *commands) forgetMember(ctx context.Context, x *exchange) (sheet, error) {
	c.bot.recent.forget(x.guild(), x.who())
	return c.forget(ctx, x, memory.Forgetting{Guild: x.guild(), User: x.who(), Why: memory.WhyMember, At: c.at(x)})
}

// at is when an exchange happens. All that Discord has numbered before it was said before, whatever our clock says.
func (c *commands) at(x *exchange) time.Time {
	at := c.bot.now()
	if told := memory.MessageID(x.ID).Time().Add(time.Millisecond); told.After(at) {
		at = told
	}
	return at
}

// carryOut forgets f, or goes on with it if that was begun already, as opting out does.
func (c *commands) carryOut(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	if f.Why == memory.WhyOptOut {
		begun, err := c.bot.memory.Forgettings(ctx, memory.Everywhere, 0)
		if err != nil {
			return memory.Receipt{}, err
		}
		for _, r := range slices.Backward(begun) {
			if b := r.Forgetting; b.Guild == f.Guild && b.User == f.User && b.Why == f.Why {
				return c.bot.memory.Resume(ctx, b.ID, progress)
			}
		}
	}
	return c.bot.memory.Forget(ctx, f, progress)
}

// errShown says that nothing more is to be shown.
var errShown = errors.New("all is shown")

// forget forgets all that somebody wrote in a guild, however long it takes: it shows how far it has come as long as
// Discord lets it, and then goes on.
func (c *commands) forget(ctx context.Context, x *exchange, f memory.Forgetting) (sheet, error) {
	return c.forgetting(ctx, x, f, x.receipt)
}

// forgetting is forget for whatever is to be forgotten, with what is told of it in the end.
func (c *commands) forgetting(ctx context.Context, x *exchange, f memory.Forgetting, told func(memory.Receipt) string) (sheet, error) {
	type result struct {
		receipt memory.Receipt
		err     error
	}
	var gone, total atomic.Int64
	came := make(chan result, 1)
	go func() {
		r, err := c.carryOut(ctx, f, func(done, of int) {
			gone.Store(int64(done))
			total.Store(int64(of))
		})
		came <- result{r, err}
	}()
	show := time.NewTicker(c.bot.timing.progress)
	defer show.Stop()
	left := c.left(x)
	waits := time.NewTimer(left)
	defer waits.Stop()
	limit, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for shown := int64(-1); ; {
		select {
		case r := <-came:
			return sheet{Content: told(r.receipt)}, r.err
		case <-waits.C:
			_ = x.show(ctx, sheet{Content: x.text(goesOn)})
			if r := <-came; r.err != nil {
				c.bot.log.Error().Err(r.err).Int64("interaction", int64(x.ID)).Msg("couldn't forget all at once; it goes on")
			}
			return sheet{}, errShown
		case <-show.C:
			if done := gone.Load(); done != shown && (f.User == x.who() || x.seesAll()) {
				shown = done
				_ = x.show(limit, sheet{Content: x.text("Forgetting: %s of %s messages are gone.", x.locale.number(int(done)), x.locale.number(int(total.Load())))}) // an ornament
			}
		}
	}
}

const (
	forgetAsked = "**Forget what you wrote in this server?**"
	optOutAsked = "**Opt out in this server, and forget what you wrote?**"
	forgetGoes  = "This goes from my memory for good, with all that it is indexed by:"
	forgetNames = "- the names that I know you by, and what your questions cost"
	optOutThen  = "From now on I keep nothing that you write here. What you ask me I answer, and don't keep."
	forgetThen  = "What you write from now on I may remember again; `/memory optout` keeps me from it."
	forgetFinal = "It can't be undone. A receipt follows; `/memory show` has it later on too."
	forgetShow  = "`/memory export` gives you a file of it before."
)

// confirmOwn asks before anything is forgotten of all that somebody wrote, and says what that is.
func (c *commands) confirmOwn(does string) action {
	return func(ctx context.Context, x *exchange) (sheet, error) {
		e, err := c.bot.memory.Extent(ctx, memory.ExtentQuery{Forgetting: memory.Forgetting{Guild: x.guild(), User: x.who(), At: c.at(x)}})
		if err != nil {
			return sheet{}, err
		}
		heading, then, label := x.text(forgetAsked), x.text(forgetThen), x.text("Forget what I wrote")
		switch {
		case does == confirmOptOut:
			heading, then, label = x.text(optOutAsked), x.text(optOutThen), x.text("Opt out and forget me")
			if x.Guild == 0 {
				heading = x.text("**Opt out of direct messages with me, and forget what you wrote?**")
			}
		case x.Guild == 0:
			heading = x.text("**Forget what you wrote to me in direct messages?**")
		}
		all := append([]string{heading, x.text(forgetGoes), "- " + x.written(e.Messages, e.Channels)}, x.madeOf(e, x.factsTold(e.Facts))...)
		return paragraphs(append(all, x.text(forgetNames), then, x.text(forgetFinal)+" "+x.text(forgetShow))...).asking(styleRed, label, does), nil
	}
}

// written is a number of messages and of the channels that they lie in.
func (l locale) written(messages, channels int) string {
	where := l.count(channels, "%s channel", "%s channels")
	return l.count(messages, "%s message in %s", "%s messages in %s", where)
}

// factsTold is a number of facts about somebody.
func (l locale) factsTold(n int) string {
	return l.count(n, "%s thing I was told about you", "%s things I was told about you")
}

// amount is a number of something, in words.
type amount struct {
	n     int
	words string
}

// some are lines that tell of amounts, but for those of nothing.
func some(all ...amount) (lines []string) {
	for _, of := range all {
		if of.n > 0 {
			lines = append(lines, of.words)
		}
	}
	return lines
}

// madeOf are lines that tell of what was made of messages, with the facts in words.
func (l locale) madeOf(e memory.Extent, facts string) []string {
	return some(
		amount{e.Facts, "- " + facts},
		amount{e.Lore, "- " + l.count(e.Lore, "%s piece of lore", "%s pieces of lore")},
		amount{e.Summaries, "- " + l.count(e.Summaries, "%s summary", "%s summaries")},
		amount{e.Answers, "- " + l.count(e.Answers, "%s answer of mine that used them", "%s answers of mine that used them")})
}

// receiptNumber is the number on a receipt, of a forgetting or of the use of a command: short enough to be read out. The log has it
// where nothing else keeps it.
func receiptNumber(id int64) string {
	const short = 1_000_000
	if id >= short { // an id of Discord's: the time, in milliseconds, tells it from others
		id = id >> 22 % short
	}
	return strconv.FormatInt(id, 10)
}

// receipt says what was forgotten, when, and what couldn't be.
func (l locale) receipt(r memory.Receipt) string {
	return strings.Join(append(l.receiptLines(r), "-# "+l.text(outOfReach)), "\n")
}

func (l locale) receiptLines(r memory.Receipt) []string {
	lines := []string{l.text("**Forgotten** on <t:%d:f>, receipt %s:", r.Forgetting.At.Unix(), receiptNumber(r.Forgetting.ID)),
		"- " + l.count(r.Messages, "%s message", "%s messages")}
	lines = append(lines, l.madeOf(memory.Extent{Facts: r.Facts, Lore: r.Lore, Summaries: r.Summaries, Answers: r.Answers}, l.factsTold(r.Facts))...)
	if r.Records > 0 {
		lines = append(lines, "- "+l.count(r.Records, "%s record of a call for you", "%s records of calls for you"))
	}
	return lines
}

// receipts are lines that tell of what somebody had forgotten before, as far as it is on record.
func (c *commands) receipts(ctx context.Context, x *exchange) ([]string, error) {
	all, err := c.bot.memory.Forgettings(ctx, x.guild(), x.who())
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, r := range all {
		lines = append(lines, x.receiptLines(r)...)
	}
	return lines, nil
}

// forgetCommand is in the menu of a message.
const forgetCommand = "Forget this"

// confirmForgetThis is the button that confirms it, with the message's channel and id and whose it is, to the base 36.
const confirmForgetThis = "forget-this"

const (
	forgetNotYours = "Only whoever wrote a message, and those who may manage messages here, can have me forget it. Of an answer of mine that is whoever asked."
	forgetThisNone = "**Forget this message?** I don't have it: it was sent where or when I remember nothing, or it is forgotten already. " +
		"If you go on, I won't take it in later either, whatever becomes of it."
	forgetThisStays = "It can't be undone. In Discord the message stays until somebody deletes it there."
	forgetThisDone  = "**Forgotten** on <t:%d:f>, receipt %s:"
	forgetThisGone  = "**Forgotten** on <t:%d:f>, receipt %s: I had nothing of this message, and won't take it in."
)

// doomed is a message that is to be forgotten.
type doomed struct {
	channel memory.ChannelID
	id      memory.MessageID
	owner   memory.UserID // whoever wrote it, or asked for it; 0 if nobody is known to have
}

func (d doomed) button() string {
	return id(confirmForgetThis, short36(int64(d.channel)), short36(int64(d.id)), short36(int64(d.owner)))
}

// doomedBy reads the button's id.
func doomedBy(x *exchange) (d doomed, ok bool) {
	n, ok := integers(x.args(), 36)
	if !ok || len(n) != 3 {
		return d, false
	}
	return doomed{memory.ChannelID(n[0]), memory.MessageID(n[1]), memory.UserID(n[2])}, true
}

// mayForget refuses whoever neither owns a message nor may manage messages.
func (d doomed) mayForget(x *exchange) error {
	if d.owner != 0 && d.owner == x.who() || x.may(manageMessages) {
		return nil
	}
	return refusal(x.text(forgetNotYours))
}

// parts are all messages that go with it: those of an answer of ours.
func (c *commands) parts(ctx context.Context, d doomed) ([]memory.MessageID, memory.Trace, error) {
	t, err := memory.TraceOf(ctx, c.bot.memory, d.channel, d.id)
	if errors.Is(err, memory.ErrNotFound) {
		return []memory.MessageID{d.id}, t, nil
	}
	if err != nil {
		return nil, t, err
	}
	return append([]memory.MessageID{t.Answer}, t.Parts...), t, nil
}

// askForgetThis asks before a message is forgotten, and says what goes.
func (c *commands) askForgetThis(ctx context.Context, x *exchange) (sheet, error) {
	m, channel := x.target()
	if m == nil || m.Author == nil {
		return sheet{}, refusal(x.text(unknownTool))
	}
	d := doomed{channel, memory.MessageID(x.Data.Target), memory.UserID(m.Author.ID)}
	ids, trace, err := c.parts(ctx, d)
	if err != nil {
		return sheet{}, err
	}
	heading := x.text("**Forget this message?** It goes from my memory for good, whatever becomes of it in Discord:")
	if d.owner == c.bot.self {
		d.owner, heading = trace.Asker, x.text("**Forget this answer of mine?** It goes from my memory for good:")
	}
	if err := d.mayForget(x); err != nil {
		return sheet{}, err
	}
	e, err := c.bot.memory.Extent(ctx, memory.ExtentQuery{Forgetting: memory.Forgetting{Guild: x.guild(), Channel: d.channel}, Messages: ids})
	if err != nil {
		return sheet{}, err
	}
	lines := append([]string{heading}, x.goes(e)...)
	if e == (memory.Extent{}) {
		lines = []string{x.text(forgetThisNone)}
	}
	return sheet{
		Content:    strings.Join(append(lines, x.text(forgetThisStays)), "\n"),
		Components: []component{row(button(styleRed, x.text("Forget it for good"), d.button()))},
	}, nil
}

// goes are lines that tell of messages and of what was made of them.
func (l locale) goes(e memory.Extent) []string {
	return append([]string{"- " + l.count(e.Messages, "%s message", "%s messages")},
		l.madeOf(e, l.count(e.Facts, "%s fact that I learned from it", "%s facts that I learned from it"))...)
}

// forgetThis forgets a message as if it were deleted in Discord: nothing brings it back, neither an edit nor comparing what
// Hark missed with Discord.
func (c *commands) forgetThis(ctx context.Context, x *exchange) (sheet, error) {
	d, ok := doomedBy(x)
	if !ok {
		return sheet{}, refusal(x.text(unknownTool))
	}
	if err := d.mayForget(x); err != nil {
		return sheet{}, err
	}
	ids, _, err := c.parts(ctx, d)
	if err != nil {
		return sheet{}, err
	}
	e, err := c.bot.memory.Extent(ctx, memory.ExtentQuery{Forgetting: memory.Forgetting{Guild: x.guild(), Channel: d.channel}, Messages: ids})
	if err != nil {
		return sheet{}, err
	}
	// By the queue, so that all of Hark hears of it: the session where nothing is logged, and what answers the message.
	if err := c.bot.commit(ctx, []memory.Event{memory.Deleted{Guild: x.guild(), Channel: d.channel, IDs: ids}}); err != nil {
		return sheet{}, fmt.Errorf("forget message %d: %w", d.id, err)
	}
	if err := c.bot.memory.Erase(ctx, true); err != nil {
		c.bot.log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg("what was forgotten is in the write-ahead log for a while")
	}
	at, number := c.at(x).Unix(), receiptNumber(int64(x.ID))
	c.bot.log.Info().Str("receipt", number).Int64("interaction", int64(x.ID)).Int("messages", e.Messages).Msg("forgot a message that somebody chose")
	if e == (memory.Extent{}) {
		return sheet{Content: x.text(forgetThisGone, at, number)}, nil
	}
	return sheet{Content: strings.Join(slices.Concat([]string{x.text(forgetThisDone, at, number)}, x.goes(e), []string{"-# " + x.text(outOfReach)}), "\n")}, nil
}
