package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hark/internal/answer/tools"
	"hark/internal/chat"
)

const (
	maxTools       = 64       // of a server
	maxLooked      = 96       // of a server's tools that Hark looks at, also bad ones
	maxNamed       = 8        // of tools that are left out
	maxNames       = 256      // that a server's tools have had: they are labels of metrics
	maxPages       = 16       // of a server's list
	maxName        = 64       // characters of a tool's name, which models' servers take
	maxDescription = 4000     // bytes
	maxText        = 64 << 10 // bytes of what a call returns
)

// list returns the server's tools. Those that can't be offered are left out, with one warning for all.
func (s *server) list(ctx context.Context, c *connection) (all []tools.RemoteTool, err error) {
	var page mcp.ListToolsParams
	names := map[string]bool{}
	var left []string
	looked := 0
pages:
	for range maxPages {
		got, err := c.session.ListTools(ctx, &page)
		if err != nil {
			return nil, err
		}
		for _, t := range got.Tools {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			looked++
			if len(all) == maxTools || looked > maxLooked {
				left = append(left, fmt.Sprintf("%s and those after it (Hark takes %d of a server, and looks at %d)", s.nameOf(t.Name),
					maxTools, maxLooked))
				break pages
			}
			tool, err := s.tool(c, t, names)
			if err != nil {
				left = append(left, fmt.Sprintf("%s (%v)", tool.Name, err))
				continue
			}
			names[tool.Name] = true
			all = append(all, tool)
		}
		page.Cursor = got.NextCursor
		if page.Cursor == "" {
			break
		}
	}
	s.leave(left)
	return all, nil
}

// leave warns of tools that are left out, unless it just has.
func (s *server) leave(left []string) {
	warning := ""
	if n := len(left); n > 0 {
		named := left[:min(n, maxNamed)]
		warning = "tools are left out: " + strings.Join(named, ", ")
		if n > len(named) {
			warning += fmt.Sprintf(" and %d more", n-len(named))
		}
	}
	s.mu.Lock()
	same := s.left == warning
	s.left = warning
	s.mu.Unlock()
	if !same {
		s.warn(warning)
	}
}

// tool returns a tool for the model. The error says why it can't be offered; names are taken.
func (s *server) tool(c *connection, t *mcp.Tool, names map[string]bool) (tools.RemoteTool, error) {
	name := s.nameOf(t.Name)
	tool := tools.RemoteTool{
		Tool:     chat.Tool{Name: name, Description: cut(t.Description, maxDescription)},
		Server:   s.Name,
		Title:    strings.TrimPrefix(name, s.Name+separator),
		ReadOnly: s.TrustReadOnly && t.Annotations != nil && t.Annotations.ReadOnlyHint,
		Call: func(ctx context.Context, arguments json.RawMessage) (string, bool, error) {
			return s.call(ctx, c, t.Name, arguments)
		},
	}
	if names[name] {
		return tool, errors.New("another has the same name")
	}
	var err error
	tool.Parameters, err = schemaOf(t.InputSchema)
	if err != nil {
		return tool, fmt.Errorf("its parameters %w", err)
	}
	if !s.knows(name) {
		return tool, errors.New("the server has renamed its tools too often; restart Hark if that is right")
	}
	return tool, nil
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
