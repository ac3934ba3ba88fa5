package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longestOperator is in characters: /privacy needs room for the rest.
const longestOperator = 300

// check notes values that have the right type but can't be used.
func (s *settings) check() {
	c := s.config
	if c.Web.Listen == "off" {
		c.Web.Listen = ""
	}
	c.Discord.Operator = strings.Join(strings.Fields(c.Discord.Operator), " ")
	c.Builder.Language = languageOf(c.Builder.Language)
	fields := variables(c)
	for i := range c.LLM.Models {
		part := section{name: itemOf("llm.models", i+1)}
		fields = append(fields, sectionsIn(part, reflect.ValueOf(&c.LLM.Models[i]).Elem())[0].fields...)
	}
	for i := range c.Tools.MCP {
		part := section{name: itemOf(mcpList, i+1)}
		m := &c.Tools.MCP[i]
		if _, said := s.from[part.name+".timeout"]; !said {
			m.Timeout.Duration = mcpTimeout
		}
		fields = append(fields, sectionsIn(part, reflect.ValueOf(m).Elem())[0].fields...)
	}
	for _, f := range fields {
		s.checkTags(f)
	}
	s.want(c.Data != "", "data", `a directory, such as "./data"`)
	s.want(!c.Store.IsSet() || isDatabase(c.Store.Reveal()), "store",
		`the address of a PostgreSQL database, such as "postgres://hark:PASSWORD@localhost:5432/hark", with %40 for `+
			`an @ in the password and so on, or nothing`)
	s.want(c.Discord.DevGuild == "" || c.Discord.Guild() > 0, "discord.dev_guild",
		`a server's id, such as "81384788765712384", or nothing`)
	s.want(utf8.RuneCountInString(c.Discord.Operator) <= longestOperator, "discord.operator",
		"at most "+strconv.Itoa(longestOperator)+" characters")
	s.checkModels(c.LLM)
	s.checkMCP(c.Tools.MCP)
	e := c.Embedding
	alone := e.Model == "" && e.Dimensions == 0 && isBlank(e.QueryPrefix) && isBlank(e.DocumentPrefix)
	s.want(e.Path == "" || alone, "embedding.path", "no other embedder beside it: leave out embedding.model, "+
		"dimensions and the prefixes, which are for a server")
	keep := c.Memory.Retention.Duration
	s.want(keep <= 0 || keep >= 24*time.Hour, "memory.retention",
		`at least a day, such as "180d" ("m" means minutes), or 0 to forget nothing because of its age`)
	s.wantOneOf(c.Builder.Language, "builder.language", languages)
	s.want(c.Memory.CondenseTurns <= c.Memory.SessionTurns, "memory.condense_turns",
		"at most memory.session_turns, or what is older is lost before it is condensed")
	s.checkSections(c.Builder.Sections)
	_, err := time.LoadLocation(c.Answer.Timezone)
	s.want(err == nil && c.Answer.Timezone != "", "answer.timezone",
		`the IANA name of a time zone, such as "UTC" or "Europe/Berlin"`)
	s.want(c.Web.Listen == "" || isListen(c.Web.Listen), "web.listen",
		`a host and port, such as "127.0.0.1:8765", or "off"`)
	s.want(!c.Web.Inspect || c.Web.Listen != "", "web.inspect", "web.listen, which is off")
	err = c.Web.CheckInspect(c.Web.Listen)
	s.want(!c.Web.Inspect || err == nil, "web.inspect", fmt.Sprint(err))
	s.want(!c.Web.MCP || c.Web.Listen != "", "web.mcp", "web.listen, which is off")
	s.want(!c.Web.MCP || c.Web.Listen == "" || c.Web.isPrivate(), "web.mcp",
		`an address with https in web.url, such as "https://hark.example.org", since members' tokens are sent to it`)
	at, err := url.Parse(c.Web.URL)
	s.want(err == nil && strings.Trim(at.Path, "/") == "" && at.RawQuery == "", "web.url",
		`an address without a path, such as "https://hark.example.org"`)
	s.want(c.Web.ProxyHeader == "" || isHeader(c.Web.ProxyHeader), "web.proxy_header",
		`a header's name, such as "X-Forwarded-User", or nothing`)
	s.want(!c.Web.Password.IsSet() || utf8.RuneCountInString(c.Web.Password.Reveal()) >= leastPassword, "web.password",
		"at least "+strconv.Itoa(leastPassword)+" characters")
}

// isBlank reports whether a text isn't set, or is empty.
func isBlank(text *string) bool { return text == nil || *text == "" }

// leastPassword is in characters.
const leastPassword = 12

// CheckInspect says why the inspection page mustn't be served at an address: others can reach it and nothing else
// keeps them out.
func (w Web) CheckInspect(listen string) error {
	host, _, _ := net.SplitHostPort(listen)
	if isLocal(host) || w.Password.IsSet() || w.ProxyHeader != "" {
		return nil
	}
	return fmt.Errorf("an address of this machine alone, such as \"127.0.0.1:8765\", or web.password or "+
		"web.proxy_header, since others can reach %q", listen)
}

// Address returns where people reach the server that is bound to a host and port.
func (w Web) Address(bound string) string {
	if w.URL != "" {
		return strings.TrimSuffix(w.URL, "/")
	}
	host, port, _ := net.SplitHostPort(bound)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// isPrivate reports whether nobody on the way to the address reads along, nor sees a port that is open to others.
func (w Web) isPrivate() bool {
	at, err := url.Parse(w.Address(w.Listen))
	host, _, _ := net.SplitHostPort(w.Listen)
	return err == nil && (at.Scheme == "https" || isLocal(host) && isLocal(at.Hostname()))
}

func isHeader(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// checkTags notes a value that its tags don't allow.
func (s *settings) checkTags(f field) {
	switch to := f.to.(type) {
	case *int:
		if zero, may := f.tag.Lookup("zero"); may {
			s.want(*to >= 0, f.key, "a number above 0, or 0 for "+zero)
		} else {
			s.want(*to > 0, f.key, "a number above 0")
		}
	case *Duration:
		if such, must := f.tag.Lookup("such"); must {
			s.want(to.Duration > 0, f.key, "a time above 0, such as "+strconv.Quote(such))
		} else {
			s.want(to.Duration >= 0, f.key, `a time such as "30d" or "12h", or 0`)
		}
	case **float64:
		s.want(*to == nil || **to >= 0 && **to <= 2, f.key, "a number from 0 to 2")
	case *string:
		const address = "an address that begins with http:// or https://"
		switch needed, is := f.tag.Lookup("url"); {
		case is && needed == "":
			s.want(IsAddress(*to), f.key, address)
		case is:
			s.want(*to == "" || IsAddress(*to), f.key, address+", or nothing")
		}
		_, mayBeEmpty := f.tag.Lookup("zero")
		known := f.choices()
		if len(known) > 0 && (*to != "" || !mayBeEmpty) {
			s.wantOneOf(*to, f.key, known)
		}
	case *Extra:
		s.checkExtra(f, *to)
	}
}

// settingFor says, for each field of a request that Hark writes, what sets it. "%s" is the model's section.
var settingFor = map[string]string{
	"model":                 "%s.model names the model",
	"messages":              "Hark writes them, and answer.persona adds to them",
	"tools":                 "answer.tool_rounds and tools.mcp say which there are",
	"stream":                "Hark reads each answer as it is written",
	"stream_options":        "Hark reads each answer as it is written",
	"n":                     "Hark reads one answer",
	"max_tokens":            "llm.max_tokens sets it",
	"max_completion_tokens": "llm.max_tokens sets it",
	"temperature":           "%s.temperature sets it",
}

// WrittenByHark reports whether Hark itself writes a field of requests to a model, so that it can't be an extra one.
// Some servers read the names of fields in any case.
func WrittenByHark(field string) bool {
	_, is := settingFor[strings.ToLower(field)]
	return is
}

// checkExtra notes fields that Hark writes itself.
func (s *settings) checkExtra(f field, extra Extra) {
	section := strings.TrimSuffix(itemNumber.ReplaceAllString(f.key, ""), ".extra")
	for _, name := range extra.Names() {
		why := strings.ReplaceAll(settingFor[strings.ToLower(name)], "%s", section)
		s.forbid(WrittenByHark(name), within(f.key, quoted(name)), why)
	}
}

// IsAddress reports whether a text is the http or https address of a server.
func IsAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isDatabase reports whether a text is the address of a PostgreSQL database.
func isDatabase(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && !strings.Contains(u.Path, "@")
}

// Host returns the host of an address, or the address if it has none.
func Host(address string) string {
	if u, err := url.Parse(address); err == nil {
		return cmp.Or(u.Host, address)
	}
	return address
}

func isListen(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// checkSections notes limits that a section doesn't have: those that are always there have a ceiling only.
func (s *settings) checkSections(all Sections) {
	for _, name := range []string{"system_prompt", "current_query"} {
		l := all[name]
		place := "builder.sections." + name
		for key, set := range map[string]bool{"priority": l.Priority != nil, "floor": l.Floor != nil,
			"modes": l.Modes != ""} {
			s.forbid(set, place+"."+key, "the section is always there, and has a ceiling only")
		}
	}
}
