package config

import "strings"

// shared are the settings of a further model that llm stands in for.
type shared struct {
	place       string // as in marks
	base        *string
	key         *Secret
	headers     *Headers
	extra       *Extra
	temperature **float64
	thinking    *string
	atOnce      *int
}

// sharers returns these settings of all further models, in order, and last those of the fallback, if there is one.
func (l *LLM) sharers() []shared {
	var all []shared
	for i := range l.Models {
		m := &l.Models[i]
		all = append(all, shared{itemOf("llm.models", i+1), &m.BaseURL, &m.APIKey, &m.Headers, &m.Extra, &m.Temperature,
			&m.Thinking, &m.AtOnce})
	}
	f := &l.Fallback
	if f.Model != "" {
		all = append(all, shared{"llm.fallback", &f.BaseURL, &f.APIKey, &f.Headers, &f.Extra, &f.Temperature, &f.Thinking,
			&f.AtOnce})
	}
	return all
}

// inherit fills in what further models leave out. Key, headers and extra fields go to llm's server only, and how many
// calls there are at once is the server's.
func (l *LLM) inherit() {
	atOnce := map[string]int{plainBase(l.BaseURL): l.AtOnce}
	for _, m := range l.sharers() {
		m.takeFrom(l)
		server := plainBase(*m.base)
		if atOnce[server] == 0 && server != plainBase(l.BaseURL) {
			atOnce[server] = *m.atOnce
		}
	}
	for _, m := range l.sharers() {
		if *m.atOnce == 0 {
			*m.atOnce = atOnce[plainBase(*m.base)]
		}
	}
}

// takeFrom fills in what a model leaves out and llm has, except for what a server's models share.
func (m shared) takeFrom(l *LLM) {
	if *m.base == "" {
		*m.base = l.BaseURL
	}
	if *m.temperature == nil {
		*m.temperature = l.Temperature
	}
	if *m.thinking == "" {
		*m.thinking = l.Thinking
	}
	if plainBase(*m.base) != plainBase(l.BaseURL) {
		return
	}
	if !m.key.IsSet() {
		*m.key = l.APIKey
	}
	if *m.headers == nil {
		*m.headers = l.Headers
	}
	if *m.extra == nil {
		*m.extra = l.Extra
	}
}

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
		what := "the number that another model at its server has: they share it"
		if server == plainBase(l.BaseURL) {
			what = "to be left out: its server is llm.base_url, so llm.at_once counts"
		}
		s.want(number == *m.atOnce, m.place+".at_once", what)
	}
}

// plainBase returns a server's address in the form in which two are compared.
func plainBase(address string) string { return strings.TrimRight(address, "/") }
