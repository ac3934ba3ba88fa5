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
	"encoding/json"
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

// action returns the response to an interaction.
type action = func(ctx context.Context, x *interaction) (response, error)

// handler handles a command, a button, a menu or a modal.
type handler struct {
	// managers restricts it to those who manage the server or whom the server gave the command.
	managers bool
	// needs are the permissions that a command asks for, unless the server gives it to somebody; 0: none.
	needs memory.Permissions
	// refuse returns why it can't be done, from the interaction alone; "" if it can. May be nil.
	refuse func(x *interaction) string
	// updates changes the clicked message, rather than showing a new one.
	updates bool
	// early runs it before earlier events are in the log, and without the guild.
	early bool
	// endless lets it run on when Discord accepts no more responses.
	endless bool
	// opens returns a form to show at once instead of do; without an id: none. May be nil.
	opens func(ctx context.Context, x *interaction) (discord.Form, error)
	// completes returns choices for the option that is being typed. May be nil.
	completes func(ctx context.Context, x *interaction) ([]optionChoice, error)
	do        action
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

// New returns the commands. Commands.Put takes each use.
func New(o *Options, n *Notices) *Commands {
	c := &Commands{Options: o, questions: o.Replies.Questions(), notices: n,
		results:    ttl.New[discord.Snowflake, *resultCache](maxResults),
		grantCache: &grantCache{ttl.New[memory.Membership, bool](maxGrants), o.Now},
		overrides:  newOverrides(o),
		running:    make(semaphore, parallelCommands), rejecting: make(semaphore, parallelCommands),
		completing: make(semaphore, parallelCommands)}
	c.handlers = c.components()
	for _, e := range c.entries() {
		h := *e.handler
		h.managers = e.Type == discord.CommandSlash && e.Permissions != nil
		h.needs = e.needs
		c.handlers[e.path] = h
	}
	return c
}

// Put takes an INTERACTION_CREATE event. It doesn't wait. logged is closed once all earlier events are in the log.
func (c *Commands) Put(data json.RawMessage, logged <-chan struct{}) {
	if x := c.read(data, logged); x != nil {
		c.pending.Add(1)
		c.dispatch(x)
	}
}

const unknownCommandText = "I don't know this command any more. Reload Discord to see those I know."

func (c *Commands) answer(ctx context.Context, x *interaction) error {
	h, known := c.handlers[x.Path()]
	if !known {
		return x.say(ctx, x.Text(unknownCommandText))
	}
	if why := c.refuses(ctx, h, x); why != "" {
		x.outcome = CommandRefused
		return x.say(ctx, why)
	}
	c.grantCache.grant(x)
	if h.opens != nil && x.Type != discord.InteractionForm {
		if opened, err := c.open(ctx, h, x); opened || err != nil {
			return err
		}
	}
	deferred := discord.Response{Type: discord.RespondDeferred,
		Data: discord.Outgoing{Flags: discord.FlagEphemeral, AllowedMentions: discord.NoMentions}}
	if h.updates {
		deferred = discord.Response{Type: discord.RespondUpdating}
	}
	if err := x.respond(ctx, deferred); err != nil {
		return err
	}
	shown, err := c.handle(ctx, h, x)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errShown):
		return nil
	case err == nil:
		return x.pages(ctx, shown)
	}
	why := c.errorText(x, err)
	if h.updates {
		return x.add(ctx, why)
	}
	return x.show(ctx, response{Content: why})
}

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

// open shows the modal of a handler and reports whether there is one. Discord wants it within 3 seconds.
func (c *Commands) open(ctx context.Context, h handler, x *interaction) (opened bool, err error) {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	f, err := safely(limit, c, x, "form", h.opens)
	switch {
	case err == nil && f.ID == "":
		return false, nil
	case err == nil:
		return true, x.respond(ctx, discord.Response{Type: discord.RespondForm, Data: f})
	case ctx.Err() != nil:
		return true, ctx.Err()
	}
	return true, x.say(ctx, c.errorText(x, err))
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
		Guild: x.guild(), Channel: memory.ChannelID(x.Channel), Asker: x.who(),
		Text: x.Option("question"), Now: c.Now(), OnlyAsker: true, Roles: x.roles(),
		WaitReady: func(ctx context.Context) error {
			return c.Settled(ctx, x.guild())
		}, Attended: c.Attendance.Since, RoleSets: c.MemberRoles.Sets,
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
			if q.NoModel = noModel; session {
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
	asked := &ingest.Question{ID: memory.MessageID(x.ID), Guild: x.guild(), Asker: x.who(), Roles: x.roles()}
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

// complete responds to autocomplete. If anything fails, it responds in time with no choices.
func (c *Commands) complete(ctx context.Context, x *interaction) error {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	offered := completions{Choices: []optionChoice{}}
	if h := c.handlers[x.Path()]; h.completes != nil && c.refuses(limit, h, x) == "" {
		choices, err := safely(limit, c, x, "completion", h.completes)
		if ctx.Err() == nil {
			c.warn(x, err, "couldn't complete what somebody typed")
		}
		offered.Choices = append(offered.Choices, matching(choices, func(o optionChoice) string {
			return o.Name
		}, x.Typed())...)
	}
	return x.respond(ctx, discord.Response{Type: discord.RespondChoices, Data: offered})
}

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
