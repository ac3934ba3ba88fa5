package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	whatGoes = "- All that you wrote %[1]s goes from my memory, with all that was made from it: what I index it by, what I was told " +
		"about you, the names I know you by, and those of my answers that used it.\n"
	optOutText = "**Opt out?**\n" + whatGoes +
		"- From now on I keep nothing that you write %[1]s. What you ask me I answer, and don't keep.\n" +
		"- It can't be undone: `/memory optin` brings nothing back."
	forgetText = "**Forget what you wrote?**\n" + whatGoes +
		"- What you write from now on I may remember again; `/memory optout` keeps me from it.\n" +
		"- It can't be undone."
	outOfReach = "I can't reach: backups that whoever runs me has made, what a language model's host was sent and may have kept, " +
		"what others quoted, and Discord itself, where your messages stay until you delete them."
	goesOn = "This takes longer than Discord lets me tell you about. It goes on by itself until all is forgotten; " +
		"nothing of it is told to anybody meanwhile."
)

func (c *commands) addForgetting() {
	c.tools["memory optout"] = tool{do: confirm(optOutText, "Opt out and forget me", confirmOptOut)}
	c.tools["memory forget"] = tool{do: confirm(forgetText, "Forget what I wrote", confirmForget)}
	c.tools["component "+confirmOptOut] = tool{updates: true, early: true, endless: true, do: c.optOut}
	c.tools["component "+confirmForget] = tool{updates: true, endless: true, do: c.forgetMember}
}

// confirm asks before anything is done.
func confirm(text, label, id string) func(context.Context, *exchange) (sheet, error) {
	return func(_ context.Context, x *exchange) (sheet, error) {
		where := "in this server"
		if x.Guild == 0 {
			where = "to me in direct messages"
		}
		return sheet{Content: fmt.Sprintf(text, where), Components: []component{row(button(styleRed, label, id))}}, nil
	}
}

// optOut keeps nothing of somebody from now on, and forgets what there is.
func (c *commands) optOut(ctx context.Context, x *exchange) (sheet, error) {
	limit, cancel := context.WithTimeout(ctx, c.bot.timing.command)
	defer cancel()
	at := c.at(x)
	c.bot.recent.forget(x.guild(), x.who())
	if err := c.bot.memory.Apply(limit, memory.Opted{Guild: x.guild(), User: x.who(), Out: true, At: at}); err != nil {
		return sheet{}, fmt.Errorf("keep that somebody has opted out: %w", err)
	}
	c.bot.recent.forget(x.guild(), x.who()) // what came in meanwhile
	s, err := c.forget(ctx, x, memory.Forgetting{Guild: x.guild(), User: x.who(), Why: memory.WhyOptOut, At: at})
	if err == nil {
		s.Content = "You've opted out: I keep nothing that you write here any more.\n" + s.Content
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
		begun, err := c.bot.memory.Unfinished(ctx)
		if err != nil {
			return memory.Receipt{}, err
		}
		for _, b := range slices.Backward(begun) {
			if b.Guild == f.Guild && b.User == f.User && b.Why == f.Why {
				return c.bot.memory.CarryOut(ctx, b.ID, progress)
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
	waits := time.NewTimer(c.bot.timing.command)
	defer waits.Stop()
	for shown := int64(-1); ; {
		select {
		case r := <-came:
			return sheet{Content: receipt(r.receipt)}, r.err
		case <-waits.C:
			_ = x.show(ctx, sheet{Content: goesOn})
			if r := <-came; r.err != nil {
				c.bot.log.Error().Err(r.err).Int64("interaction", int64(x.ID)).Msg("couldn't forget all at once; it goes on")
			}
			return sheet{}, errShown
		case <-show.C:
			if done := gone.Load(); done != shown {
				shown = done
				_ = x.show(ctx, sheet{Content: fmt.Sprintf("Forgetting: %d of %d messages are gone.", done, total.Load())}) // an ornament
			}
		}
	}
}

// receipt says what was forgotten, and what couldn't be.
func receipt(r memory.Receipt) string {
	told := count(r.Facts, "thing I was told", "things I was told") + " about you"
	if r.Lore > 0 {
		told += ", " + count(r.Lore, "piece of lore", "pieces of lore")
	}
	if r.Summaries > 0 {
		told += ", " + count(r.Summaries, "summary", "summaries")
	}
	return fmt.Sprintf("Forgotten: %s, %s, and %s of mine that used them.\n-# %s", count(r.Messages, "message"), told, count(r.Answers, "answer"), outOfReach)
}

// count is a number of things: the singular, and the plural unless that is the singular with an s.
func count(n int, what ...string) string {
	if n == 1 {
		return "1 " + what[0]
	}
	if len(what) == 1 {
		return fmt.Sprintf("%d %ss", n, what[0])
	}
	return fmt.Sprintf("%d %s", n, what[1])
}
