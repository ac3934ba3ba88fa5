package main

import (
	"cmp"
	"path/filepath"
	"slices"

	"hark/bot/command"
	"hark/bot/reply"
	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/endpoint"
	"hark/internal/llm"
	"hark/internal/mcpserver"
	"hark/internal/setup"
	"hark/memory"
)

// choices returns what admins may set, and the defaults.
func choices(c config.Config) answer.Choices {
	all := answer.Choices{Temperatures: map[string]*float64{}, Default: answer.Settings{
		Model:       c.LLM.Model,
		Persona:     c.Answer.Persona,
		Temperature: c.LLM.Temperature,
		Tools:       true,
		Language:    c.Builder.Language,
		Zone:        c.Answer.Location(),
	}}
	if c.Memory.LogBots {
		all.Default.Bots = memory.BotsRemembered
	}
	for _, m := range c.LLM.All() {
		all.Models = append(all.Models, m.Name)
		all.Temperatures[m.Name] = m.Temperature
	}
	for _, s := range c.Tools.MCP {
		all.Servers = append(all.Servers, s.Name)
	}
	return all
}

func askingLimits(c config.Config) reply.Limits {
	l := reply.Limits{
		Member: memory.Limit{Messages: c.Limits.MemberMessages, Tokens: c.Limits.MemberTokens},
		Guild:  memory.Limit{Messages: c.Limits.GuildMessages, Tokens: c.Limits.GuildTokens},
	}
	if c.LLM.Model != "" {
		l.Reserve = setup.PromptTokens(c) + setup.AnswerTokens(c)
	}
	return l
}

func healthOf(a *setup.App) command.Health {
	h := command.Health{Models: map[string]command.Service{}, Embedder: embedderHealth(a)}
	for _, name := range a.Models.Names() {
		h.Models[name] = service(name, a.Models.ByName(name).Health())
	}
	if v, is := a.Teller.Voice.(*llm.Transcriber); is {
		h.Voice = service(v.Name(), v.Health())
	}
	if a.Teller.Can(memory.ImageFile) {
		h.Pictures = a.Teller.PerDay
	}
	if a.Reranker != nil {
		h.Reranker = service(cmp.Or(a.Config.Search.RerankModel, "rerank server"), a.Reranker.Health())
	}
	return h
}

func embedderHealth(a *setup.App) command.Service {
	name := a.Embedder.Space().Name
	if a.StandIn() != nil { // it has no space yet
		name = cmp.Or(a.Config.Embedding.Model, filepath.Base(a.Config.Embedding.Path))
	}
	server, asks := a.Embedder.(interface{ Health() endpoint.Health })
	if !asks {
		s := service(name, endpoint.Health{})
		s.BuiltIn = true
		return s
	}
	return service(name, server.Health())
}

func service(name string, h endpoint.Health) command.Service {
	return command.Service{
		Name:   name,
		At:     h.At,
		Took:   h.Took,
		Failed: h.Failed,
		Rests:  h.Rests,
	}
}

// privacy returns what members are told about how Hark is run.
func privacy(c config.Config) command.Privacy {
	p := command.Privacy{
		Operator:  c.Discord.Operator,
		Prompts:   c.Memory.KeepPrompts(),
		Records:   c.Memory.KeepRecords(),
		Summaries: c.Memory.Summaries != setup.SummariesOff,
	}
	if c.Web.MCP {
		p.Programs = c.Web.Address(c.Web.Listen) + mcpserver.Path
	}
	asked := c.LLM.All()
	if f := c.LLM.Fallback; len(asked) > 0 && f.Model != "" {
		asked = slices.Insert(asked, 1, config.Model{BaseURL: f.BaseURL, Vision: f.Vision})
	}
	for _, m := range asked {
		if host := config.Host(m.BaseURL); host != "" && !slices.Contains(p.Models, host) {
			p.Models = append(p.Models, host)
		}
		p.Vision = p.Vision || m.Vision
	}
	if c.Embedding.Model != "" {
		p.Embedder = config.Host(c.Embedding.BaseURL)
	}
	if v := c.LLM.Transcription; v.Model != "" {
		p.Voice = config.Host(cmp.Or(v.BaseURL, c.LLM.BaseURL))
	}
	if c.Memory.Pictures > 0 {
		seeing := slices.IndexFunc(asked, func(m config.Model) bool { return m.Vision && m.Model != "" })
		p.Pictures = config.Host(asked[max(0, seeing)].BaseURL)
	}
	for _, s := range c.Tools.MCP {
		where := s.Name
		if s.Address != "" {
			where += " (" + config.Host(s.Address) + ")"
		}
		p.Tools = append(p.Tools, where)
	}
	if c.Search.RerankURL != "" {
		p.Reranker = config.Host(c.Search.RerankURL)
	}
	return p
}
