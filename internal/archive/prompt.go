package archive

import (
	"time"

	"hark/memory"
)

// PromptOf returns what the model was sent for an answer, or why it isn't kept. t was read with TraceQuery.Prompts.
func (k *Archive) PromptOf(t memory.Trace) (p memory.Prompt, why string) {
	keep := k.Config.Memory.KeepPrompts()
	switch {
	case t.Model == "":
		return p, "no model was asked"
	case t.Guild == memory.DirectGuild:
		return p, "it belongs to a direct message"
	case keep == 0:
		return p, "memory.trace_retention is 0"
	case t.Prompt == nil:
		return p, "something in it was forgotten or changed, or memory.trace_retention has passed"
	case time.Since(t.Prompt.Built) > keep: // the janitor hasn't run since
		return p, "memory.trace_retention has passed"
	}
	return *t.Prompt, ""
}
