package main

import (
	"reflect"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
)

// The configuration can't see the builder's labels. It has the same, and takes the same languages.
func TestLabelsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	own, theirs := reflect.TypeFor[config.Labels](), reflect.TypeFor[builder.Labels]()
	if own.NumField() != theirs.NumField() {
		t.Errorf("%d keys for %d labels", own.NumField(), theirs.NumField())
	}
	english := builder.DefaultLabels()
	for i := range min(own.NumField(), theirs.NumField()) {
		field := own.Field(i)
		if field.Name != theirs.Field(i).Name {
			t.Errorf("key %s stands where label %s does", field.Name, theirs.Field(i).Name)
		}
		shown := strings.TrimSpace(reflect.ValueOf(english).Field(i).String())
		if help := field.Tag.Get("help"); !strings.Contains(help, shown) {
			t.Errorf("the help of %s doesn't say that it is %q: %s", field.Name, shown, help)
		}
	}
	for _, language := range append(builder.Languages(), "zh_Hant", "DE") {
		if _, err := loadLabels(t, "HARK_BUILDER_LANGUAGE", language); err != nil {
			t.Error(err)
		}
	}
	_, err := loadLabels(t, "HARK_BUILDER_LANGUAGE", "tlh")
	for _, language := range builder.Languages() {
		if err == nil || !strings.Contains(err.Error(), `"`+language+`"`) {
			t.Errorf("%q isn't named by %v", language, err)
		}
	}
}

// loadLabels loads a configuration with one variable, and makes labels of it.
func loadLabels(t *testing.T, name, value string) (builder.Labels, error) {
	t.Helper()
	c, err := config.Load("../../config.example.toml", func(asked string) (string, bool) {
		if asked != name {
			return "", false
		}
		return value, true
	})
	if err != nil {
		return builder.Labels{}, err
	}
	return labels(c.Builder)
}

func TestEveryLabelCanBeNamed(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[config.Labels]().Fields() {
		name := "HARK_BUILDER_LABELS_" + strings.ToUpper(field.Tag.Get("toml"))
		want := builder.DefaultLabels()
		reflect.ValueOf(&want).Elem().FieldByName(field.Name).SetString("Own %d ")
		if got, err := loadLabels(t, name, "Own %d "); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		reflect.ValueOf(&want).Elem().FieldByName(field.Name).SetString("")
		got, err := loadLabels(t, name, "none")
		if err == nil && got != want {
			t.Errorf("%s=none: %+v", name, got)
		}
		if _, err = loadLabels(t, name, "a\nb"); err == nil || !strings.HasPrefix(err.Error(), "builder.labels."+field.Tag.Get("toml")+" ") {
			t.Errorf("%s with a line break: %v", name, err)
		}
	}
	for _, mark := range []string{"HIGH", "STARRED", "PERSON", "LAST_ACTIVE"} {
		if _, err := loadLabels(t, "HARK_BUILDER_LABELS_"+mark, "none"); err != nil {
			t.Error(err)
		}
	}
}
