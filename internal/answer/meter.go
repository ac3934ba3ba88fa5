package answer

import (
	"cmp"
	"slices"
	"sync"

	"hark/builder"
)

// promptSizes are the bounds by which prompts are counted, in tokens.
var promptSizes = [9]int{500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000}

// PromptUse is what the prompts that were sent took, in numbers that only grow.
type PromptUse struct {
	Prompts  int64
	Tokens   int64           // of all of them
	Sizes    []PromptSize    // smallest first
	Sections []PromptSection // by section
	Dropped  []PromptDropped // by section and reason
	Warnings int64           // prompts that left less than a fifth of the model's window, with the answer
}

// PromptSize is how many prompts had at most so many tokens.
type PromptSize struct {
	Most  int
	Count int64
}

// PromptSection is how many tokens a section took.
type PromptSection struct {
	Section string
	Tokens  int64
}

// PromptDropped is how many items of a section were left out for a reason.
type PromptDropped struct {
	Section, Why string
	Items        int64
}

// meter counts what prompts take.
type meter struct {
	mu                        sync.Mutex
	prompts, tokens, warnings int64
	sizes                     [9]int64 // of promptSizes
	sections                  map[string]int64
	dropped                   map[[2]string]int64 // by section and reason
	calls                     map[[2]string]int64 // of tools, by tool and outcome
}

// ToolUse is how many calls of a tool came out in one way, a number that only grows.
type ToolUse struct {
	Tool, Outcome string // see memory.TraceCall
	Calls         int64
}

// called counts a call of a tool.
func (m *meter) called(tool, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[[2]string]int64{}
	}
	m.calls[[2]string{tool, outcome}]++
}

// ToolUse tells how the calls of tools so far came out, by tool and outcome.
func (e *Engine) ToolUse() []ToolUse {
	m := &e.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	var use []ToolUse
	for of, calls := range m.calls {
		use = append(use, ToolUse{of[0], of[1], calls})
	}
	slices.SortFunc(use, func(a, b ToolUse) int { return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Outcome, b.Outcome)) })
	return use
}

// sent counts a prompt that is sent to a model.
func (m *meter) sent(r builder.Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sections == nil {
		m.sections, m.dropped = map[string]int64{}, map[[2]string]int64{}
	}
	m.prompts++
	m.tokens += int64(r.Tokens)
	if r.Crowded() {
		m.warnings++
	}
	for i, most := range promptSizes {
		if r.Tokens <= most {
			m.sizes[i]++
		}
	}
	for _, s := range r.Sections {
		m.sections[string(s.Type)] += int64(s.Tokens)
		if s.Dropped > 0 {
			m.dropped[[2]string{string(s.Type), string(s.Why)}] += int64(s.Dropped)
		}
	}
}

// PromptUse tells what the prompts sent so far took.
func (e *Engine) PromptUse() PromptUse {
	m := &e.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	use := PromptUse{Prompts: m.prompts, Tokens: m.tokens, Warnings: m.warnings}
	for i, most := range promptSizes {
		use.Sizes = append(use.Sizes, PromptSize{most, m.sizes[i]})
	}
	for section, tokens := range m.sections {
		use.Sections = append(use.Sections, PromptSection{section, tokens})
	}
	slices.SortFunc(use.Sections, func(a, b PromptSection) int { return cmp.Compare(a.Section, b.Section) })
	for of, items := range m.dropped {
		use.Dropped = append(use.Dropped, PromptDropped{of[0], of[1], items})
	}
	slices.SortFunc(use.Dropped, func(a, b PromptDropped) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Why, b.Why))
	})
	return use
}
