package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// Who /hark limits sets a limit for.
const (
	limitServer  = "server"
	limitMembers = "members"
)

// mostOfLimit is the greatest limit.
const mostOfLimit = 1_000_000_000

// number returns the number given for an option; false if there is none.
func (x *interaction) number(name string) (int, bool) {
	n, ok := x.Given(name).(float64)
	return int(n), ok
}

// limit sets how much may be asked, or shows it.
func (c *Commands) limit(ctx context.Context, x *interaction) (response, error) {
	role, chosen, why := x.limited()
	limit := x.server.LimitOf(role)
	if x.Is("reset") {
		limit = memory.Limit{Messages: memory.AsConfigured, Tokens: memory.AsConfigured}
	}
	if n, given := x.number("messages"); given {
		limit.Messages = n
	}
	if n, given := x.number("tokens"); given {
		limit.Tokens = n
	}
	if why != "" || !chosen || limit == x.server.LimitOf(role) {
		return response{Content: markdown.Lines(why, limitsText(x.Locale, x.server, c.Replies.Limits))}, nil
	}
	if err := c.chooseLimits(ctx, x, map[memory.RoleID]memory.Limit{role: limit}); err != nil {
		return response{}, err
	}
	return response{Content: x.Text("Decided. %s", limitsText(x.Locale, x.server, c.Replies.Limits))}, nil
}

// chooseLimits sets the limits that change, by role as memory.RoleLimit has it.
func (c *Commands) chooseLimits(ctx context.Context, x *interaction, limits map[memory.RoleID]memory.Limit) error {
	var events []memory.Event
	for _, role := range slices.Sorted(maps.Keys(limits)) {
		if limit := limits[role]; limit != x.server.LimitOf(role) {
			events = append(events, memory.LimitChosen{
				Guild: x.guild(),
				RoleLimit: memory.RoleLimit{
					Role:  role,
					Limit: limit,
					By:    x.who(),
				},
				At: c.Now(),
			})
		}
	}
	return c.apply(ctx, x, "keep limits", events...)
}

// limited returns the role whose limit is set, as memory.RoleLimit has it, and whether one was chosen. why says what is
// wrong with the options.
func (x *interaction) limited() (role memory.RoleID, chosen bool, why string) {
	whom := x.Option("for")
	given := x.Option("role")
	switch {
	case whom != "" && given != "":
		return 0, false, x.Text("Please choose either a role or whose limit it is.") + "\n"
	case given != "":
		id, ok := x.OptionID("role")
		return memory.RoleID(id), ok, when(!ok, x.Text(unknownCommandText))
	case whom == limitMembers:
		return memory.RoleID(x.Guild), true, ""
	}
	if whom != limitServer && (x.Given("messages") != nil || x.Given("tokens") != nil || x.Given("reset") != nil) {
		return 0, false, x.Text("Please also choose whose limit it is, or a role.") + "\n"
	}
	return 0, whom == limitServer, ""
}

// limitsText lists the limits of a guild.
func limitsText(l locale.Locale, g *memory.Guild, of reply.Limits) string {
	every, all := of.Of(g, nil)
	shown := markdown.Lines(l.Text("This is how much members may ask:"),
		l.Text("- all of this server, together: %s", limitText(l, all)), l.Text("- each member: %s",
			limitText(l, every)))
	for _, r := range g.Limits {
		if !slices.ContainsFunc(g.Roles, func(role memory.Role) bool {
			return role.ID == r.Role && r.Role != memory.RoleID(g.ID)
		}) {
			continue
		}
		with, _ := of.Of(g, []memory.RoleID{r.Role})
		shown = markdown.Lines(shown, l.Text("- each with <@&%d>: %s", r.Role, limitText(l, with)))
		if len(shown) > pageLimit {
			shown = markdown.Lines(shown, l.Text("- and more"))
			break
		}
	}
	return markdown.Lines(shown,
		l.Text("-# If a member has several roles, the highest limit counts. Days are in UTC. Whoever runs me sets the highest limit for a whole server. `/limits` shows each member what is left."))
}

// pageLimit is roughly how many bytes of a list are shown in one message.
const pageLimit = 1500

func limitText(l locale.Locale, limit memory.Limit) string {
	questions := l.Text("any number of questions a minute")
	if n := limit.Messages; n != memory.Unlimited {
		questions = l.Count(n, "%s question a minute", "%s questions a minute")
	}
	if limit.Tokens == memory.Unlimited {
		return l.Text("%s, any number of tokens a day", questions)
	}
	return l.Count(limit.Tokens, "%[2]s, %[1]s token a day", "%[2]s, %[1]s tokens a day", questions)
}

// showLimits shows how much the user may still ask.
func (c *Commands) showLimits(ctx context.Context, x *interaction) (response, error) {
	m := memory.Membership{Guild: x.guild(), User: x.who()}
	at := memory.MessageID(x.ID).Time()
	member, guild := c.Replies.Limits.Of(c.Filter.Lookup(ctx, m.Guild), x.roles())
	may, err := c.questions.TokenQuota(ctx, m, x.roles(), at)
	if err != nil {
		return response{}, fmt.Errorf("look up what is left: %w", err)
	}
	_, tomorrow := memory.Day(at)
	server := ""
	if m.Guild != memory.DirectGuild {
		server = markdown.Lines(x.Text("**All of this server, together**"),
			c.used(x.Locale, memory.Membership{Guild: m.Guild}, guild, may.All, at))
	}
	return paragraphs(x.Text("**You**"), c.used(x.Locale, m, member, may.Own, at), server,
		x.Text("-# Tokens are what the language model reads and writes. They are counted for a day of UTC, which ends <t:%d:R>. I keep the numbers for two days; they go with `/memory forget` too, and then you begin anew.", tomorrow.Unix())), nil
}

// used shows how much a member, or a whole guild, has used.
func (c *Commands) used(l locale.Locale, m memory.Membership, limit memory.Limit, tokens reply.Share,
	at time.Time) string {
	asked, until := c.questions.Asked(m, at)
	questions := l.Text("- questions within the last minute: %s", ofLimit(l, asked, limit.Messages))
	if limit.Messages != memory.Unlimited && asked >= limit.Messages {
		questions = l.Text("%s; again <t:%d:R>", questions, until.Add(time.Second-1).Unix())
	}
	return questions + "\n" + l.Text("- tokens today: %s", ofLimit(l, tokens.Spent, limit.Tokens))
}

func ofLimit(l locale.Locale, n, limit int) string {
	if limit == memory.Unlimited {
		return l.Text("%s, without a limit", l.Number(n))
	}
	return l.Text("%s of %s", l.Number(n), l.Number(limit))
}
