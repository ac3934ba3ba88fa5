package migrate

import (
	"cmp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"hark/internal/config"
)

// parameters gives m what llmcord sends with its requests: its provider's extra_body, and over that its own parameters.
// It returns the longest answer in tokens; 0 if not set. What it can't take of a provider is noted once.
func (l *llmcord) parameters(p pair, provider string, m *model) (most int) {
	own := pairs(p.value)
	for _, q := range pairs(get(get(l.providers, provider), "extra_body")) {
		if slices.ContainsFunc(own, func(o pair) bool { return o.key == q.key }) {
			continue
		}
		at := pair{key: "providers." + provider + ".extra_body." + q.key, line: q.line}
		most = cmp.Or(l.parameter(at, q, m, !l.used[provider]), most)
	}
	for _, q := range own {
		at := pair{key: p.key + "." + q.key, line: q.line}
		most = cmp.Or(l.parameter(at, q, m, true), most)
	}
	return most
}

// parameter gives m the parameter q, whose notes name at. It returns the longest answer in tokens if that is what q
// says, else 0.
func (l *llmcord) parameter(at, q pair, m *model, tell bool) (most int) {
	if q.value.ShortTag() == "!!null" {
		return 0
	}
	most, why := m.take(q.key, q.value)
	if why != "" && tell {
		l.left(at, "%s", why)
	}
	isDefault := l.file.LLM.Model == ""
	if most > 0 && isDefault {
		l.taken(at, "llm.max_tokens")
	}
	return most
}

// take takes a parameter. It returns the tokens of the longest answer if the parameter says that, or why it can't be
// taken.
func (m *model) take(name string, value *yaml.Node) (most int, why string) {
	number, err := strconv.ParseFloat(scalar(value), 64)
	within := func(least, most float64) bool { return err == nil && number >= least && number <= most }
	switch name {
	case "temperature":
		if !within(0, 2) {
			return 0, "a temperature is a number from 0 to 2"
		}
		m.Temperature = &number
		return 0, ""
	case "max_tokens", "max_completion_tokens":
		if !within(1, 1e9) {
			return 0, "the longest answer is a number of tokens above 0"
		}
		return int(number), ""
	case "reasoning_effort":
		thinking, known := efforts[scalar(value)]
		if known {
			m.Thinking = thinking
			return 0, ""
		}
	}
	if config.WrittenByHark(name) {
		return 0, "Hark writes this part of a request itself"
	}
	taken, is := plain(value)
	if !is {
		return 0, "it can't be written in TOML"
	}
	m.addExtra(name, taken)
	return 0, ""
}

func (m *model) addExtra(name string, value any) {
	extra, _ := m.Extra.(map[string]any)
	if extra == nil {
		extra = map[string]any{}
		m.Extra = extra
	}
	extra[name] = value
}

// efforts are the values of reasoning_effort that thinking has, too.
var efforts = map[string]string{"none": "off", "low": "low", "medium": "medium", "high": "high"}
