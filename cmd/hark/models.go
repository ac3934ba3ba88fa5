package main

import (
	"cmp"
	"slices"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/config"
	"hark/internal/setup"
)

// model returns the default model; nil if none is configured.
func (a *app) model() answer.Model {
	if m := a.models.Default(); m != nil {
		return m
	}
	return nil // not a nil *llm.Model, which would be a Model
}

// choosable returns the models by name.
func (a *app) choosable() map[string]answer.Model {
	all := map[string]answer.Model{}
	for _, name := range a.models.Names() {
		all[name] = a.models.ByName(name)
	}
	return all
}

// sees reports whether a model takes images.
func (a *app) sees() bool {
	return slices.ContainsFunc(a.models.Names(), func(name string) bool { return a.models.ByName(name).CanSee() })
}

// choices are what admins may set, and what holds where they have set nothing.
func choices(c config.Config) answer.Choices {
	all := answer.Choices{Temperatures: map[string]*float64{}, Default: answer.Settings{
		Model: c.LLM.Model, Persona: c.Answer.Persona, Temperature: c.LLM.Temperature, Tools: true,
		Language: c.Builder.Language, Zone: c.Answer.Location(),
	}}
	for _, m := range c.LLM.All() {
		all.Models, all.Temperatures[m.Name] = append(all.Models, m.Name), m.Temperature
	}
	return all
}

// withModel returns c with the model of that name as the default.
func withModel(c config.Config, name string) config.Config {
	for _, m := range c.LLM.Models {
		if m.Name == name {
			c.LLM.Model, c.LLM.Window = m.Model, m.Window
		}
	}
	return c
}

// builderOf builds prompts for a model and in a language, of which an empty one is as configured; nil if
// nothing can, because the model's window has no room.
func (a *app) builderOf(model, language string) *builder.Builder {
	c := withModel(a.config, model)
	if language != "" && language != c.Builder.Language {
		// and those labels are in the configured language
		c.Builder.Language, c.Builder.Labels = language, config.Labels{}
	}
	if cmp.Or(model, a.config.LLM.Model) == a.config.LLM.Model && c.Builder.Language == a.config.Builder.Language {
		return a.builder
	}
	key := [2]string{cmp.Or(model, a.config.LLM.Model), c.Builder.Language}
	made, known := a.builders.Load(key)
	if !known {
		// Nil with an error, which only another model's window or a small budget can bring about.
		b, _ := setup.NewBuilder(c)
		made, _ = a.builders.LoadOrStore(key, b)
	}
	return made.(*builder.Builder)
}
