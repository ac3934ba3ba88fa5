package sqlstore

import (
	"reflect"

	"hark/internal/text"
	"hark/memory"
)

// handler is what the store does with the events of one type. A noun's handlers stand beside its statements; events.go
// lists them all.
type handler struct {
	event   reflect.Type
	prepare func(p *preparer, e memory.Event) (write, error)
}

// preparer computes what doesn't need the write lock. The caller doesn't hold it.
type preparer struct {
	tokens func(string) int
	terms  text.Batch
}

// handle returns a handler for events of type E.
func handle[E memory.Event](apply func(*transaction, E)) handler {
	return prepare(func(_ *preparer, e E) (write, error) {
		return func(t *transaction) { apply(t, e) }, nil
	})
}

// prepare returns a handler for events of type E that computes something before there is a transaction.
func prepare[E memory.Event](f func(*preparer, E) (write, error)) handler {
	return handler{
		event: reflect.TypeFor[E](),
		prepare: func(p *preparer, e memory.Event) (write, error) {
			return f(p, e.(E))
		},
	}
}
