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
