package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/embed"
	"hark/internal/llm"
	"hark/internal/setup"
)

// Where models are served, in the order in which they are offered.
const (
	atOpenAI = iota
	atOllama
	elsewhere
	nowhere
	inDirectory // behind what is offered for any model
)

const (
	openAI = "https://api.openai.com/v1"
	ollama = "http://localhost:11434/v1"
)

const listTime = 10 * time.Second

type server struct {
	url   string
	key   config.Secret
	model string // empty: none
	path  string // of a static embedding model, instead
}

// place returns which of the offered places s is.
func (s server) place() int {
	switch {
	case s.path != "":
		return inDirectory
	case s.model == "":
		return nowhere
	case s.url == openAI:
		return atOpenAI
	case s.url == ollama:
		return atOllama
	}
	return elsewhere
}

func (s *wizard) askModel(ctx context.Context) error {
	s.tellGiven("HARK_LLM_BASE_URL", "HARK_LLM_API_KEY", "HARK_LLM_API_KEY_FILE", "HARK_LLM_MODEL")
	l := &s.config.LLM
	before := server{url: l.BaseURL, key: l.APIKey, model: l.Model}
	chosen, err := s.untilWell(ctx, before, func(usual server) (server, error) {
		return s.askServer(ctx, wanted{section: "llm.", question: "Which model shall write the answers?",
			none: "none: answers quote what was said", fits: func(string) bool { return true }}, usual)
	}, func(ctx context.Context, chosen server) []doctor.Finding {
		if l.BaseURL, l.APIKey, l.Model = chosen.url, chosen.key, chosen.model; chosen.model == "" {
			return nil
		}
		client := setup.NewModels(s.config).Default().Client
		return []doctor.Finding{s.flags.doctor(s.config).Model(ctx, "llm.", client).For("model")}
	})
	if err == nil {
		s.setServer("llm", before, chosen)
	}
	return err
}

func (s *wizard) askEmbedder(ctx context.Context) error {
	s.tellGiven("HARK_EMBEDDING_BASE_URL", "HARK_EMBEDDING_API_KEY", "HARK_EMBEDDING_API_KEY_FILE",
		"HARK_EMBEDDING_MODEL", "HARK_EMBEDDING_PATH")
	e := &s.config.Embedding
	before := server{e.BaseURL, e.APIKey, e.Model, e.Path}
	set := *e
	model := server{url: s.config.LLM.BaseURL, key: s.config.LLM.APIKey, model: s.config.LLM.Model}
	chosen, err := s.untilWell(ctx, before, func(usual server) (server, error) {
		return s.askServer(ctx, wanted{section: "embedding.",
			question: "Which embedder shall find messages by their meaning?",
			none:     "none: the built-in one, which sends nothing anywhere", other: &model,
			fits: isEmbedder}, usual)
	}, func(ctx context.Context, chosen server) []doctor.Finding {
		*e = set
		e.BaseURL, e.APIKey, e.Model, e.Path = chosen.url, chosen.key, chosen.model, chosen.path
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
		checking, cancel := context.WithTimeout(ctx, doctor.Timeout)
		found := check(checking, chosen)
		cancel()
		if again, err := s.again(ctx, found...); !again || err != nil {
			return chosen, err
		}
		usual = chosen
	}
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

// askServer asks where a model is served, and which of the server's models it is.
func (s *wizard) askServer(ctx context.Context, w wanted, usual server) (server, error) {
	places := []string{"OpenAI", "Ollama", "another server that speaks OpenAI's protocol", w.none}
	other := w.other
	if other != nil {
		places = append(places, "a static model in a directory, which also sends nothing anywhere")
	}
	place, err := s.Choose(ctx, w.question, places, usual.place())
	if err != nil || place == nowhere {
		return server{url: usual.url, key: usual.key}, err
	}
	if place == inDirectory {
		fmt.Fprintln(s.Out, "Hark downloads nothing. Put tokenizer.json and model.safetensors of a model2vec model "+
			"into a\ndirectory of its own, such as those of potion-base-8M (English, 30 MB), potion-retrieval-32M\n"+
			"(English, for search, 130 MB) or potion-multilingual-128M (510 MB), from\n"+
			"https://huggingface.co/minishlab. docs/models.md says more.")
		path, err := s.Name(ctx, "Its directory, with tokenizer.json and model.safetensors", nil, usual.path)
		if err == nil { // Hark may be started elsewhere
			path, err = filepath.Abs(path)
		}
		return server{url: usual.url, key: usual.key, path: path}, err
	}
	chosen := server{url: openAI}
	if place != atOpenAI {
		isEmbedder := other != nil
		chosen.url, err = s.askURL(ctx, place, usual, isEmbedder)
		if err != nil {
			return chosen, err
		}
	}
	if chosen.url == usual.url {
		chosen = usual
		chosen.path = "" // it was another choice
	} else if other != nil && other.model != "" && chosen.url == other.url {
		chosen.key = other.key
	}
	if place != atOllama {
		if err := s.askSecret(ctx, "Its key", "the one that is known", &chosen.key); err != nil {
			return chosen, err
		}
	}
	names, err := s.listModels(ctx, w, chosen)
	if refusesKey(err) && place == atOllama { // which usually wants none
		before := chosen.key.Reveal()
		if err := s.askSecret(ctx, "Its key", "the refused one", &chosen.key); err != nil {
			return chosen, err
		}
		if chosen.key.Reveal() != before {
			names, _ = s.listModels(ctx, w, chosen)
		}
	}
	chosen.model, err = s.Name(ctx, "Model", names, chosen.model)
	return chosen, err
}

// listModels returns the names of a server's models, those that fit first. It says why it can't.
func (s *wizard) listModels(ctx context.Context, w wanted, of server) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names, err := llm.New(llm.Config{BaseURL: of.url, APIKey: of.key.Reveal(), Timeout: listTime}).List(ctx)
	if err != nil {
		fmt.Fprintln(s.Out, doctor.Failure(err, "name one").In(w.section).For("models"))
		return nil, err
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(gaugeBool(w.fits(b)), gaugeBool(w.fits(a))) })
	return names, nil
}

// refusesKey reports whether an error is that a server wants another key.
func refusesKey(err error) bool {
	refused, is := errors.AsType[*llm.Error](err)
	return is && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden)
}

func (s *wizard) askURL(ctx context.Context, place int, usual server, isEmbedder bool) (string, error) {
	question := "Its address, up to and including /v1"
	wanted := "Please write an address that begins with http:// or https://, such as " + ollama + "."
	at := ollama
	if place == elsewhere {
		question += ", or a name from the list"
		at = ""
		printServers(s.Out, isEmbedder)
	} else if !isEmbedder {
		fmt.Fprintln(s.Out, "Start Ollama with OLLAMA_CONTEXT_LENGTH=8192 or more: "+
			"by default it may cut prompts at 4096 tokens.")
	}
	if usual.model != "" && usual.place() == place {
		at = usual.url
	}
	for {
		written, err := s.Name(ctx, question, nil, at)
		if err != nil {
			return "", err
		}
		address := addressOf(written)
		if config.IsAddress(address) {
			return strings.TrimRight(address, "/"), nil
		}
		fmt.Fprintln(s.Out, wanted)
	}
}
