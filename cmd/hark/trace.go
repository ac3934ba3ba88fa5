package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hark/memory"
)

// tracing is what "hark trace" was asked.
type tracing struct {
	limit  int
	json   bool
	prompt bool
}

func (f *flags) traceCommand() *cobra.Command {
	o := tracing{limit: 10}
	c := &cobra.Command{
		Use:   "trace [ANSWER_ID]",
		Short: "Show how the last answers came about, or what the model was sent for one of them",
		Long: "Shows how the last answers came about, in numbers: what the prompt's sections took, what was left out and why.\n" +
			"With an answer's id, also the prompt as the model got it, section by section, as long as it is kept\n" +
			"(memory.trace_retention) and nothing in it was forgotten. It holds what members wrote: keep it private.",
		Example: "  hark trace --limit 3\n  hark trace 1266087253498875905 --prompt > prompt.txt",
		Args:    oneAnswer,
		PreRunE: func(_ *cobra.Command, args []string) error {
			if o.limit < 1 {
				return fmt.Errorf("--limit %d: show at least one answer", o.limit)
			}
			if o.prompt && (len(args) == 0 || o.json) {
				return errors.New("--prompt prints one prompt and nothing else: name an answer's id, and leave out --json")
			}
			return nil
		},
		RunE: f.withKept(func(c *cobra.Command, k *kept, args []string) error {
			if len(args) == 1 {
				return k.showTrace(c, o, args[0])
			}
			return k.listTraces(c, o)
		}),
	}
	c.Flags().IntVar(&o.limit, "limit", o.limit, "show at most this `number` of answers, the newest first")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.prompt, "prompt", false, "print the prompt alone, byte by byte as the model got it")
	return c
}

func oneAnswer(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("one answer at a time: %q takes one id; \"%[1]s --help\" shows what there is", c.CommandPath())
	}
	return nil
}

func (k *kept) listTraces(c *cobra.Command, o tracing) error {
	traces, err := k.Traces(c.Context(), memory.TraceQuery{Limit: o.limit})
	if err != nil {
		return err
	}
	if o.json {
		out := make([]jsonTrace, len(traces))
		for i, t := range traces {
			out[i] = k.traceJSON(t)
		}
		return printJSON(c.OutOrStdout(), out)
	}
	if len(traces) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "Nothing has been answered yet.")
	}
	for i, t := range traces {
		if i > 0 {
			fmt.Fprintln(c.OutOrStdout())
		}
		k.printTrace(c.OutOrStdout(), t, memory.Prompt{})
	}
	return nil
}

func (k *kept) showTrace(c *cobra.Command, o tracing, id string) error {
	t, err := k.traceOf(c.Context(), id)
	if err != nil {
		return err
	}
	p, why := k.promptOf(t)
	switch {
	case o.prompt && why != "":
		return fmt.Errorf("the prompt isn't kept: %s", why)
	case o.prompt:
		fmt.Fprint(c.OutOrStdout(), joined(t, p))
		return nil
	case o.json:
		out := k.traceJSON(t)
		if out.Sections = sectionsJSON(t.Sections, p); why == "" {
			out.Prompt = &jsonKept{Built: p.Built.UTC(), Messages: p.Messages}
		}
		return printJSON(c.OutOrStdout(), out)
	}
	k.printTrace(c.OutOrStdout(), t, p)
	if why != "" {
		fmt.Fprintf(c.ErrOrStderr(), "The prompt isn't kept: %s.\n", why)
	} else {
		printKept(c.OutOrStdout(), t, p)
	}
	return nil
}

// traceOf is the trace of the answer with that id.
func (k *kept) traceOf(ctx context.Context, id string) (memory.Trace, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || n == math.MaxInt64 {
		return memory.Trace{}, fmt.Errorf("%q is no answer's id: \"hark trace\" lists those of the last answers", id)
	}
	traces, err := k.Traces(ctx, memory.TraceQuery{Before: memory.MessageID(n) + 1, Limit: 1, Prompts: true})
	if err != nil {
		return memory.Trace{}, err
	}
	if len(traces) == 0 || traces[0].Answer != memory.MessageID(n) {
		return memory.Trace{}, fmt.Errorf("no answer %d is remembered: it may have been forgotten; \"hark trace\" lists the last", n)
	}
	return traces[0], nil
}

// promptOf is what the model was sent, or why that can't be told.
func (k *kept) promptOf(t memory.Trace) (p memory.Prompt, why string) {
	keep := k.config.Memory.KeepPrompts()
	switch {
	case t.Model == "":
		return p, "no model was asked"
	case t.Guild == memory.DirectGuild:
		return p, "it belongs to a direct message"
	case keep == 0:
		return p, "memory.trace_retention is 0"
	case t.Prompt == nil:
		return p, "something in it was forgotten or changed, or memory.trace_retention has passed"
	case time.Since(t.Prompt.Built) > keep: // nobody has kept house since
		return p, "memory.trace_retention has passed"
	}
	return *t.Prompt, ""
}
