// Package command registers Hark's application commands and answers interactions: commands, buttons, menus,
// modals and autocomplete. It also posts each guild's notice, which asks what may be remembered.
//
// Each interaction is acknowledged within Discord's 3 seconds, even if the log can't be written. Its handler runs
// after all earlier events are committed, unless handler.early is set. An interaction is refused if no worker is
// free or its user may not make it. Only its user sees the response, except a change of a public message.
//
// It may import bot/discord, bot/ingest, bot/locale, bot/markdown and bot/reply, not bot.
//
// Begin with New, Commands.Put and Commands.answer. menu.go declares the commands; most have their own file.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/crash"
	"hark/internal/ttl"
	"hark/memory"
)

// parallelCommands is how many interactions are handled at once; as many are refused, and autocompleted, meanwhile.
const parallelCommands = 64

// Commands registers commands and answers interactions.
type Commands struct {
	*Options
	questions *reply.Tracker
	notices   *Notices
	handlers  map[string]handler // by Interaction.Path
	entries   []entry            // all commands
	results   *ttl.Cache[discord.Snowflake, *resultCache]
	Begin     func(func(ctx context.Context)) // runs something in the background until the bot stops
	pending   atomic.Int64                    // interactions in progress
	mu        sync.Mutex
	ids       map[string]discord.Snowflake // of the registered commands, by name; guarded by mu

	running, rejecting, completing semaphore
	grantCache                     *grantCache
	overrides                      *overrides
	// exporting has whose data is being exported, by guild: one person's at a time, since all of it is in memory.
	exporting sync.Map
	agreeing  sync.Mutex // held while proposed lore is kept, so that none is kept twice
}

// refuses returns why the user of x may not use h; "" if they may.
func (h handler) refuses(x *interaction) string {
	if x.Member.IsGuest() && !isOwnAffair(x.Path()) {
		return x.Text("I only tell members of this server what is said here.")
	}
	if h.managers {
		if why := requireManager(x); why != "" {
			return why
		}
	}
	if h.refuse == nil {
		return ""
	}
	return h.refuse(x)
}

// isOwnAffair reports whether a command is only about its user's own data.
func isOwnAffair(path string) bool {
	return strings.HasPrefix(path, "memory ") || path == "privacy"
}

// refuses returns why the user of x may not use h, with a second look at what Discord enforces.
func (c *Commands) refuses(ctx context.Context, h handler, x *interaction) string {
	if why := h.refuses(x); why != "" {
		return why
	}
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	why, err := c.overrides.requireGrant(limit, x, h.needs)
	if ctx.Err() == nil {
		c.warn(x, err, "couldn't learn whether somebody may use a command")
	}
	return why
}

const unknownCommandText = "I don't know this command any more. Reload Discord to see those I know."

// handle runs a handler, until Discord accepts no more responses unless h.endless is set.
func (c *Commands) handle(ctx context.Context, h handler, x *interaction) (shown response, err error) {
	defer crash.Recover("command", &err)
	limit, cancel := context.WithTimeout(ctx, c.timeLeft(x))
	defer cancel()
	if !h.early {
		if err := x.waitLogged(limit); err != nil {
			return response{}, err
		}
		if err := c.loadGuild(limit, x); err != nil {
			return response{}, err
		}
	}
	if h.endless {
		return h.do(ctx, x)
	}
	return h.do(limit, x)
}

// warn logs err, if any, with which an interaction is answered nevertheless.
func (c *Commands) warn(x *interaction, err error, what string) {
	if err != nil {
		c.Log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg(what)
	}
}

// loadGuild sets the guild of x to its current state.
func (c *Commands) loadGuild(ctx context.Context, x *interaction) (err error) {
	x.server, err = c.Filter.Guild(ctx, x.guild())
	x.policy = c.Policy
	return err
}

// apply commits events and reloads the guild of x.
func (c *Commands) apply(ctx context.Context, x *interaction, doing string, events ...memory.Event) error {
	if err := c.Memory.Apply(ctx, events...); err != nil {
		return fmt.Errorf("%s in server %d: %w", doing, x.Guild, err)
	}
	return c.loadGuild(ctx, x)
}

// timeLeft returns how long Discord still accepts responses to x, less a margin.
func (c *Commands) timeLeft(x *interaction) time.Duration {
	return x.came.Add(c.Timing.Use).Sub(c.Now())
}

// errorText returns an error's text for the user. It sets the outcome of x.
func (c *Commands) errorText(x *interaction, err error) string {
	x.outcome = CommandFailed
	if refused, is := errors.AsType[refusal](err); is {
		x.outcome = CommandRefused
		return string(refused) // not logged
	}
	if p, is := errors.AsType[locale.MessageKey](err); is {
		return x.Keyed(p)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return x.Text("That takes longer than Discord lets me wait. Please try again later.")
	}
	return c.Replies.Failure(x.Locale, &ingest.Question{ID: memory.MessageID(x.ID)}, err)
}

// refusal says why something isn't done, in the user's language. Without arguments it is a locale.MessageKey.
type refusal string

func (r refusal) Error() string { return string(r) }

// safely loads the guild of x and calls f. A panic in it becomes an error.
func safely[T any](ctx context.Context, c *Commands, x *interaction, doing string,
	f func(context.Context, *interaction) (T, error)) (made T, err error) {
	defer crash.Recover(doing, &err)
	if err := c.loadGuild(ctx, x); err != nil {
		return made, err
	}
	return f(ctx, x)
}

// question returns a question by the user of x, for their eyes only.
func (c *Commands) question(x *interaction) answer.Question {
	q := answer.Question{
		Guild:     x.guild(),
		Channel:   memory.ChannelID(x.Channel),
		Asker:     x.who(),
		Text:      x.Option("question"),
		Now:       c.Now(),
		OnlyAsker: true,
		Roles:     x.roles(),
		WaitReady: func(ctx context.Context) error {
			return c.Settled(ctx, x.guild())
		},
		Attended: c.Attendance.Since,
		RoleSets: c.MemberRoles.Sets,
	}
	if u := x.Invoker(); u != nil {
		q.Name = discord.DisplayName(u, x.Member)
	}
	return q
}

// recall returns an action that shows what would go into an answer for its user. Only its usage is kept. session
// includes the session where nothing is logged, as a mention does.
func (c *Commands) recall(session bool, show func(*interaction, answer.Question, answer.Recalled) response) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		return c.spend(ctx, x, func(ctx context.Context, noModel bool) (response, answer.Usage, error) {
			q := c.question(x)
			q.NoModel = noModel
			if session {
				q.Session = c.Filter.Session(ctx, q.Guild, q.Channel, memory.MessageID(x.ID))
			}
			r, err := c.Answers.Recall(ctx, q)
			c.warn(x, r.Result.RerankFailed, "recalled without the reranker")
			if err != nil {
				return response{}, r.Usage, err
			}
			return show(x, q, r), r.Usage, nil
		})
	}
}

// counted counts x as a question. It returns the limit if that is one too many.
func (c *Commands) counted(ctx context.Context, x *interaction) (*ingest.Question, *reply.Hit) {
	asked := &ingest.Question{
		ID:    memory.MessageID(x.ID),
		Guild: x.guild(),
		Asker: x.who(),
		Roles: x.roles(),
	}
	return asked, c.questions.TooOften(c.Filter.Lookup(ctx, asked.Guild), asked)
}

// spend counts x as a question and runs do within its user's limits. noModel is true if no tokens are left. do
// returns its usage even if it fails.
func (c *Commands) spend(ctx context.Context, x *interaction,
	do func(ctx context.Context, noModel bool) (response, answer.Usage, error)) (response, error) {
	asked, h := c.counted(ctx, x)
	if h != nil {
		return response{Content: reply.LimitReached(x.Locale, h)}, nil
	}
	spends, err := c.questions.Allow(ctx, asked)
	if err != nil {
		return response{}, err
	}
	var shown response
	var failed error
	came := make(chan reply.Outcome, 1)
	go func() {
		var got reply.Outcome
		defer func() { came <- got }()
		defer crash.Recover("command", &failed)
		shown, got.Answer.Usage, failed = do(ctx, spends.Hit != nil)
	}()
	took := c.Replies.Await(ctx, came)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Replies.Timing.Unwind)
	defer cancel()
	c.questions.Settle(last, asked, took)
	if ctx.Err() != nil {
		return response{}, ctx.Err()
	}
	return shown, failed
}

// mostCompletions is Discord's limit of autocompleted choices.
const mostCompletions = 25

// matching returns at most mostCompletions of all whose name contains typed: prefixes first, then names in which it
// follows a slash. Case is ignored, and an underscore equals a blank.
func matching[T any](all []T, name func(T) string, typed string) []T {
	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", " ")) }
	typed = fold(strings.TrimSpace(typed))
	rank := func(one T) int {
		switch name := fold(name(one)); {
		case strings.HasPrefix(name, typed):
			return 0
		case strings.Contains(name, "/"+typed):
			return 1
		case strings.Contains(name, typed):
			return 2
		}
		return 3
	}
	all = slices.DeleteFunc(all, func(one T) bool { return rank(one) == 3 })
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
	return all[:min(len(all), mostCompletions)]
}

type completions struct {
	Choices []optionChoice `json:"choices"`
}

// know stores the ids of the registered commands, so that they can be mentioned.
func (c *Commands) know(known []command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = map[string]discord.Snowflake{}
	for _, k := range known {
		if k.Type == discord.CommandSlash {
			c.ids[k.Name] = k.ID
		}
	}
}

// Mention returns a command's mention, or its name while its id isn't known.
func (c *Commands) Mention(path string) string {
	name, _, _ := strings.Cut(path, " ")
	c.mu.Lock()
	id := c.ids[name]
	c.mu.Unlock()
	if id == 0 {
		return "`/" + path + "`"
	}
	return fmt.Sprintf("</%s:%d>", path, id)
}

// semaphore bounds how many of something run at once.
type semaphore chan struct{}

// tryRun starts f unless the semaphore is full, and reports whether it did.
func (s semaphore) tryRun(begin func(func(context.Context)), f func(context.Context)) bool {
	select {
	case s <- struct{}{}:
		begin(func(ctx context.Context) {
			defer func() { <-s }()
			f(ctx)
		})
		return true
	default:
		return false
	}
}

// The outcomes that the metric of commands counts.
const (
	CommandAnswered = "answered"
	CommandRefused  = "refused" // not for this member or place, or not now
	CommandFailed   = "failed"
)

// errShown means that the response is already shown.
var errShown = errors.New("all is shown")

// resultCache holds what a member's search found, so that they can turn its pages. It has ids but no text: each page
// is read again with the reader's current permissions.
type resultCache struct {
	memory.Membership
	channel memory.ChannelID // where they searched
	found   []answer.FoundMessage
	below   int  // as in page
	words   bool // as in page
}

const (
	maxResults = 500              // cached searches
	resultTTL  = 15 * time.Minute // since the last page
)

// missingFor returns the permissions of n that Hark lacks in a channel.
func (c *Commands) missingFor(ctx context.Context, x *interaction, at memory.Channel,
	n discord.Need) (memory.Permissions, error) {
	if at.Kind == memory.CategoryChannel {
		return 0, nil
	}
	if has := memory.Permissions(x.AppPermissions); has != 0 && at.ID == memory.ChannelID(x.Channel) {
		if has.Has(memory.Administrator) {
			return 0, nil
		}
		return n.Needed(at.Kind) &^ has, nil
	}
	return c.Grants.Missing(ctx, x.guild(), at.ID, n)
}
