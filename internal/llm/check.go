package llm

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"hark/internal/chat"
)

// Check asks whether the server has the model, and says how it knows: by the list of its models, which costs
// nothing, or else by Try. Its error is Chat's, with the server's own words.
func (c *Client) Check(ctx context.Context) (how string, err error) {
	names, _, err := c.list(ctx)
	if err == nil && slices.Contains(names, c.config.Model) {
		return "it is in the server's list of models", nil
	}
	if err != nil && final(err) {
		return "", inFull(err)
	}
	if _, err := c.Try(ctx); err != nil {
		return "", err
	}
	return "it answered a call for the shortest of answers", nil
}

// mostNamed bounds the models of the server that an error names.
const mostNamed = 10

// Try asks the model for the shortest of answers, and returns how long that took. Its error is Chat's, with the
// server's own words and, if the server lacks the model, some that it has.
func (c *Client) Try(ctx context.Context) (time.Duration, error) {
	tokens := 1
	if isReasoning(c.config.Model) {
		tokens = 16 // with 1 they refuse
	}
	hi := chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "Hi"}}}
	started := c.clock.now()
	_, err := c.call(ctx, hi, form{}, tokens, nil)
	took := c.clock.now().Sub(started)
	if err == nil {
		return took, nil
	}
	err = inFull(err)
	if e, is := errors.AsType[*Error](err); is && e.Kind == NotFound {
		if names, _, listed := c.list(ctx); listed == nil && len(names) > 0 {
			full := *e
			full.text += "; it has " + c.say.clean(strings.Join(names[:min(len(names), mostNamed)], ", "))
			err = &full
		}
	}
	return took, err
}

// List returns the names of the server's models, in order. Its error is Chat's, with the server's own words.
func (c *Client) List(ctx context.Context) ([]string, error) {
	names, _, err := c.list(ctx)
	if err != nil {
		return nil, inFull(err)
	}
	slices.Sort(names)
	return names, nil
}

// list returns the names of the server's models, and the list as it came.
func (c *Client) list(ctx context.Context) (names []string, listed []byte, err error) {
	inner, k, stop := c.begin(ctx)
	defer stop()
	list, err := k.openai().ListModels(inner)
	if err != nil {
		return nil, nil, k.explain(ctx, inner, err, false)
	}
	for _, m := range list.Models {
		names = append(names, m.ID)
	}
	return names, k.listed, nil
}

// final reports whether a call would fail as listing the models did.
func final(err error) bool {
	e, is := errors.AsType[*Error](err)
	return !is || e.Kind == Unreachable || e.Kind == TimedOut || e.Status == http.StatusUnauthorized
}
