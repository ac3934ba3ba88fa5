package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"hark/builder"
	"hark/internal/config"
)

// noLabel is what an operator writes who wants nothing where a label would be.
const noLabel = "none"

// labels are those of prompts: the language's, but for those that the operator has named. The error names the key that
// can't be used.
func labels(c config.Builder) (builder.Labels, error) {
	l, ok := builder.LabelsIn(c.Language, c.Emoji)
	if !ok {
		return l, fmt.Errorf("builder.language: there are no labels in %q", c.Language)
	}
	all, fields := reflect.ValueOf(&l).Elem(), labelFields()
	for name, text := range c.Labels {
		if text == noLabel {
			text = ""
		} else if text == "" {
			continue
		}
		all.FieldByName(fields[name]).SetString(text)
	}
	err := l.Check()
	if problem, ok := errors.AsType[*builder.LabelError](err); ok {
		for name, field := range fields {
			if field == problem.Label {
				err = fmt.Errorf("builder.labels.%s %s", name, problem.Problem)
			}
		}
	}
	return l, err
}

// labelFields are the fields of builder.Labels, by the names that they have in a configuration.
func labelFields() map[string]string {
	fields := map[string]string{}
	for field := range reflect.TypeFor[builder.Labels]().Fields() {
		name := wordBegins.ReplaceAllString(field.Name, "_$0")
		fields[strings.ToLower(strings.TrimPrefix(name, "_"))] = field.Name
	}
	return fields
}

var wordBegins = regexp.MustCompile("[A-Z]")
