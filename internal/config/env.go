package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// readEnv takes the settings from environment variables.
func (s *settings) readEnv(env func(string) (string, bool)) {
	for _, f := range variables(s.config) {
		text, given := lookup(env, f.env())
		if f.secret() {
			if path, ok := lookup(env, f.env()+"_FILE"); ok {
				if given {
					s.problem("", "%s and %[1]s_FILE are both set; unset one of them", f.env())
					continue
				}
				text, given = s.readSecret(f.env()+"_FILE", path)
			}
		}
		switch {
		case !given:
		case !utf8.ValidString(text):
			s.problem(f.env(), "%s wants text in UTF-8", f.key)
		case isBare(f.key) && isInQuotes(text):
			s.problem(f.env(), "the quotes around the value are part of it: delete them")
		case !f.set(f.fromText(text)):
			s.problem(f.env(), "%s wants %s", f.key, f.wantsInEnv(text))
		default:
			s.from[f.key] = f.env()
		}
	}
}

// isBare reports whether a setting's value has no quotes of its own. A persona or a password may have some.
func isBare(key string) bool {
	return slices.Contains([]string{"token", "api_key", "model", "base_url"}, last(key))
}

// isInQuotes reports whether text has quotes around it, as Docker's --env-file leaves them there.
func isInQuotes(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	isQuote := func(r rune) bool { return r == '"' || r == '\'' || isCurly(r) }
	return size < len(text) && isQuote(first) && isQuote(last)
}

// CheckEnv returns an error for each HARK_ variable in environ, as of os.Environ, that nothing reads.
func CheckEnv(environ []string) error {
	known := []string{"HARK_CONFIG"}
	for _, f := range variables(new(Default())) {
		known = append(known, f.env())
		if f.secret() {
			known = append(known, f.env()+"_FILE")
		}
	}
	var problems []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		// Kubernetes sets these for a service named "hark"
		kubernetes := name == "HARK_PORT" || strings.HasPrefix(name, "HARK_PORT_") ||
			strings.HasPrefix(name, "HARK_SERVICE_")
		if !strings.HasPrefix(name, "HARK_") || slices.Contains(known, name) || kubernetes {
			continue
		}
		advice := "docs/configuration.md names all"
		near, ok := nearestVariable(name, known)
		if ok {
			advice = "did you mean " + near + "?"
		}
		problems = append(problems, fmt.Errorf("%s is not a variable of Hark's; %s", name, advice))
	}
	return errors.Join(problems...)
}

// nearestVariable compares variables as keys, so that sections count.
func nearestVariable(name string, known []string) (near string, ok bool) {
	key := func(name string) string {
		return strings.ToLower(strings.Replace(strings.TrimPrefix(name, "HARK_"), "_", ".", 1))
	}
	keys := make([]string, len(known))
	for i, k := range known {
		keys[i] = key(k)
	}
	best, ok := nearest(key(name), keys)
	if !ok {
		return "", false
	}
	return known[slices.Index(keys, best)], true
}

// wantsInEnv is wants for somebody who wrote text into a variable. It shows none of that, which may be secret.
func (f field) wantsInEnv(text string) string {
	_, is := f.to.(*Extra)
	if !is {
		return f.wants()
	}
	const example = `such as {"top_k": 40}`
	var value any
	err := json.Unmarshal([]byte(text), &value)
	slip, isSlip := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return "a JSON object, " + example + ": this is JSON, but no object"
	case isSlip && slip.Offset >= int64(len(text)):
		return "a JSON object, " + example + ": this one breaks off at its end, where a bracket or a quotation mark " +
			"is missing"
	case isSlip:
		return fmt.Sprintf("a JSON object, %s: from byte %d on this is no JSON", example, slip.Offset)
	}
	return "a JSON object, " + example
}
