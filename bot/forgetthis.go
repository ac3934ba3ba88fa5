package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
)

// forgetCommand is in the menu of a message.
const forgetCommand = "Forget this"

// confirmForgetThis is the button that confirms it, with the message's channel and id and whose it is, to the base 36.
const confirmForgetThis = "forget-this"

const (
	forgetNotYours = "Only whoever wrote a message, and those who may manage messages here, can have me forget it. Of an answer of mine that is whoever asked."
	forgetThisAsk  = "**Forget this message?** It goes from my memory for good, whatever becomes of it in Discord:"
	forgetThisMine = "**Forget this answer of mine?** It goes from my memory for good:"
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
	t, err := c.bot.memory.Trace(ctx, d.channel, d.id)
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
	m := x.Data.Resolved.Messages[fmt.Sprint(int64(x.Data.Target))]
	if m == nil || m.Author == nil {
		return sheet{}, refusal(x.text(unknownTool))
	}
	d := doomed{memory.ChannelID(x.Channel), memory.MessageID(x.Data.Target), memory.UserID(m.Author.ID)}
	if m.Channel != 0 { // a thread shows the message that it began from, which is elsewhere
		d.channel = memory.ChannelID(m.Channel)
	}
	ids, trace, err := c.parts(ctx, d)
	if err != nil {
		return sheet{}, err
	}
	heading := x.text(forgetThisAsk)
	if d.owner == c.bot.self {
		d.owner, heading = trace.Asker, x.text(forgetThisMine)
	}
	if err := d.mayForget(x); err != nil {
		return sheet{}, err
	}
	e, err := c.bot.memory.ExtentOf(ctx, d.channel, ids)
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
	e, err := c.bot.memory.ExtentOf(ctx, d.channel, ids)
	if err != nil {
		return sheet{}, err
	}
	// By the queue, so that all of Hark hears of it: the session where nothing is logged, and what answers the message.
	if err := c.bot.commit(ctx, []memory.Event{memory.Deleted{Guild: x.guild(), Channel: d.channel, IDs: ids}}); err != nil {
		return sheet{}, fmt.Errorf("forget message %d: %w", d.id, err)
	}
	if err := c.bot.memory.EmptyLog(ctx); err != nil {
		c.bot.log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg("what was forgotten is in the write-ahead log for a while")
	}
	at, number := c.at(x).Unix(), receiptNumber(int64(x.ID))
	c.bot.log.Info().Str("receipt", number).Int64("interaction", int64(x.ID)).Int("messages", e.Messages).Msg("forgot a message that somebody chose")
	if e == (memory.Extent{}) {
		return sheet{Content: x.text(forgetThisGone, at, number)}, nil
	}
	return sheet{Content: strings.Join(slices.Concat([]string{x.text(forgetThisDone, at, number)}, x.goes(e), []string{"-# " + x.text(outOfReach)}), "\n")}, nil
}
