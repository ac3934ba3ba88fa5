package main

import (
	"cmp"

	"hark/bot/command"
	"hark/internal/embed"
	"hark/internal/endpoint"
)

// health returns the state of the servers that answers need.
func (a *app) health() command.Health {
	h := command.Health{Models: map[string]command.Service{}, Embedder: a.embedderHealth()}
	for _, name := range a.models.Names() {
		h.Models[name] = service(name, a.models.ByName(name).Health())
	}
	if a.reranker != nil {
		h.Reranker = service(cmp.Or(a.config.Search.RerankModel, "rerank server"), a.reranker.Health())
	}
	return h
}

func (a *app) embedderHealth() command.Service {
	s := service(a.embedder.Space().Name, endpoint.Health{})
	if tells, is := a.embedder.(interface{ Health() endpoint.Health }); is {
		s = service(s.Name, tells.Health())
	}
	if a.standIn != nil {
		s.Failed = a.standIn
	}
	_, builtIn := a.embedder.(embed.Builtin)
	s.BuiltIn = builtIn && a.standIn == nil
	return s
}

func service(name string, h endpoint.Health) command.Service {
	return command.Service{Name: name, At: h.At, Took: h.Took, Failed: h.Failed, Rests: h.Rests}
}
