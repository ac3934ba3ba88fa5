package config

import "reflect"

// Keys are those of all settings, in order. A list such as "llm.models" has one, as a whole.
func Keys() []string {
	var keys []string
	for _, p := range places(&Config{}) {
		keys = append(keys, p.key)
	}
	return keys
}

// Changed are the keys that have other values in now than in was, in order.
func Changed(was, now Config) []string {
	var keys []string
	after := places(&now)
	for i, p := range places(&was) {
		if !reflect.DeepEqual(p.at.Interface(), after[i].at.Interface()) {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// With is c with the values that other has for the keys that take wants.
func (c Config) With(other Config, take func(key string) bool) Config {
	from := places(&other)
	for i, p := range places(&c) {
		if take(p.key) {
			p.at.Set(from[i].at)
		}
	}
	return c
}

// keyed is where a Config has the value of a key.
type keyed struct {
	key string
	at  reflect.Value
}

// places are those of all keys in c.
func places(c *Config) []keyed {
	var all []keyed
	for _, f := range fieldsOf(c) {
		all = append(all, keyed{f.key, reflect.ValueOf(f.to).Elem()})
	}
	for _, l := range listsOf(c) {
		all = append(all, keyed{l.key, l.to})
	}
	return all
}
