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
	var texts []string
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			image, err := imageOf(p.ImageURL.URL)
			m.Images = append(m.Images, image)
			m.bad = errors.Join(m.bad, err)
		default:
			m.bad = fmt.Errorf("a part of type %q in a message of the role %q, or an empty one", p.Type, m.Role)
		}
	}
	if len(parts) == 0 {
		m.bad = errors.New("no parts")
	}
	m.Content = strings.Join(texts, "\n")
	return nil
}

// dataURL matches images of the types that models take.
var dataURL = regexp.MustCompile(`^data:(image/(?:png|jpeg|gif|webp));base64,(.+)$`)

func imageOf(url string) (Image, error) {
	found := dataURL.FindStringSubmatch(url)
	if found == nil {
		return Image{}, fmt.Errorf("%.30q is no image as data", url)
	}
	data, err := base64.StdEncoding.DecodeString(found[2])
	if err != nil {
		return Image{}, fmt.Errorf("an image: %w", err)
	}
	return Image{found[1], data}, nil
}

// Calls are those of an assistant's message, as they were sent.
func (m Message) Calls() ([]ToolCall, error) {
	if len(m.ToolCalls) == 0 {
		return nil, nil
	}
	var wire []struct {
		ID, Type string
		Function struct {
			Name      string
			Arguments *string
		}
	}
	if err := json.Unmarshal(m.ToolCalls, &wire); err != nil {
		return nil, fmt.Errorf("tool_calls: %w", err)
	}
	if len(wire) == 0 {
		return nil, errors.New("tool_calls is empty")
	}
	var calls []ToolCall
	for _, w := range wire {
		var object map[string]json.RawMessage
		switch {
		case w.Type != "function":
			return nil, fmt.Errorf("a tool call of type %q", w.Type)
		case !functionName.MatchString(w.Function.Name):
			return nil, fmt.Errorf("a tool call of the name %q", w.Function.Name)
		case w.ID == "" || len(w.ID) > 40:
			return nil, fmt.Errorf("a tool call with the id %q", w.ID)
		case w.Function.Arguments == nil || json.Unmarshal([]byte(*w.Function.Arguments), &object) != nil || object == nil:
			return nil, errors.New("a tool call whose arguments are no JSON object")
		}
		calls = append(calls, ToolCall{ID: w.ID, Name: w.Function.Name, Arguments: []string{*w.Function.Arguments}})
	}
	return calls, nil
}

// functionName matches the names that OpenAI takes.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTalk holds messages to the protocol of tools: each tool's message answers one call of the assistant's turn before it, and
// all calls of a turn are answered before anything else is said.
func checkTalk(messages []Message) error {
	open, ever := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("message %d: %w", i, fmt.Errorf(format, args...))
		}
		if m.bad != nil {
			return fail("%w", m.bad)
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return fail("it answers the call %q, which wasn't made or is answered already", m.ToolCallID)
			}
			if m.silent {
				return fail("it has no content")
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fail("%d calls before it aren't answered", len(open))
		}
		if m.ToolCallID != "" {
			return fail("the role %q answers no call", m.Role)
		}
		calls, err := m.Calls()
		switch {
		case err != nil:
			return fail("%w", err)
		case calls != nil && m.Role != "assistant":
			return fail("the role %q makes no calls", m.Role)
		case calls == nil && m.silent:
			return fail("it has no content")
		}
		for _, c := range calls {
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

// Tool is one that a request offers.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
}

// Offered are the tools of a request, as they were sent; nil if what was sent is no list of tools.
func (r Request) Offered() []Tool {
	tools, _ := toolsOf(r.Tools)
	return tools
}

func toolsOf(raw json.RawMessage) (tools []Tool, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var wire []struct {
		Type     string
		Function *Tool
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if len(wire) == 0 {
		return nil, errors.New("tools is empty")
	}
	for _, w := range wire {
		if w.Type != "function" || w.Function == nil {
			return nil, fmt.Errorf("a tool of type %q", w.Type)
		}
		tools = append(tools, *w.Function)
	}
	return tools, nil
}

// checkTools wants names that OpenAI takes, and schemas of objects, in which all that is required is described.
func checkTools(raw json.RawMessage) error {
	tools, err := toolsOf(raw)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, t := range tools {
		if !functionName.MatchString(t.Name) || known[t.Name] {
			return fmt.Errorf("a tool of the name %q, or a second one", t.Name)
		}
		known[t.Name] = true
		var schema struct {
			Type       string
			Properties map[string]struct{ Type any }
			Required   []string
		}
		if err := json.Unmarshal(t.Parameters, &schema); err != nil {
			return fmt.Errorf("the parameters of %s: %w", t.Name, err)
		}
		if schema.Type != "object" || schema.Properties == nil {
			return fmt.Errorf("the parameters of %s aren't the schema of an object", t.Name)
		}
		for _, name := range schema.Required {
			if _, ok := schema.Properties[name]; !ok {
				return fmt.Errorf("%s requires %q, which it doesn't describe", t.Name, name)
			}
		}
	}
	return nil
}
