package builder

import "fmt"

// crowded is the part of a model's window from which on little room is left.
const crowded = 0.8

func (b *Builder) checkWindow() error {
	o := b.options
	switch {
	case o.Window < 0 || o.Answer < 0:
		return fmt.Errorf("window of %d tokens, %d of them for the answer: want numbers above 0, or 0 if they aren't known", o.Window, o.Answer)
	case o.Window > 0 && o.MaxTokens+o.Answer > o.Window:
		return fmt.Errorf("prompt of %d tokens and answer of %d: the window has %d", o.MaxTokens, o.Answer, o.Window)
	}
	return nil
}

// maxTokens is the budget of the prompt being built.
func (w *work) maxTokens() int {
	most := w.b.options.MaxTokens
	if w.in.MaxTokens > 0 {
		most = min(most, max(w.in.MaxTokens, w.b.least))
	}
	return most
}

// stored is how many tokens text has, by the count that is stored with it; 0 if that doesn't tell.
func (b *Builder) stored(text string, tokens int) int {
	if tokens <= 0 {
		return 0
	}
	return min(b.tally.count.Stored(text, tokens), len(text))
}

// Use is the part of the model's window that the prompt and the longest answer take, from 0 to 1. Where no window
// is known it is the part of the budget that the prompt takes.
func (r Report) Use() float64 {
	if r.Window > 0 {
		return float64(r.Tokens+r.Answer) / float64(r.Window)
	}
	return float64(r.Tokens) / float64(max(1, r.MaxTokens))
}

// Crowded reports whether at least 80 % of the model's window are in use. Where none is known it is false: a budget
// is there to be used up.
func (r Report) Crowded() bool { return r.Window > 0 && r.Use() >= crowded }
