package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"hark/internal/answer/tools"
	"hark/internal/chat"
)

const (
	maxTools       = 64       // of a server
	maxNames       = 256      // that a server's tools have had: they are labels of metrics
	maxPages       = 16       // of a server's list
	maxName        = 64       // characters of a tool's name, which models' servers take
	maxDescription = 4000     // bytes
	maxSchema      = 8 << 10  // bytes
	maxText        = 64 << 10 // bytes of what a call returns
)

// list returns the server's tools. Those that can't be offered are left out.
func (s *server) list(ctx context.Context, session *mcp.ClientSession) (all []tools.RemoteTool, err error) {
	var page mcp.ListToolsParams
	names := map[string]bool{}
	leave := func(name, why string) { s.options.Warn(s.Name, "its tool "+name+" is left out: "+why) }
	for range maxPages {
		got, err := session.ListTools(ctx, &page)
		if err != nil {
			return nil, err
		}
		for _, t := range got.Tools {
			name := s.nameOf(t.Name)
			schema, wrong := schemaOf(t.InputSchema)
			switch {
			case len(all) == maxTools:
				leave(name, fmt.Sprintf("Hark takes %d of a server", maxTools))
				return all, nil
			case names[name]:
				leave(name, "another has the same name")
				continue
			case !s.knows(name):
				leave(name, "the server has renamed its tools too often; restart Hark if that is right")
				continue
			case wrong != nil:
				leave(name, "its parameters "+wrong.Error())
				continue
			}
			names[name] = true
			all = append(all, s.tool(session, t, name, schema))
		}
		if page.Cursor = got.NextCursor; page.Cursor == "" {
			break
		}
	}
	return all, nil
}

func (s *server) tool(session *mcp.ClientSession, t *mcp.Tool, name string, schema json.RawMessage) tools.RemoteTool {
	return tools.RemoteTool{
		Tool:   chat.Tool{Name: name, Description: cut(t.Description, maxDescription), Parameters: schema},
		Server: s.Name, Title: strings.TrimPrefix(name, s.Name+separator),
		ReadOnly: s.TrustReadOnly && t.Annotations != nil && t.Annotations.ReadOnlyHint,
		Call: func(ctx context.Context, arguments json.RawMessage) (string, bool, error) {
			return s.call(ctx, session, t.Name, arguments)
		},
	}
}

// knows reports whether a name may be offered: a server can't invent names for ever.
func (s *server) knows(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen[name] && len(s.seen) < maxNames {
		s.seen[name] = true
	}
	return s.seen[name]
}

// separator stands between a server's name and its tool's. No other tool's name has it.
const separator = "__"

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// nameOf returns a tool's name for the model.
func (s *server) nameOf(tool string) string {
	name := s.Name + separator + notInName.ReplaceAllString(tool, "_")
	return name[:min(len(name), maxName)]
}

// combined are keys that models' servers refuse at the top of a schema. With one such tool they refuse all requests.
var combined = []string{"anyOf", "oneOf", "allOf", "not", "enum", "if", "$ref"}

// schemaOf returns a tool's parameters for the model. The error continues "its parameters".
func schemaOf(input any) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, errors.New("are no JSON")
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("take more than %d bytes", maxSchema)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	schema, is := parsed.(map[string]any)
	if err != nil || !is || schema["type"] != "object" {
		return nil, errors.New("are no schema of an object")
	}
	for _, key := range combined {
		if schema[key] != nil {
			return nil, fmt.Errorf("have %q at the top, which models' servers don't take", key)
		}
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "parameters"
	if err = c.AddResource(name, parsed); err == nil {
		_, err = c.Compile(name)
	}
	if err != nil {
		return nil, errors.New("aren't a valid JSON schema")
	}
	if schema["properties"] == nil { // some models' servers want it
		schema["properties"] = map[string]any{}
	}
	return json.Marshal(schema)
}

// noLoader keeps schemas from having files read or addresses fetched.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("not allowed") }

// textOf returns what a call returned, as text.
func textOf(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if b.Len() > maxText {
			break
		}
		switch c := c.(type) {
		case *mcp.TextContent:
			b.WriteString(c.Text)
		case *mcp.ImageContent:
			b.WriteString("(an image, which is left out)")
		case *mcp.AudioContent:
			b.WriteString("(a sound, which is left out)")
		case *mcp.ResourceLink:
			b.WriteString(c.URI)
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				b.WriteString(c.Resource.Text)
			}
		}
		b.WriteByte('\n')
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		text, _ := json.Marshal(r.StructuredContent) // it was decoded, so it can be encoded
		b.Write(text)
	}
	return cut(strings.TrimSpace(b.String()), maxText)
}

// cut returns at most so many bytes of a text, without half a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
