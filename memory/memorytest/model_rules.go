package memorytest

import (
	"reflect"

	"hark/memory"
)

// modelRule is what the model does with the events of one type. A noun's rules stand beside what it is kept in.
type modelRule struct {
	event reflect.Type
	apply func(*model, memory.Event)
}

// on returns the rule for events of type E.
func on[E memory.Event](apply func(*model, E)) modelRule {
	return modelRule{reflect.TypeFor[E](), func(m *model, e memory.Event) { apply(m, e.(E)) }}
}
