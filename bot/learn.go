package bot

import (
	"context"
	"time"

	"hark/memory"
)

const (
	learnNowhere = "That works in servers only: I learn nothing from direct messages."
	learnOff     = "I learn nothing about you from what you write here. What I learned before is in `/memory show`, and `/memory remove` takes it back."
	learnOn      = "I learn about you from what you write here from now on, where that is remembered. `/memory show` shows what, and where I " +
		"have it from; `/memory remove` takes it back."
	learnGuildOff = "I learn nothing about members of this server from what they write."
	learnGuildOn  = "I learn about members of this server from what they write, from now on: only about those who switch it on for " +
		"themselves with `/memory learn`."
	learnNotYet = "You want me to learn about you from what you write here, but those who manage this server haven't switched it on."
)

func noSwitch(x *exchange) string {
	if x.Guild == 0 {
		return x.text(learnNowhere)
	}
	return ""
}

// learnMember switches on or off that facts are learned from what somebody says.
func (c *commands) learnMember(ctx context.Context, x *exchange, m member) (sheet, error) {
	if m.out {
		return sheet{Content: x.text(youAreOut)}, nil
	}
	if err := c.learn(ctx, x, x.who()); err != nil {
		return sheet{}, err
	}
	switch {
	case !x.on():
		return sheet{Content: x.text(learnOff)}, nil
	case x.server.Learn.IsZero():
		return sheet{Content: x.text(learnNotYet)}, nil
	}
	return sheet{Content: x.text(learnOn)}, nil
}

// learnGuild switches it on or off for all who want it.
func (c *commands) learnGuild(ctx context.Context, x *exchange) (sheet, error) {
	if err := c.learn(ctx, x, 0); err != nil {
		return sheet{}, err
	}
	if x.on() {
		return sheet{Content: x.text(learnGuildOn)}, nil
	}
	return sheet{Content: x.text(learnGuildOff)}, nil
}

func (c *commands) learn(ctx context.Context, x *exchange, user memory.UserID) error {
	return c.apply(ctx, x, "keep whether facts are learned", memory.Learn{Guild: x.guild(), User: user, On: x.on(), At: c.bot.now()})
}

// on is what the switch of a command was set to.
func (x *exchange) on() bool {
	on, _ := x.given("on").(bool)
	return on
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
