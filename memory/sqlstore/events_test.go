package sqlstore

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
)

func TestEveryTypeOfEventHasAHandler(t *testing.T) {
	t.Parallel()
	var handled []string
	for of := range handlers {
		if of.PkgPath() == reflect.TypeFor[memory.Posted]().PkgPath() { // the others are Replay's
			handled = append(handled, of.Name())
		}
	}
	slices.Sort(handled)
	if want := memorytest.EventTypes(t, ".."); !slices.Equal(handled, want) {
		t.Errorf("the store handles %v\nwant %v", handled, want)
	}
}

type strange struct{ memory.Heard }

func TestAnEventOfAnUnknownTypeIsRefused(t *testing.T) {
	t.Parallel()
	err := new(preparer).prepare(strange{}, new(event))
	if !errors.Is(err, memory.ErrRefused) {
		t.Errorf("got %v, want ErrRefused", err)
	}
}
