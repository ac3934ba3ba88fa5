package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// UnmarshalJSON takes a message with a text or with parts.
func (m *Message) UnmarshalJSON(data []byte) error {
	type plain Message
	w := struct {
		*plain
		Content json.RawMessage `json:"content"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	var parts []struct {
		Type, Text string
		ImageURL   *struct{ URL string } `json:"image_url"`
	}
	switch {
	case len(w.Content) == 0 || string(w.Content) == "null":
		m.silent = true
		return nil
	case w.Content[0] == '"':
		return json.Unmarshal(w.Content, &m.Content)
	}
	if err := json.Unmarshal(w.Content, &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("no parts")
	}
	var texts []string
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			found := dataURL.FindStringSubmatch(p.ImageURL.URL)
			if found == nil {
				return fmt.Errorf("%.30q is no image as data", p.ImageURL.URL)
			}
			data, err := base64.StdEncoding.DecodeString(found[2])
			if err != nil {
				return fmt.Errorf("an image: %w", err)
			}
			m.Images = append(m.Images, Image{found[1], data})
		default:
			return fmt.Errorf("a part of type %q in a message of the role %q, or an empty one", p.Type, m.Role)
		}
	}
	m.Content = strings.Join(texts, "\n")
	return nil
}

// dataURL matches images of the types that models take.
var dataURL = regexp.MustCompile(`^data:(image/(?:png|jpeg|gif|webp));base64,(.+)$`)

// call is one of an assistant's message.
type call struct {
	ID, Type string
	Function struct {
		Name      string
		Arguments *string
	}
}

func (c call) check() error {
	var object map[string]json.RawMessage
	switch {
	case c.Type != "function":
		return fmt.Errorf("a tool call of type %q", c.Type)
	case !functionName.MatchString(c.Function.Name):
		return fmt.Errorf("a tool call of the name %q", c.Function.Name)
	case c.ID == "" || len(c.ID) > 40:
		return fmt.Errorf("a tool call with the id %q", c.ID)
	case c.Function.Arguments == nil || json.Unmarshal([]byte(*c.Function.Arguments), &object) != nil || object == nil:
		return errors.New("a tool call whose arguments are no JSON object")
	}
	return nil
}

// functionName matches the names that OpenAI takes.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTalk holds messages to the protocol of tools: each tool's message answers one call of the assistant's
// turn before it, and all calls of a turn are answered before anything else is said.
func checkTalk(messages []Message) error {
	open, ever := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("message %d: %w", i, fmt.Errorf(format, args...))
		}
		outcome := m.Role == "tool"
		switch {
		case outcome && !open[m.ToolCallID]:
			return fail("it answers the call %q, which wasn't made or is answered already", m.ToolCallID)
		case !outcome && len(open) > 0:
			return fail("%d calls before it aren't answered", len(open))
		case !outcome && m.ToolCallID != "":
			return fail("the role %q answers no call", m.Role)
		case m.ToolCalls != nil && (m.Role != "assistant" || len(m.ToolCalls) == 0):
			return fail("the role %q makes no calls, or tool_calls is empty", m.Role)
		case m.ToolCalls == nil && m.silent:
			return fail("it has no content")
		}
		delete(open, m.ToolCallID)
		for _, c := range m.ToolCalls {
			if err := c.check(); err != nil {
				return fail("%w", err)
			}
			if ever[c.ID] {
				return fail("a second call has the id %q", c.ID)
			}
			open[c.ID], ever[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls aren't answered", len(open))
	}
	return nil
}

// offeredTool is one that a request offers.
type offeredTool struct {
	Type     string
	Function struct {
		Name, Description string
		Parameters        json.RawMessage
	}
}

// checkTools wants names that OpenAI takes, and schemas of objects, in which all that is required is
// described.
func checkTools(tools []offeredTool) error {
	if tools != nil && len(tools) == 0 {
		return errors.New("tools is empty")
	}
	known := map[string]bool{}
	for _, t := range tools {
		f := t.Function
		if t.Type != "function" || !functionName.MatchString(f.Name) || known[f.Name] {
			return fmt.Errorf("a tool of the type %q and the name %q, or a second one", t.Type, f.Name)
		}
		known[f.Name] = true
		var schema struct {
			Type       string
			Properties map[string]struct{ Type any }
			Required   []string
		}
		if err := json.Unmarshal(f.Parameters, &schema); err != nil {
			return fmt.Errorf("the parameters of %s: %w", f.Name, err)
		}
		if schema.Type != "object" || schema.Properties == nil {
			return fmt.Errorf("the parameters of %s aren't the schema of an object", f.Name)
		}
		for _, name := range schema.Required {
			if _, ok := schema.Properties[name]; !ok {
				return fmt.Errorf("%s requires %q, which it doesn't describe", f.Name, name)
			}
		}
	}
	return nil
}
