package config

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// Resolved is a setting as it holds.
type Resolved struct {
	Key  string
	Text string // as in the file; of a secret only whether it is set
	From string // the variable, or the file and the place in it, that set it; empty: it is the default
	Help string
	Env  string // the variable that can set it
}

// withoutSecrets returns an address in quotes without user, password and query, which may hold keys.
func withoutSecrets(quoted string) string {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return quoted
	}
	at, err := url.Parse(text)
	if err != nil {
		return "set"
	}
	if at.User != nil || at.RawQuery != "" {
		at.User = nil
		at.RawQuery = "…"
	}
	return strconv.Quote(at.String())
}

// Values returns the settings as they hold, in order, without those in tables and lists.
func (c Config) Values() (all []Resolved) {
	for _, f := range variables(&c) {
		value := Resolved{
			Key:  f.key,
			Text: f.toml(),
			From: c.From[f.key],
			Help: f.help(),
			Env:  f.env(),
		}
		if is, secret := f.to.(secretive); secret {
			value.Text = "not set"
			if is.IsSet() {
				value.Text = "set"
			}
		}
		extra, is := f.to.(*Extra)
		if is && len(*extra) > 0 {
			value.Text = "set: " + strings.Join(extra.Names(), ", ")
		}
		if _, address := f.tag.Lookup("url"); address {
			value.Text = withoutSecrets(value.Text)
		}
		value.Text = cmp.Or(value.Text, "not set")
		all = append(all, value)
	}
	return all
}
