package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestKeysAreThoseOfTheExample(t *testing.T) {
	t.Parallel()
	keys, section := []string{}, ""
	for line := range strings.Lines(Example()) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "# "))
		switch {
		case strings.HasPrefix(line, "[["):
			keys, section = append(keys, strings.Trim(line, "[]")), "list"
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]") + "."
		case section != "list" && strings.Contains(line, " = "):
			if key, _, _ := strings.Cut(line, " = "); !strings.ContainsAny(key, " #\"") {
				keys = append(keys, section+key)
			}
		}
	}
	slices.Sort(keys)
	got := Keys()
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		t.Errorf("keys\n%q\nand in the example\n%q", got, keys)
	}
}

// Each value that changes is told by its key, and taken over alone.
func TestChangedAndWith(t *testing.T) {
	t.Parallel()
	for i, key := range Keys() {
		was, now := Default(), Default()
		change(t, places(&now)[i].at)
		if got := Changed(was, now); !slices.Equal(got, []string{key}) {
			t.Errorf("%s: told of %q", key, got)
		}
		if got := Changed(was.With(now, func(k string) bool { return k == key }), now); len(got) > 0 {
			t.Errorf("%s: isn't taken over: %q", key, got)
		}
		if got := Changed(was.With(now, func(k string) bool { return k != key }), was); len(got) > 0 {
			t.Errorf("%s: is taken over with others: %q", key, got)
		}
	}
	for _, c := range []struct{ a, b string }{{"one", "one"}, {"one", "two"}, {"", "two"}} {
		was, now := Default(), Default()
		was.LLM.APIKey, now.LLM.APIKey = NewSecret(c.a), NewSecret(c.b)
		if got := len(Changed(was, now)) > 0; got != (c.a != c.b) {
			t.Errorf("%+v: changed is %t", c, got)
		}
	}
}

// change gives a value another.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch to := v.Addr().Interface().(type) {
	case *string:
		*to += "x"
	case *Secret:
		*to = NewSecret(to.Reveal() + "x")
	case *Headers:
		*to = Headers{"X": NewSecret("x")}
	case *bool:
		*to = !*to
	case *int:
		*to++
	case **int:
		*to = new(7)
	case **float64:
		*to = new(0.7)
	case *Duration:
		to.Duration++
	case *[]Model:
		*to = []Model{{Name: "x"}}
	default:
		t.Fatalf("a setting of type %T", to)
	}
}
