package main

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
)

// The configuration can't see the builder's labels. It has the same, and takes the same languages.
func TestLabelsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	set, page := config.Default().Builder.Labels, config.Reference()
	for name := range labelFields() {
		if set[name] == nil || !strings.Contains(page, name) {
			t.Errorf("the page doesn't name the label %s", name)
		}
	}
	if len(set) != len(labelFields()) {
		t.Errorf("%d keys for %d labels", len(set), len(labelFields()))
	}
	for _, language := range append(builder.Languages(), "zh_Hant", "DE") {
		if _, err := loadLabels(t, "builder.language", language); err != nil {
			t.Error(err)
		}
	}
	_, err := loadLabels(t, "builder.language", "tlh")
	for _, language := range builder.Languages() {
		if err == nil || !strings.Contains(err.Error(), `"`+language+`"`) {
			t.Errorf("%q isn't named by %v", language, err)
		}
	}
}

func loadLabels(t *testing.T, key, value string) (builder.Labels, error) {
	t.Helper()
	c, err := config.LoadText("config.toml", key+" = "+strconv.Quote(value), func(string) (string, bool) { return "", false })
	if err != nil {
		return builder.Labels{}, err
	}
	return labels(c.Builder)
}

func TestEveryLabelCanBeNamed(t *testing.T) {
	t.Parallel()
	for key, field := range labelFields() {
		key = "builder.labels." + key
		want := builder.DefaultLabels()
		reflect.ValueOf(&want).Elem().FieldByName(field).SetString("Own %d ")
		if got, err := loadLabels(t, key, "Own %d "); err != nil || got != want {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
		reflect.ValueOf(&want).Elem().FieldByName(field).SetString("")
		got, err := loadLabels(t, key, "none")
		if err == nil && got != want {
			t.Errorf("%s = none: %+v", key, got)
		}
		if _, err = loadLabels(t, key, "a\nb"); err == nil || !strings.HasPrefix(err.Error(), key+" ") {
			t.Errorf("%s with a line break: %v", key, err)
		}
	}
	for _, mark := range []string{"high", "starred", "person", "last_active"} {
		if _, err := loadLabels(t, "builder.labels."+mark, "none"); err != nil {
			t.Error(err)
		}
	}
}
