package command

import (
	"context"
	"fmt"

	"hark/memory"
)

// optOut opts the user out and deletes what is kept of them.
func (c *Commands) optOut(ctx context.Context, x *interaction) (response, error) {
	limit, cancel := context.WithTimeout(ctx, c.timeLeft(x))
	defer cancel()
	at := c.at(x)
	c.Buffer.Forget(x.guild(), x.who())
	if err := c.Memory.Apply(limit, memory.Opted{
		Guild: x.guild(),
		User:  x.who(),
		Out:   true,
		At:    at,
	}); err != nil {
		return response{}, fmt.Errorf("keep that somebody has opted out: %w", err)
	}
	s, err := c.forgetting(ctx, x, memory.Forgetting{
		Guild: x.guild(),
		User:  x.who(),
		Why:   memory.WhyOptOut,
		At:    at,
	}, receiptText)
	if err == nil {
		s.Content = x.Text("You've opted out: I keep nothing that you write here any more.") + "\n" + s.Content
	}
	return s, err
}

// optIn lets Hark remember the user again.
func (c *Commands) optIn(ctx context.Context, x *interaction, m member) (response, error) {
	if !m.out {
		return response{}, refusal(x.Text("You haven't opted out here, so there is nothing to change."))
	}
	return response{Content: x.Text("From now on I remember what you write, where I may remember anything. What was forgotten stays forgotten.")},
		c.apply(ctx, x, "keep that somebody has opted in", memory.Opted{
			Guild: x.guild(),
			User:  x.who(),
			At:    c.Now(),
		})
}
