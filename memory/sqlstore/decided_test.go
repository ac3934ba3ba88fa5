package sqlstore

import (
	"reflect"
	"slices"
	"testing"

	"hark/memory"
)

// Every type of event that decides something is replayed over a restored memory. Facts aren't: they are added later, as
// messages are.
func TestEveryDecisionIsReplayed(t *testing.T) {
	t.Parallel()
	var replayed []reflect.Type
	for _, k := range decided {
		e, err := k.read(nil, func(...any) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		replayed = append(replayed, reflect.TypeOf(e))
	}
	for of := range handlers {
		e, isPublic := reflect.Zero(of).Interface().(memory.Event)
		if isPublic && memory.Decides(e) && of.Name() != "FactTold" && !slices.Contains(replayed, of) {
			t.Errorf("%s isn't replayed", of.Name())
		}
	}
	for _, of := range replayed {
		_, handled := handlers[of]
		if !handled {
			t.Errorf("%s has no handler", of)
		}
	}
}
