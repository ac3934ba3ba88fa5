package answer

import (
	"sync"

	"hark/memory"
)

// HistoryUse is how often the model reached for the history since the engine was made, and what it did again and again, as
// Evidence has it, but for what spans several questions.
type HistoryUse struct {
	Questions, Reached, Accesses, Repeated, Loops, Decomposed int64
}

// historyMeter counts what the records of each answer tell.
type historyMeter struct {
	mu  sync.Mutex
	use HistoryUse
}

func (m *historyMeter) count(records []memory.Record) {
	if len(records) == 0 {
		return
	}
	of := EvidenceOf(records)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use.Questions++
	m.use.Reached += int64(min(of.Reached, 1))
	m.use.Accesses += int64(of.Accesses)
	m.use.Repeated += int64(of.Repeated.Calls)
	m.use.Loops += int64(of.Loops.Calls)
	m.use.Decomposed += int64(min(of.Decomposed.Questions, 1))
}

// HistoryUse is what has been counted.
func (e *Engine) HistoryUse() HistoryUse {
	e.history.mu.Lock()
	defer e.history.mu.Unlock()
	return e.history.use
}
