package answer

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"hark/builder"
	"hark/memory"
)

// promptSizes are the bounds by which prompts are counted, in tokens.
var promptSizes = []int{500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000}

// PromptUse is what the prompts that were sent took, in numbers that only grow.
type PromptUse struct {
	Prompts  int64
	Tokens   int64            // of all of them
	Sizes    []PromptSize     // by size, smallest first
	Sections map[string]int64 // tokens by section
	Dropped  []PromptDropped  // items left out, by section and why
	Warnings int64            // prompts that took memory.NearlyFull of the model's window, or more
}

// PromptSize is how many prompts had at most so many tokens.
type PromptSize struct {
	Most  int
	Count int64
}

// PromptDropped is how many items of a section were left out for a reason.
type PromptDropped struct {
	Section, Why string
	Items        int64
}

// meter counts what prompts take.
type meter struct {
	mu      sync.Mutex
	use     PromptUse
	sizes   []int64
	dropped map[PromptDropped]int64 // by one without Items
}

// sent counts a prompt that is sent to a model with such a window, of which 0 tokens mean that it isn't known.
func (m *meter) sent(r builder.Report, window int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dropped == nil {
		m.use.Sections, m.dropped, m.sizes = map[string]int64{}, map[PromptDropped]int64{}, make([]int64, len(promptSizes))
	}
	m.use.Prompts++
	m.use.Tokens += int64(r.Tokens)
	if (memory.Trace{Tokens: r.Tokens, Window: window}).Use() >= memory.NearlyFull {
		m.use.Warnings++
	}
	for i, most := range promptSizes {
		if r.Tokens <= most {
			m.sizes[i]++
		}
	}
	for _, s := range r.Sections {
		m.use.Sections[string(s.Type)] += int64(s.Tokens)
		if s.Dropped > 0 {
			m.dropped[PromptDropped{Section: string(s.Type), Why: s.Why}] += int64(s.Dropped)
		}
	}
}

// PromptUse tells what the prompts sent so far took.
func (e *Engine) PromptUse() PromptUse {
	m := &e.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	use := m.use
	use.Sections = maps.Clone(m.use.Sections)
	for i, most := range promptSizes {
		size := PromptSize{Most: most}
		if m.sizes != nil {
			size.Count = m.sizes[i]
		}
		use.Sizes = append(use.Sizes, size)
	}
	for d, n := range m.dropped {
		d.Items = n
		use.Dropped = append(use.Dropped, d)
	}
	slices.SortFunc(use.Dropped, func(a, b PromptDropped) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Why, b.Why))
	})
	return use
}
