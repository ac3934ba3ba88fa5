package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checkAtOnce notes a model whose number of calls at once differs from that of its server.
func (s *settings) checkAtOnce(l LLM) {
	said := map[string]int{plainBase(l.BaseURL): l.AtOnce}
	for _, m := range l.sharers() {
		server := plainBase(*m.base)
		number, known := said[server]
		if !known {
			said[server] = *m.atOnce
			continue
		}
		place := m.place + ".at_once"
		if server == plainBase(l.BaseURL) {
			s.forbid(number != *m.atOnce, place, "its server is llm.base_url, so llm.at_once counts")
			continue
		}
		s.want(number == *m.atOnce, place, "the number that another model at its server has: they share it")
	}
}

func (s *settings) checkModels(l LLM) {
	if l.Model == "" {
		s.want(l.Fallback.Model == "", "llm.fallback.model", "a model for which it can stand in: name one in llm.model")
		s.want(len(l.Models) == 0, itemOf("llm.models", 1), "a default besides: name it in llm.model")
		return
	}
	// "default" is the choice of no model.
	const none = "default"
	s.want(len(l.Models) == 0 || !strings.EqualFold(l.Model, none), "llm.model",
		"another name than \"default\" where there are llm.models")
	taken := map[string]bool{strings.ToLower(l.Model): true}
	for i, m := range l.Models {
		want := func(ok bool, name, what string) { s.want(ok, itemOf("llm.models", i+1)+"."+name, what) }
		name := strings.ToLower(m.Name)
		want(m.Name != "" && m.Name == strings.TrimSpace(m.Name) &&
			utf8.RuneCountInString(m.Name) <= LongestName && !strings.ContainsAny(m.Name, "\r\n"),
			"name", "a text of 1 to "+strconv.Itoa(LongestName)+" characters in one line, without spaces at its ends")
		want(name == "" || !taken[name], "name", "a name that no other model has, nor llm.model")
		want(name != none, "name", "another name than \"default\", by which people choose llm.model")
		taken[name] = true
		want(m.Model != "", "model", "the model's name, as its server knows it")
		want(!strings.HasPrefix(m.APIKeyEnv, "HARK_"), "api_key_env",
			"a variable of your own: those that begin with HARK_ are Hark's")
	}
	s.checkAtOnce(l)
}

func (s *settings) checkMCP(all []MCP) {
	taken := map[string]bool{}
	for i, m := range all {
		want := func(ok bool, name, what string) { s.want(ok, itemOf(mcpList, i+1)+"."+name, what) }
		want(mcpName.MatchString(m.Name) && !slices.Contains(takenNames, m.Name), "name",
			`1 to 20 small letters, digits and hyphens, and not "on", "off" or "default"`)
		want(!taken[m.Name], "name", "a name that no other server has")
		taken[m.Name] = true
		want((m.Command == "") != (m.Address == ""), "command", "either a command or an address")
		want(m.Command != "" || len(m.Args)+len(m.Env) == 0, "args", "a command: args and env are for one")
		want(m.Address != "" || !m.Key.IsSet(), "api_key", "an address: a command gets its key by env")
		at, err := url.Parse(m.Address)
		want(err != nil || at.User == nil, "address", "no name or password in it: put the key into api_key")
		want(err != nil || !m.Key.IsSet() || at.Scheme != "http" || isNear(at.Hostname()), "address",
			"https with api_key, unless the server is in the local network: others on the way could read the key")
		want(!strings.HasPrefix(m.KeyEnv, "HARK_"), "api_key_env",
			"a variable of your own: those that begin with HARK_ are Hark's")
	}
}
