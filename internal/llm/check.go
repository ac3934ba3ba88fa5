package llm

import (
	"context"
	"errors"
	"net/http"

	"hark/builder"
)

// Check asks the server whether it has the model, and says how it knows: by the list of its models, which costs
// nothing, or, where that is missing or lacks the model, by a call for the shortest of answers. Its error is
// Chat's, with the server's own words.
func (c *Client) Check(ctx context.Context) (how string, err error) {
	listed, err := c.lists(ctx)
	if err == nil && listed {
		return "it is in the server's list of models", nil
	}
	if err != nil && final(err) {
		return "", inFull(err)
	}
	tokens := 1
	if isReasoning(c.config.Model) {
		tokens = 16 // with 1 they refuse
	}
	request := c.request([]builder.ChatMessage{{Role: builder.RoleUser, Content: "Hi"}}, tokens)
	if _, _, err := c.call(ctx, request, nil); err != nil {
		return "", inFull(err)
	}
	return "it answered a call for the shortest of answers", nil
}

// lists tells whether the server lists the model.
func (c *Client) lists(ctx context.Context) (bool, error) {
	inner, k, stop := c.begin(ctx)
	defer stop()
	list, err := k.openai().ListModels(inner)
	if err != nil {
		return false, k.explain(ctx, inner, err)
	}
	for _, m := range list.Models {
		if m.ID == c.config.Model {
			return true, nil
		}
	}
	return false, nil
}

// final tells whether a call would fail as listing the models did.
func final(err error) bool {
	var e *Error
	return !errors.As(err, &e) || e.Kind == Unreachable || e.Kind == TimedOut || e.Status == http.StatusUnauthorized
}

// inFull adds the server's own words, which are harmless where the prompt was ours.
func inFull(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.said == "" {
		return err
	}
	full := *e
	full.text += "; it says: " + e.said
	return &full
}
