package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/setup"
	"hark/internal/terminal"
)

const listTime = 10 * time.Second

func (s *wizard) askModel(ctx context.Context) error {
	s.tellGiven("HARK_LLM_BASE_URL", "HARK_LLM_API_KEY", "HARK_LLM_API_KEY_FILE", "HARK_LLM_MODEL")
	l := &s.config.LLM
	old := s.file.LLM
	before := server{
		url:   old.BaseURL,
		key:   old.APIKey,
		model: old.Model,
	}
	offered := server{
		url:   l.BaseURL,
		key:   l.APIKey,
		model: l.Model,
		kind:  s.kind,
	}
	chosen, err := s.untilWell(ctx, offered, func(usual server) (server, error) {
		return s.askServer(ctx, wanted{
			section:  "llm.",
			question: "Which model shall write the answers?",
			none:     "none: answers quote what was said",
			fits:     isWriter,
		}, usual)
	}, func(ctx context.Context, chosen server) []doctor.Finding {
		*l = old
		l.BaseURL = chosen.url
		l.APIKey = chosen.key
		l.Model = chosen.model
		if chosen.model == "" {
			return nil
		}
		if isElsewhere(before, chosen) {
			*l = suit(*l, before, chosen)
		}
		client := setup.NewModels(s.config).Default().Client
		return []doctor.Finding{s.flags.doctor(s.config).Model(ctx, "llm.", client).For("model")}
	})
	if err == nil {
		s.kind = chosen.kind
		s.values = append(s.values, suitedValues(old, *l)...)
		s.setServer("llm", before, chosen)
	}
	return err
}

// isElsewhere reports whether the chosen server is another one than before.
func isElsewhere(before, chosen server) bool { return before.model == "" || chosen.url != before.url }

func (s *wizard) askEmbedder(ctx context.Context) error {
	s.tellGiven("HARK_EMBEDDING_BASE_URL", "HARK_EMBEDDING_API_KEY", "HARK_EMBEDDING_API_KEY_FILE",
		"HARK_EMBEDDING_MODEL", "HARK_EMBEDDING_PATH")
	e := &s.config.Embedding
	set := s.file.Embedding
	before := server{
		url:   set.BaseURL,
		key:   set.APIKey,
		model: set.Model,
		path:  set.Path,
	}
	offered := server{
		url:   e.BaseURL,
		key:   e.APIKey,
		model: e.Model,
		path:  e.Path,
	}
	model := server{
		url:   s.config.LLM.BaseURL,
		key:   s.config.LLM.APIKey,
		model: s.config.LLM.Model,
		kind:  s.kind,
	}
	chosen, err := s.untilWell(ctx, offered, func(usual server) (server, error) {
		return s.askServer(ctx, wanted{
			section:  "embedding.",
			question: "Which embedder shall find messages by their meaning?",
			none:     "none: the built-in one, which sends nothing anywhere",
			other:    &model,
			fits:     isEmbedder,
		}, usual)
	}, func(ctx context.Context, chosen server) []doctor.Finding {
		*e = set
		e.BaseURL = chosen.url
		e.APIKey = chosen.key
		e.Model = chosen.model
		e.Path = chosen.path
		if isAnother(before, chosen) {
			e.Dimensions = 0
			e.QueryPrefix = nil
			e.DocumentPrefix = nil
		}
		return []doctor.Finding{s.flags.doctor(s.config).Embedder(ctx).For("embedder")}
	})
	if err != nil {
		return err
	}
	if isAnother(before, chosen) {
		s.unsetOfModel(set)
	}
	s.setServer("embedding", before, chosen)
	if chosen.path != before.path {
		s.set("embedding.path", chosen.path)
	}
	return nil
}

// isEmbedder reports whether a model is likely one that embeds, by its name.
func isEmbedder(name string) bool {
	_, known := embed.PrefixesOf(name)
	return known || strings.Contains(strings.ToLower(name), "embed")
}

// isWriter reports whether a model likely writes answers.
func isWriter(name string) bool { return !isEmbedder(name) }

// isAnother reports whether what is set of the embedding model before may not suit the chosen one.
func isAnother(before, chosen server) bool { return chosen.model != before.model || chosen.path != "" }

// unsetOfModel leaves out what was set of the embedding model before.
func (s *wizard) unsetOfModel(set config.Embedding) {
	if set.Dimensions != 0 {
		s.set("embedding.dimensions", 0)
	}
	if set.QueryPrefix != nil {
		s.set("embedding.query_prefix", nil)
	}
	if set.DocumentPrefix != nil {
		s.set("embedding.document_prefix", nil)
	}
}

// untilWell asks for a server until check finds nothing wrong or the user keeps it anyway. It offers the last choice.
func (s *wizard) untilWell(ctx context.Context, usual server,
	ask func(usual server) (server, error), check func(context.Context, server) []doctor.Finding) (server, error) {
	for {
		chosen, err := ask(usual)
		if err != nil {
			return chosen, err
		}
		again, err := s.checkServer(ctx, &chosen, check)
		if !again || err != nil {
			return chosen, err
		}
		usual = chosen
	}
}

// checkServer checks a server, and asks for another key as long as it refuses the key. again says to ask for all anew.
func (s *wizard) checkServer(ctx context.Context, chosen *server,
	check func(context.Context, server) []doctor.Finding) (again bool, err error) {
	for {
		checking, cancel := context.WithTimeout(ctx, doctor.Timeout)
		found := check(checking, *chosen)
		cancel()
		if !slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.KeyRefused }) {
			again, err = s.again(ctx, found...)
			break
		}
		changed, asked := s.anotherKey(ctx, found, &chosen.key)
		err = asked
		if err == nil && !changed {
			s.keep(found)
		}
		if err != nil || !changed {
			break
		}
	}
	if errors.Is(err, terminal.ErrBack) {
		return true, nil
	}
	return again, err
}

// anotherKey shows the findings on a refused key, and asks for another one. changed is false if it should stay.
func (s *wizard) anotherKey(ctx context.Context, found []doctor.Finding, key *config.Secret) (changed bool, err error) {
	if ctx.Err() != nil {
		return false, terminal.ErrUnwritten
	}
	for _, f := range found {
		fmt.Fprintln(s.Out, f)
	}
	kept := "keep this one anyway"
	if !key.IsSet() {
		kept = "none anyway"
	}
	text, err := s.Ask(ctx, "Another key, which isn't shown (Enter: "+kept+")", true)
	if text != "" {
		*key = config.NewSecret(text)
	}
	return text != "", err
}

// tellGiven says which environment variables override the answers.
func (s *wizard) tellGiven(variables ...string) {
	fmt.Fprintln(s.Out)
	if v := s.given(variables...); v != "" {
		fmt.Fprintf(s.Out, "%s is set in the environment, which overrides the file.\n", v)
	}
}

func (s *wizard) setServer(section string, before, chosen server) {
	s.set(section+".model", chosen.model) // each key goes in front of those before it
	if chosen.model == "" {
		return
	}
	variable := "HARK_" + strings.ToUpper(section) + "_API_KEY"
	if changed := chosen.key.IsSet() || before.key.IsSet(); changed && s.given(variable, variable+"_FILE") == "" {
		// Without a key the old one goes: it mustn't be sent to another server.
		s.set(section+".api_key", chosen.key.Reveal())
	}
	s.set(section+".base_url", chosen.url)
}

// wanted is what a server is asked for.
type wanted struct {
	section        string // of its settings
	question, none string
	fits           func(name string) bool // such models are offered first
	other          *server                // whose key is offered for the same address; nil: it is for the answers
}

// askServer asks where a model is served, and which of the server's models it is. It offers the other server's address,
// and its key for the same address.
func (s *wizard) askServer(ctx context.Context, w wanted, usual server) (server, error) {
	places := []string{
		"OpenAI",
		"Ollama",
		"another server that speaks OpenAI's protocol, such as llama.cpp or LM Studio",
		w.none,
	}
	if w.other != nil {
		places = append(places, "a static model in a directory, which also sends nothing anywhere")
	}
	listed := serverOffers(w.other != nil)
	var names []string
	for _, o := range listed {
		names = append(names, o.name)
	}
	for {
		place, err := s.Choose(ctx, w.question, places, usual.place(), names...)
		if err != nil || place == nowhere {
			return server{url: usual.url, key: usual.key}, err
		}
		var chosen server
		switch named := place - len(places); {
		case named >= 0:
			chosen, err = s.askNamed(ctx, w, listed[named], usual)
		case place == inDirectory:
			chosen, err = s.askDirectory(ctx, usual)
		default:
			chosen, err = s.askServerAt(ctx, w, place, usual)
		}
		if !errors.Is(err, terminal.ErrBack) {
			return chosen, err
		}
	}
}

func (s *wizard) askDirectory(ctx context.Context, usual server) (server, error) {
	fmt.Fprintln(s.Out, "Hark downloads nothing. Put tokenizer.json and model.safetensors of a model2vec model "+
		"into a\ndirectory of its own, such as those of potion-base-8M (English, 30 MB), potion-retrieval-32M\n"+
		"(English, for search, 130 MB) or potion-multilingual-128M (510 MB), from\n"+
		"https://huggingface.co/minishlab. docs/models.md says more.")
	path, err := s.Name(ctx, "Its directory, with tokenizer.json and model.safetensors", nil, usual.path)
	if err == nil { // Hark may be started elsewhere
		path, err = filepath.Abs(path)
	}
	return server{
		url:  usual.url,
		key:  usual.key,
		path: path,
	}, err
}

// askServerAt asks for a server's address, unless its place says it, its key and the model.
func (s *wizard) askServerAt(ctx context.Context, w wanted, place int, usual server) (server, error) {
	address := openAI
	if place != atOpenAI {
		var err error
		address, err = s.askURL(ctx, place, usual, w.other)
		if err != nil {
			return server{url: address}, err
		}
	}
	kind := ""
	switch {
	case place == atOllama:
		kind = ollamaServer.name
	case address == usual.url:
		kind = usual.kind
	}
	return s.askWhatAt(ctx, w, address, kind, usual)
}

// askNamed asks for the address of a server that was chosen by its name, if it may be another one, for its key and for
// the model.
func (s *wizard) askNamed(ctx context.Context, w wanted, named offer, usual server) (server, error) {
	address := named.url
	if named.isLocal() {
		if named.started != "" {
			fmt.Fprintf(s.Out, "How it is started: %s\n", named.started)
		}
		var err error
		address, err = s.askAddress(ctx, addressQuestion, addressWanted, nil, address)
		if err != nil {
			return server{url: address}, err
		}
	}
	return s.askWhatAt(ctx, w, address, named.name, usual)
}

// askWhatAt asks for the key, unless the server is Ollama, and the model of the server at an address. kind is as in
// server.
func (s *wizard) askWhatAt(ctx context.Context, w wanted, address, kind string, usual server) (server, error) {
	chosen := server{url: address}
	if chosen.url == usual.url {
		chosen = usual
		chosen.path = "" // it was another choice
	} else if w.other != nil && w.other.model != "" && chosen.url == w.other.url {
		chosen.key = w.other.key
	}
	chosen.kind = kind
	if kind != ollamaServer.name {
		err := s.askSecret(ctx, "Its key", "the one that is known", &chosen.key)
		if err != nil {
			return chosen, err
		}
	}
	names, err := s.listModels(ctx, w, &chosen)
	if err != nil {
		return chosen, err
	}
	chosen.model, err = s.Name(ctx, "Model", names, chosen.model)
	return chosen, err
}

// listModels returns the names of a server's models, those that fit first, or none if it doesn't tell them. It asks for
// another key as long as the server refuses it.
func (s *wizard) listModels(ctx context.Context, w wanted, at *server) ([]string, error) {
	for {
		listing, cancel := context.WithTimeout(ctx, listTime)
		client := llm.New(llm.Config{
			BaseURL: at.url,
			APIKey:  at.key.Reveal(),
			Timeout: listTime,
		})
		names, err := client.List(listing)
		cancel()
		if err == nil {
			fitFirst := func(a, b string) int { return cmp.Compare(gaugeBool(w.fits(b)), gaugeBool(w.fits(a))) }
			slices.SortStableFunc(names, fitFirst)
			return names, nil
		}
		found := doctor.Failure(err, "write the model's name").In(w.section).For("models")
		if !found.KeyRefused {
			fmt.Fprintln(s.Out, found)
			return nil, nil
		}
		changed, err := s.anotherKey(ctx, []doctor.Finding{found}, &at.key)
		if err != nil || !changed {
			return nil, err
		}
	}
}

const (
	addressQuestion = "Its address, up to and including /v1"
	addressWanted   = "Please write an address that begins with http:// or https://, such as " + ollama + "."
)

// askURL asks for the address of Ollama or of another server. It offers the usual one, or that of the other server or
// beside it. other is nil if the server is for the answers.
func (s *wizard) askURL(ctx context.Context, place int, usual server, other *server) (string, error) {
	question := addressQuestion
	wanted := addressWanted
	at := ollama
	var listed []offer
	if place == elsewhere {
		question += ", or a number or a name from the list"
		wanted = "Please write a number or a name from the list, or an address that begins with http:// or https://."
		at = ""
		listed = serverOffers(other != nil)
		printOffers(s.Out, listed)
	} else if other == nil {
		fmt.Fprintln(s.Out, "Start Ollama with OLLAMA_CONTEXT_LENGTH=8192 or more: "+
			"by default it may cut prompts at 4096 tokens.")
	}
	switch {
	case usual.model != "" && usual.place() == place:
		at = usual.url
	case place == elsewhere && other != nil && other.place() == elsewhere,
		place == atOllama && other != nil && other.isOllama():
		at = embedderBeside(*other)
	}
	return s.askAddress(ctx, question, wanted, listed, at)
}

// askAddress asks for an address until there is one, or the name or number of a server in listed. It offers at. wanted
// says what to write instead of anything else.
func (s *wizard) askAddress(ctx context.Context, question, wanted string, listed []offer, at string) (string, error) {
	if at != "" {
		question += " [" + at + "]"
	}
	for {
		written, err := s.Ask(ctx, question, false)
		if err != nil {
			return "", err
		}
		address := addressOf(listed, cmp.Or(written, at))
		if config.IsAddress(address) {
			return strings.TrimRight(address, "/"), nil
		}
		fmt.Fprintln(s.Out, wanted)
	}
}
