package main

import (
	"cmp"
	"fmt"

	"hark/builder"
	"hark/internal/config"
	"hark/internal/tokens"
)

// windowOf is the model's window in tokens, as it is configured or known by its name; 0 if it isn't known.
func windowOf(c config.Config) int {
	return cmp.Or(c.LLM.Window, tokens.Window(c.LLM.Model))
}

// promptTokens is the longest prompt: as configured, or what an answer leaves of the model's window.
func promptTokens(c config.Config) int {
	if window := windowOf(c); window > 0 {
		return min(c.Builder.MaxTokens, window-c.LLM.MaxTokens)
	}
	return c.Builder.MaxTokens
}

// squeezed says that prompts are shorter than configured, if they are. It is no error for a command to end with.
func squeezed(c config.Config) error {
	most := promptTokens(c)
	if most == c.Builder.MaxTokens {
		return nil
	}
	return fmt.Errorf("the model's window of %d tokens hasn't room for a prompt of %d (builder.max_tokens) and an answer of %d "+
		"(llm.max_tokens): prompts have %d at most; llm.window says how large it is", windowOf(c), c.Builder.MaxTokens, c.LLM.MaxTokens, most)
}

// newBuilder builds prompts that fit the window of the configured model, as it counts tokens.
func newBuilder(c config.Config) (*builder.Builder, error) {
	l, err := labels(c.Builder)
	if err != nil {
		return nil, err
	}
	limits, err := sections(c.Builder)
	if err != nil {
		return nil, err
	}
	o := builder.Options{
		Layout: builder.Layout(c.Builder.Layout), MaxTokens: promptTokens(c), MaxChars: c.Builder.MaxContextChars,
		Window: windowOf(c), Answer: c.LLM.MaxTokens, Labels: l, Sections: limits,
		LineChars: c.Builder.LineChars, DataChars: c.Builder.DataChars,
		// The plain layout is for models too small to cite by number.
		Citations: c.Builder.Layout != string(builder.LayoutPlain),
	}
	if o.MaxTokens <= 0 {
		return nil, fmt.Errorf("the model's window of %d tokens has no room for a prompt beside an answer of %d: lower llm.max_tokens, "+
			"or say in llm.window how large the window is", o.Window, o.Answer)
	}
	b, err := builder.New(o, tokens.For(c.LLM.Model))
	if err != nil && squeezed(c) != nil {
		return nil, fmt.Errorf("%w; of the model's window of %d tokens an answer of %d leaves no more: lower llm.max_tokens, or say in "+
			"llm.window how large the window is", err, o.Window, o.Answer)
	}
	return b, err
}
