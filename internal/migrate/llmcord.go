package migrate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

type llmcord struct {
	Result
	file      file
	providers *yaml.Node
	common    *yaml.Node // parameters of all models, in older files
	noImages  bool
	used      map[string]bool // providers
}

var errNotLlmcord = errors.New("it isn't llmcord's config.yaml: that has the key bot_token, and providers with models")

// groups are sections of some versions for what others have at the top.
var groups = []string{"discord", "behavior", "llm"}

// Llmcord makes Hark's configuration of any version of llmcord's config.yaml. Errors name the line.
func Llmcord(data []byte) (Result, error) {
	root, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	var all []pair
	for _, p := range pairs(root) {
		if slices.Contains(groups, p.key) && p.value.Kind == yaml.MappingNode {
			all = append(all, pairs(p.value)...)
			continue
		}
		all = append(all, p)
	}
	l := &llmcord{used: map[string]bool{}}
	has := map[string]bool{}
	for _, p := range all {
		has[p.key] = true
		switch p.key {
		case "providers":
			l.providers = p.value
		case "extra_api_parameters":
			l.common = p.value
		case "max_images":
			l.noImages = scalar(p.value) == "0"
		}
	}
	if !has["bot_token"] && !(has["providers"] && (has["models"] || has["model"])) {
		return Result{}, errNotLlmcord
	}
	for _, p := range all {
		l.take(p)
	}
	l.tellProviders()
	if l.file.Discord.Token == "" {
		l.left(pair{key: "bot_token"},
			"there is none: put the bot's token into discord.token, or into the variable HARK_DISCORD_TOKEN")
	}
	if l.file.LLM.Model == "" {
		l.left(pair{key: "models"}, "none could be taken over, so Hark answers by quoting what was said until you name one in llm.model")
	}
	made, err := toml.Marshal(l.file)
	l.TOML = append([]byte("# Made of llmcord's config.yaml. config.example.toml shows all that there is.\n\n"), made...)
	return l.Result, err
}

func (l *llmcord) taken(p pair, says string) {
	l.Taken = append(l.Taken, Note{p.line, p.key, says})
}

func (l *llmcord) left(p pair, format string, args ...any) {
	l.Left = append(l.Left, Note{p.line, p.key, fmt.Sprintf(format, args...)})
}

// unlike has the keys without an equivalent, with the reason or what to do.
var unlike = map[string]string{
	"status_message":       "Hark shows no status",
	"max_text":             "Hark limits the whole prompt instead, in tokens: builder.max_tokens. What doesn't fit is shortened or left out, the least relevant first",
	"max_messages":         "Hark goes back as far as the conversation, and by recall further; builder.max_tokens and memory.session_gap say how far",
	"use_plain_responses":  "Hark always answers in plain messages, without embeds",
	"allow_dms":            "Hark answers direct messages too. Whether they are remembered says memory.direct, and not unless you switch it on",
	"allowed_channel_ids":  noChannels,
	"blocked_channel_ids":  noChannels,
	"allowed_role_ids":     noPeople,
	"blocked_role_ids":     noPeople,
	"allowed_user_ids":     noPeople,
	"blocked_user_ids":     noPeople,
	"admin_user_ids":       noAdmins,
	"client_id":            "it isn't needed: Hark learns it by its token",
	"extra_api_parameters": "",
	"providers":            "",
}

const (
	noChannels = "Hark answers where it can read and write: take its role's right to view a channel away, in Discord, where it isn't wanted"
	noPeople   = "Hark answers all members of a server. \"/hark limits\" says how much somebody, or those of a role, may ask"
	noAdmins   = "those who may manage a server are its admins, and choose Hark's settings there with \"/hark\""
)

func (l *llmcord) take(p pair) {
	why, known := unlike[p.key]
	switch {
	case p.key == "bot_token":
		l.file.Discord.Token = scalar(p.value)
		if l.file.Discord.Token != "" {
			l.taken(p, "discord.token")
		}
	case p.key == "system_prompt":
		l.persona(p)
	case p.key == "models":
		l.models(p)
	case p.key == "model":
		if name := scalar(p.value); name != "" {
			l.model(pair{"model " + name, p.line, l.common}, name)
		}
	case p.key == "max_images":
		l.left(p, "Hark itself says how many images a model is shown; llm.vision, whether it is shown any")
	case p.key == "permissions":
		l.permissions(p)
	case blank(p.value): // nothing was said
	case known && why != "":
		l.left(p, "%s", why)
	case !known:
		l.left(p, "Hark's import doesn't know this key, so nothing was made of it")
	}
}

// permissions notes what to do about each list that isn't empty.
func (l *llmcord) permissions(p pair) {
	for _, what := range pairs(p.value) {
		for _, list := range pairs(what.value) {
			if blank(list.value) {
				continue
			}
			why := noPeople
			switch {
			case list.key == "admin_ids":
				why = noAdmins
			case what.key == "channels":
				why = noChannels
			}
			l.left(pair{key: p.key + "." + what.key + "." + list.key, line: list.line}, "%s", why)
		}
	}
}

// timely matches a sentence with the time.
var timely = regexp.MustCompile(`[^.!?\n]*\{(?:date|time)\}[^.!?\n]*[.!?]?[ \t]*`)

// persona takes the system prompt, without what tells the model the time.
func (l *llmcord) persona(p pair) {
	text := scalar(p.value)
	if text == "" {
		return
	}
	without := strings.TrimSpace(timely.ReplaceAllString(text, ""))
	l.file.Answer.Persona = without
	if without != "" {
		l.taken(p, "answer.persona")
	}
	if without != text {
		l.left(p, "the sentences with {date} and {time} are left out, since Hark tells the model the time itself, in the zone that answer.timezone names")
	}
}

// tellProviders notes servers that no model uses, and what Hark doesn't send.
func (l *llmcord) tellProviders() {
	var idle []string
	for _, p := range pairs(l.providers) {
		if !l.used[p.key] {
			idle = append(idle, p.key)
			continue
		}
		for _, q := range pairs(p.value) {
			at := pair{key: "providers." + p.key + "." + q.key, line: q.line}
			switch {
			case blank(q.value), slices.Contains([]string{"base_url", "api_key", "extra_headers"}, q.key):
			case q.key == "extra_body" && q.value.Kind == yaml.MappingNode:
				l.taken(at, "its models, unless they have the same parameter")
			case q.key == "extra_query":
				l.left(at, "Hark adds nothing to an address. Azure has one that needs no version: https://NAME.openai.azure.com/openai/v1 in llm.base_url")
			default:
				l.left(at, "Hark sends a server nothing of its own, so its default holds")
			}
		}
	}
	if len(idle) > 0 {
		l.left(pair{key: "providers"}, "no model was taken over from %s, so neither were the keys",
			strings.Join(idle, ", "))
	}
}
