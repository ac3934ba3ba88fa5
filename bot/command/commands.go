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

// parallelCommands is how many uses of commands are worked on at the same time; more are turned away. As many
// are turned away at the same time, and as many completed while they are typed.
const parallelCommands = 64

// Commands registers commands and works on their uses. A use is acknowledged at once, whatever the log
// does: Discord gives it three seconds.
type Commands struct {
	*Options
	questions *reply.Tracker
	notices   *Notices
	handlers  map[string]handler // by the paths of uses
	results   *ttl.Cache[discord.Snowflake, *resultCache]
	Begin     func(func(ctx context.Context)) // does something beside, until the bot's work ends
	pending   atomic.Int64                    // uses that aren't done with
	mu        sync.Mutex
	ids       map[string]discord.Snowflake // of the commands that are registered, by name
	// seats are for what is done, answering for what is turned away, and typing for what is offered meanwhile.
	running, rejecting, completing semaphore
	// permits are who may use what /hark shows.
	grantCache *grantCache
	// exporting is whose data is being written down, by guild: that of one person at a time, since all of it
	// is in memory.
	exporting sync.Map
	agreeing  sync.Mutex // has each press that keeps lore wait for those before it, so that nothing is kept twice
}

// action is what is shown in answer to a use.
type action = func(ctx context.Context, x *interaction) (response, error)

// handler is what a command, a button, a menu or a form does.
type handler struct {
	// managers says that it is for those who manage the server, or whom the server gave the command.
	managers bool
	// refuse is why it can't be done, by what the use itself tells; "" if it can. May be nil.
	refuse func(x *interaction) string
	// updates says that the message clicked on is changed, rather than a new one shown.
	updates bool
	// early says that it doesn't wait for what was said before to be logged, and isn't told of the guild.
	early bool
	// endless says that it may go on when Discord waits no longer.
	endless bool
	// opens is a form to fill in, shown at once and instead of what do shows; one without an id is none. May be nil.
	opens func(ctx context.Context, x *interaction) (discord.Form, error)
	// completes are what can be given for the option that is being typed. May be nil.
	completes func(ctx context.Context, x *interaction) ([]optionChoice, error)
	// do is what is shown then.
	do action
}

// refuses is why whoever uses x can't do it; "" if they can.
func (h handler) refuses(x *interaction) string {
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

func New(o *Options, n *Notices) *Commands {
	c := &Commands{Options: o, questions: o.Replies.Questions(), notices: n,
		results: ttl.New[discord.Snowflake, *resultCache](maxResults), grantCache: newGrantCache(o.Now)}
	c.running, c.rejecting, c.completing = make(semaphore, parallelCommands), make(semaphore, parallelCommands),
		make(semaphore, parallelCommands)
	c.handlers = c.components()
	for _, e := range c.entries() {
		h := *e.handler
		h.managers = e.Type == discord.CommandSlash && e.Permissions != nil
		c.handlers[e.path] = h
	}
	return c
}

// Put takes one use of a command, a button or a menu. It doesn't wait. logged is closed once the log has all
// that came before.
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
	if why := h.refuses(x); why != "" {
		x.outcome = CommandRefused
		return x.say(ctx, why)
	}
	if h.opens != nil && x.Type != discord.InteractionForm {
		if opened, err := c.open(ctx, h, x); opened || err != nil {
			return err
		}
	}
	promise := discord.Response{Type: discord.RespondDeferred,
		Data: discord.Outgoing{Flags: discord.FlagEphemeral, AllowedMentions: discord.NoMentions}}
	if h.updates {
		promise = discord.Response{Type: discord.RespondUpdating}
	}
	if err := x.respond(ctx, promise); err != nil {
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

// use is what a handler shows, at the latest when Discord waits no longer.
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

// warn logs that something failed, if it did, without which a use was answered.
func (c *Commands) warn(x *interaction, err error, what string) {
	if err != nil {
		c.Log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg(what)
	}
}

// look has x know its guild as it is now.
func (c *Commands) loadGuild(ctx context.Context, x *interaction) (err error) {
	x.server, err = c.Filter.Guild(ctx, x.guild())
	x.policy = c.Policy
	return err
}

// apply keeps what was decided or told, and has x know its guild as it is then.
func (c *Commands) apply(ctx context.Context, x *interaction, doing string, events ...memory.Event) error {
	if err := c.Memory.Apply(ctx, events...); err != nil {
		return fmt.Errorf("%s in guild %d: %w", doing, x.Guild, err)
	}
	return c.loadGuild(ctx, x)
}

// left is for how long Discord still lets a use be answered, with a margin.
func (c *Commands) timeLeft(x *interaction) time.Duration {
	return x.came.Add(c.Timing.Use).Sub(c.Now())
}

// open shows the form that a handler asks to be filled in, and reports whether there is one. Discord wants it at once.
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

// why is what is told of an error.
func (c *Commands) errorText(x *interaction, err error) string {
	x.outcome = CommandFailed
	if refused, is := errors.AsType[refusal](err); is {
		x.outcome = CommandRefused
		return string(refused) // nothing is amiss, so that nothing is logged
	}
	if p, is := errors.AsType[locale.Phrase](err); is {
		return x.Phrase(p)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return x.Text("That takes longer than Discord lets me wait. Please try again later.")
	}
	return c.Replies.Failure(x.Locale, &ingest.Question{ID: memory.MessageID(x.ID)}, err)
}

// refusal is why something isn't done, in words for whoever wants it and in their language. One that is the
// same in all cases is a phrase.
type refusal string

func (r refusal) Error() string { return string(r) }

// safely is what f makes of a use whose guild is looked up, at once and whatever happens in it.
func safely[T any](ctx context.Context, c *Commands, x *interaction, doing string,
	f func(context.Context, *interaction) (T, error)) (made T, err error) {
	defer crash.Recover(doing, &err)
	if err := c.loadGuild(ctx, x); err != nil {
		return made, err
	}
	return f(ctx, x)
}

// question asks on behalf of whoever uses x, and for their eyes only.
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

// recall is what show makes of what would go into an answer for whoever uses x. Nothing is kept of it but what it took.
// With session, and where nothing is logged, it has the session, as one that mentions Hark would.
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

// counted is a use that counts as a question, unless it is one too many: then it is the limit that says so.
func (c *Commands) counted(ctx context.Context, x *interaction) (*ingest.Question, *reply.Hit) {
	asked := &ingest.Question{ID: memory.MessageID(x.ID), Guild: x.guild(), Asker: x.who(), Roles: x.roles()}
	return asked, c.questions.TooOften(c.Filter.Lookup(ctx, asked.Guild), asked)
}

// spend has something done that may ask a model, so that it counts as a question, within the limits of who
// asked. do is told when no tokens are left for one, and tells what it took of models, even if it fails.
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

// mostCompletions is how many choices Discord shows while somebody types.
const mostCompletions = 25

// complete shows what can be given for the option that is being typed. Whatever fails, there is an answer in
// time: nothing to choose from.
func (c *Commands) complete(ctx context.Context, x *interaction) error {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	offered := completions{Choices: []optionChoice{}}
	if h := c.handlers[x.Path()]; h.completes != nil && h.refuses(x) == "" {
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

// matching are as many as Discord shows of those whose name contains what is typed. Those that begin with it
// come first, then those in which it begins after a slash. Capitals don't count, and an underscore is a
// blank.
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
