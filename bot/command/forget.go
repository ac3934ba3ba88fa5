package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

const (
	confirmOptOut = "optout"
	confirmForget = "forget"
)

const (
	outOfReach = "-# I can't reach: backups and exports made before, what a language model's host was sent and may have kept, what others quoted, and Discord itself, where messages stay until they are deleted there."
	goesOn     = "This takes longer than Discord lets me tell you about. It goes on by itself until all is forgotten; meanwhile I tell nobody any of it."
)

// ownForgettings are the questions before all that a member wrote is deleted, by button.
var ownForgettings = map[string]struct{ server, direct, then, label locale.MessageKey }{
	confirmForget: {
		locale.MessageKey("**Forget what you wrote in this server?**"),
		locale.MessageKey("**Forget what you wrote to me in direct messages?**"),
		locale.MessageKey("I may still remember what you write from now on; `/memory optout` prevents that."),
		locale.MessageKey("Forget what I wrote"),
	},
	confirmOptOut: {
		locale.MessageKey("**Opt out in this server, and forget what you wrote?**"),
		locale.MessageKey("**Opt out of direct messages with me, and forget what you wrote?**"),
		locale.MessageKey("From now on I keep nothing that you write here. What you ask me I answer, and don't keep."),
		locale.MessageKey("Opt out and forget me"),
	},
}

// confirmOwn asks before all that the user wrote is deleted.
func (c *Commands) confirmOwn(does string) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		says := ownForgettings[does]
		question := says.server
		if x.Guild == 0 {
			question = says.direct
		}
		asked, err := c.confirm(ctx, x, memory.Forgetting{User: x.who(), Why: memory.WhyMember}, x.Keyed(question),
			markdown.Lines(x.Keyed(says.then),
				x.Text("It can't be undone. A receipt follows; `/memory show` has it later on too.")+" "+
					x.Text("`/memory export` gives you a file of it before.")))
		return asked.asking(discord.StyleRed, x.Keyed(says.label), does), err
	}
}

// confirm asks whether to carry out f, and shows what it deletes and then the text then.
func (c *Commands) confirm(ctx context.Context, x *interaction, f memory.Forgetting,
	question, then string) (response, error) {
	f.Guild = x.guild()
	f.At = c.at(x)
	e, err := c.extent(ctx, x, f)
	names := ""
	counted := x.visibleNote()
	switch {
	case err != nil:
		return response{}, err
	case f.User == 0 && e == (memory.DryRun{}) && x.seesAll():
		return response{}, refusal(x.Text("I remember nothing of that, so there is nothing to forget."))
	case f.Why == memory.WhyMember:
		names = x.Text("- the names that I know you by, and what your questions cost")
		counted = ""
	case f.User != 0:
		names = x.Text("- the names that I know them by, and what their questions cost")
	}
	return paragraphs(question, x.Text("This goes from my memory for good, with its index entries:"),
		amounts(x.Locale, e, 0), names, counted, then), nil
}

// extent returns how much f deletes: for members all of it, else what the user of x may read.
func (c *Commands) extent(ctx context.Context, x *interaction, f memory.Forgetting) (memory.DryRun, error) {
	q := memory.DryRunQuery{Forgetting: f}
	if f.Why != memory.WhyMember {
		q.Within = x.visibleChannels()
	}
	return c.Memory.DryRun(ctx, q)
}

func (c *Commands) forgetMember(ctx context.Context, x *interaction) (response, error) {
	return c.forgetting(ctx, x, memory.Forgetting{
		Guild: x.guild(),
		User:  x.who(),
		Why:   memory.WhyMember,
		At:    c.at(x),
	}, receiptText)
}

// at returns the time of x. It is after every message that Discord numbered before x, even if our clock is slow.
func (c *Commands) at(x *interaction) time.Time {
	return later(c.Now(), memory.MessageID(x.ID).Time().Add(time.Millisecond))
}

// carryOut runs f, or resumes it if opting out began it already.
func (c *Commands) carryOut(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	if f.Why == memory.WhyOptOut {
		begun, err := c.Memory.Forgettings(ctx, memory.Everywhere, 0)
		if err != nil {
			return memory.DeletionReport{}, err
		}
		for _, r := range slices.Backward(begun) {
			if b := r.Forgetting; b.Guild == f.Guild && b.User == f.User && b.Why == f.Why {
				return c.Memory.Forget(ctx, b, progress)
			}
		}
	}
	return c.Memory.Forget(ctx, f, progress)
}

// forgetting carries out f and returns its receipt as text. It shows its progress as long as Discord lets it, and then
// runs on to the end. Sessions that aren't logged are deleted at once.
func (c *Commands) forgetting(ctx context.Context, x *interaction, f memory.Forgetting,
	text func(locale.Locale, memory.DeletionReport) string) (response, error) {
	c.Buffer.ForgetAll(x.server, f)
	var receipt memory.DeletionReport
	var gone, total atomic.Int64
	came := make(chan error, 1)
	go func() {
		var err error
		receipt, err = c.carryOut(ctx, f, func(done, of int) {
			gone.Store(int64(done))
			total.Store(int64(of))
		})
		came <- err
	}()
	show := time.NewTicker(c.Timing.Progress)
	defer show.Stop()
	limit, cancel := context.WithTimeout(ctx, c.timeLeft(x))
	defer cancel()
	for shown := int64(-1); ; {
		select {
		case err := <-came:
			return response{Content: text(x.Locale, receipt)}, err
		case <-limit.Done():
			_ = x.show(ctx, response{Content: x.Text(goesOn)})
			if err := <-came; err != nil {
				c.Log.Error().Err(err).Int64("interaction",
					int64(x.ID)).Msg("couldn't forget all at once; it goes on")
			}
			return response{}, errShown
		case <-show.C:
			if c.timeLeft(x) <= 0 { // limit stops while the machine sleeps, Discord's clock doesn't
				cancel()
				continue
			}
			if done := gone.Load(); done != shown && (f.User == x.who() || x.seesAll()) {
				shown = done
				_ = x.show(limit, response{Content: x.Text("Forgetting: %s of %s messages are gone.",
					x.Locale.Number(int(done)), x.Locale.Number(int(total.Load())))})
			}
		}
	}
}

// amounts lists how much is deleted, a line for each kind.
func amounts(l locale.Locale, e memory.DryRun, records int) string {
	messages := l.Count(e.Messages, "- %s message", "- %s messages")
	if e.Channels > 0 {
		messages = l.Count(e.Channels, "%[2]s in %[1]s channel", "%[2]s in %[1]s channels", messages)
	}
	return markdown.Lines(messages,
		when(e.Facts > 0, l.Count(e.Facts, "- %s thing I was told about somebody",
			"- %s things I was told about somebody")),
		when(e.Lore > 0, l.Count(e.Lore, "- %s piece of lore", "- %s pieces of lore")),
		when(e.Summaries > 0, l.Count(e.Summaries, "- %s summary", "- %s summaries")),
		when(records > 0, l.Count(records, "- %s record of a call", "- %s records of calls")),
		when(e.Answers > 0, l.Count(e.Answers, "- %s answer of mine that used it",
			"- %s answers of mine that used it")))
}

// receiptNumber returns a receipt's number, short enough to read out.
func receiptNumber(id int64) string {
	const short = 1_000_000
	if id >= short { // an id of Discord's: its time, in milliseconds
		id = id >> 22 % short
	}
	return strconv.FormatInt(id, 10)
}

// receiptText says what was deleted, when, and what can't be.
func receiptText(l locale.Locale, r memory.DeletionReport) string {
	return markdown.Lines(forgottenText(l, r), l.Text(outOfReach))
}

func forgottenText(l locale.Locale, r memory.DeletionReport) string {
	f := r.Forgetting
	what := l.Text("what was said in %s", channelMention(l, f.Channel))
	switch {
	case f.User != 0:
		what = l.Text("what <@%d> wrote here", f.User)
	case !f.Before.IsZero():
		what = l.Text("what was said in %s before <t:%d:f>", channelMention(l, f.Channel), f.Before.Unix())
	}
	e := memory.DryRun{
		Messages:  r.Messages,
		Facts:     r.Facts,
		Lore:      r.Lore,
		Summaries: r.Summaries,
		Answers:   r.Answers,
	}
	return goneText(l, what, amounts(l, e, r.Records), f.ID, f.At)
}

// goneText returns a receipt without what can't be deleted.
func goneText(l locale.Locale, what, amounts string, receipt int64, at time.Time) string {
	return markdown.Lines(l.Text("**Forgotten: %s**", what), amounts,
		l.Text("-# Receipt %s, <t:%d:f>.", receiptNumber(receipt), at.Unix()))
}

// forgetCommand is in the menu of a message.
const forgetCommand = "Forget this"

// confirmForgetThis is the button that confirms it, with a pendingDeletion's fields in base 36.
const confirmForgetThis = "forget-this"

const (
	forgetNotYours = "Only whoever wrote a message, and those who may manage messages here, can have me forget it. My answers count as written by whoever asked."
	forgetThisNone = "**Forget this message?** I don't have it: it was sent where or when I remember nothing, or it is forgotten already. If you go on, I won't remember it later either, even if it is edited."
)

// pendingDeletion is a message to be deleted.
type pendingDeletion struct {
	channel memory.ChannelID
	id      memory.MessageID
	owner   memory.UserID // who wrote it, or asked for the answer
}

func (d pendingDeletion) button() string {
	return ID(confirmForgetThis, reply.Short36(int64(d.channel)), reply.Short36(int64(d.id)),
		reply.Short36(int64(d.owner)))
}

// goesWith returns all messages of the answer that d belongs to, or d alone, and what is deleted with them. It sets the
// owner of an answer, and refuses users who neither own d nor may manage messages.
func (c *Commands) goesWith(ctx context.Context, x *interaction, d *pendingDeletion) (ids []memory.MessageID,
	e memory.DryRun, err error) {
	t, err := memory.TraceOf(ctx, c.Memory, d.channel, d.id)
	switch {
	case err == nil:
		ids = append([]memory.MessageID{t.Answer}, t.Parts...)
	case errors.Is(err, memory.ErrNotFound):
		ids = []memory.MessageID{d.id}
	default:
		return nil, e, err
	}
	if d.owner == c.Self {
		d.owner = t.Asker
	}
	if (d.owner == 0 || d.owner != x.who()) && !x.May(discord.ManageMessages) {
		return nil, e, refusal(x.Text(forgetNotYours))
	}
	e, err = c.Memory.DryRun(ctx,
		memory.DryRunQuery{Forgetting: memory.Forgetting{Guild: x.guild(), Channel: d.channel}, Messages: ids})
	return ids, e, err
}

// askForgetThis asks before a message is deleted, and shows what goes.
func (c *Commands) askForgetThis(ctx context.Context, x *interaction) (response, error) {
	m, channel := x.target()
	if m == nil || m.Author == nil {
		return response{}, refusal(x.Text(unknownCommandText))
	}
	d := pendingDeletion{channel, memory.MessageID(x.Data.Target), memory.UserID(m.Author.ID)}
	heading := x.Text("**Forget this message?** This goes from my memory for good, even if the message stays in Discord:")
	if d.owner == c.Self {
		heading = x.Text("**Forget this answer of mine?** This goes from my memory for good:")
	}
	_, e, err := c.goesWith(ctx, x, &d)
	if err != nil {
		return response{}, err
	}
	goes := markdown.Lines(heading, amounts(x.Locale, e, 0))
	if e == (memory.DryRun{}) {
		goes = x.Text(forgetThisNone)
	}
	return paragraphs(goes, x.Text(
		"It can't be undone. In Discord the message stays until somebody deletes it there.")).
		asking(discord.StyleRed, x.Text("Forget it for good"), d.button()), nil
}

// forgetThis deletes a message as if it were deleted in Discord: neither an edit nor gap filling brings it back.
func (c *Commands) forgetThis(ctx context.Context, x *interaction) (response, error) {
	n, ok := reply.Integers(x.Args(), 36)
	if !ok || len(n) != 3 {
		return response{}, refusal(x.Text(unknownCommandText))
	}
	d := pendingDeletion{memory.ChannelID(n[0]), memory.MessageID(n[1]), memory.UserID(n[2])}
	ids, e, err := c.goesWith(ctx, x, &d)
	if err != nil {
		return response{}, err
	}
	// Through the queue, so that unlogged sessions and running answers are told.
	if err := c.Queue.Commit(ctx, []memory.Event{memory.Deleted{
		Guild:   x.guild(),
		Channel: d.channel,
		IDs:     ids,
	}}); err != nil {
		return response{}, fmt.Errorf("forget message %d: %w", d.id, err)
	}
	c.warn(x, c.Memory.Erase(ctx, true), "what was forgotten is in the write-ahead log for a while")
	c.Log.Info().Str("receipt", receiptNumber(int64(x.ID))).Int64("interaction", int64(x.ID)).
		Int("messages", e.Messages).Msg("forgot a message that somebody chose")
	goes := markdown.Lines(amounts(x.Locale, e, 0), x.Text(outOfReach))
	if e == (memory.DryRun{}) {
		goes = x.Text("I had nothing of this message, and won't remember it.")
	}
	return response{Content: goneText(x.Locale, x.Text("this message"), goes, int64(x.ID), c.at(x))}, nil
}
