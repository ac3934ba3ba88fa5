package reply

import (
	"math"

	"github.com/rs/zerolog"

	"hark/memory"
)

// account logs what an answer took, in numbers: nothing that was said, and nobody's name. Where the prompt
// took nearly all of the model's window it warns.
func (r *Replier) logUsage(t memory.Trace) {
	line, told := r.Log.Info(), "answered"
	if t.Use() >= memory.NearlyFull {
		line, told = r.Log.Warn(), "answered, with a prompt that takes nearly all of the model's window: lower builder.max_tokens, or use a model with a larger one"
	}
	tokens, dropped := zerolog.Dict(), zerolog.Dict()
	for _, s := range t.Sections {
		tokens.Int(s.Section, s.Tokens)
		if s.Dropped > 0 {
			dropped.Int(s.Section, s.Dropped)
		}
	}
	line.Int64("answer", int64(t.Answer)).Int64("question", int64(t.Question)).Int("tokens",
		t.Tokens).Int("max_tokens", t.MaxTokens).
		Int("window", t.Window).Float64("window_use", math.Round(100*t.Use())/100).Dict("sections",
		tokens).Dict("dropped", dropped).
		Int("recalled", len(t.Recalled)).Int64("search_ms", t.Search.Milliseconds()).Int64("total_ms",
		t.Total.Milliseconds()).Msg(told)
}
