package sqlstore

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"hark/memory"
)

// handlers has what the store does with each type of event.
var handlers = byEvent(messageEvents, editEvents, answerEvents, traceEvents, recordEvents, gapEvents, personEvents,
	connectionEvents, loreEvents, summaryEvents, decisionEvents, forgettingEvents, structureEvents, replayEvents)

func byEvent(of ...[]handler) map[reflect.Type]handler {
	all := map[reflect.Type]handler{}
	for _, h := range slices.Concat(of...) {
		all[h.event] = h
	}
	return all
}

// prepare checks and cleans events, so that applying them can only fail with the database.
func (s *Store) prepare(events []memory.Event) ([]event, error) {
	prepared := make([]event, len(events))
	return prepared, inHalves(len(events), func(from, to int) error {
		return s.prepareSome(events[from:to], prepared[from:to])
	})
}

// parallelFrom is the number of events from which two goroutines prepare faster than one.
const parallelFrom = 64

// inHalves runs f on the halves of n things, in parallel if they are many, and returns the earlier half's
// error first.
func inHalves(n int, f func(from, to int) error) error {
	if n < parallelFrom {
		return f(0, n)
	}
	var second error
	var wg sync.WaitGroup
	wg.Go(func() { second = f(n/2, n) })
	first := f(0, n/2)
	wg.Wait()
	return cmp.Or(first, second)
}

func (s *Store) prepareSome(events []memory.Event, prepared []event) error {
	p := &preparer{tokens: s.options.Tokens}
	for i, e := range events {
		err := p.prepare(e, &prepared[i])
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *preparer) prepare(e memory.Event, to *event) error {
	h, known := handlers[reflect.TypeOf(e)]
	if !known {
		return fmt.Errorf("apply an event of the unknown type %T: %w", e, memory.ErrRefused)
	}
	e, err := memory.Checked(e)
	if err != nil {
		return err
	}
	to.write, err = h.prepare(p, e)
	return err
}

// decisionEvents are what people decide about remembering.
var decisionEvents = []handler{
	handle((*transaction).opt),
	handleStructure((*transaction).choose),
}
