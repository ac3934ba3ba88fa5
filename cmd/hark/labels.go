package main

import (
	"errors"
	"fmt"
	"reflect"

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
	own := reflect.ValueOf(c.Labels)
	for field, value := range own.Fields() {
		to := reflect.ValueOf(&l).Elem().FieldByName(field.Name)
		switch text := value.String(); text {
		case "":
		case noLabel:
			to.SetString("")
		default:
			to.SetString(text)
		}
	}
	err := l.Check()
	if problem, ok := errors.AsType[*builder.LabelError](err); ok {
		field, _ := own.Type().FieldByName(problem.Label)
		err = fmt.Errorf("builder.labels.%s %s", field.Tag.Get("toml"), problem.Problem)
	}
	return l, err
}
