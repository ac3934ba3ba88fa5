package bot

import (
	"context"
	"strconv"
	"strings"

	"hark/memory"
)

const (
	forgetAsked = "**Forget what you wrote in this server?**"
	forgetDM    = "**Forget what you wrote to me in direct messages?**"
	optOutAsked = "**Opt out in this server, and forget what you wrote?**"
	optOutDM    = "**Opt out of direct messages with me, and forget what you wrote?**"
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
		e, err := c.bot.memory.Extent(ctx, memory.Forgetting{Guild: x.guild(), User: x.who(), Why: memory.WhyMember, At: c.at(x)})
		if err != nil {
			return sheet{}, err
		}
		heading, then, label := x.text(forgetAsked), x.text(forgetThen), x.text("Forget what I wrote")
		switch {
		case does == confirmOptOut:
			heading, then, label = x.text(optOutAsked), x.text(optOutThen), x.text("Opt out and forget me")
			if x.Guild == 0 {
				heading = x.text(optOutDM)
			}
		case x.Guild == 0:
			heading = x.text(forgetDM)
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

// madeOf are lines that tell of what was made of messages, with the facts in words.
func (l locale) madeOf(e memory.Extent, facts string) []string {
	var lines []string
	for _, part := range []struct {
		n    int
		text string
	}{
		{e.Facts, facts},
		{e.Lore, l.count(e.Lore, "%s piece of lore", "%s pieces of lore")},
		{e.Summaries, l.count(e.Summaries, "%s summary", "%s summaries")},
		{e.Answers, l.count(e.Answers, "%s answer of mine that used them", "%s answers of mine that used them")},
	} {
		if part.n > 0 {
			lines = append(lines, "- "+part.text)
		}
	}
	return lines
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
	all, err := c.bot.memory.Forgotten(ctx, x.guild(), x.who())
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, r := range all {
		lines = append(lines, x.receiptLines(r)...)
	}
	return lines, nil
}
