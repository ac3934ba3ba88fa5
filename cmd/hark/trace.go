package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/terminal"
	"hark/memory"
)

type tracing struct {
	limit  int
	json   bool
	prompt bool
}

func (f *flags) traceCommand() *cobra.Command {
	o := tracing{limit: 10}
	c := &cobra.Command{
		Use:   "trace [ANSWER_ID]",
		Short: "Show how the last answers were made, or what the model was sent for one of them",
		Long: "Shows how the last answers were made, in numbers: what each section of the prompt took, and what was left out and why.\n" +
			"With an answer's id, it also shows the prompt that the model got, section by section, while it is kept\n" +
			"(memory.trace_retention) and nothing in it was forgotten. A prompt holds what members wrote: keep it private.",
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
		RunE: f.withArchive(func(c *cobra.Command, k *archive.Archive, args []string) error {
			if len(args) == 1 {
				return showTrace(c, k, o, args[0])
			}
			return listTraces(c, k, o)
		}),
	}
	c.Flags().IntVar(&o.limit, "limit", o.limit, "show at most this `number` of answers, the newest first")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.prompt, "prompt", false, "print only the prompt, exactly as the model got it")
	return c
}

func oneAnswer(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("one answer at a time: %q takes one id; \"%[1]s --help\" shows what there is",
			c.CommandPath())
	}
	return nil
}

func listTraces(c *cobra.Command, k *archive.Archive, o tracing) error {
	traces, err := k.Traces(c.Context(), memory.TraceQuery{Limit: o.limit})
	if err != nil {
		return err
	}
	if o.json {
		out := make([]jsonTrace, len(traces))
		for i, t := range traces {
			out[i] = traceJSON(k, t)
		}
		return cli.PrintJSON(c.OutOrStdout(), out)
	}
	if len(traces) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "Nothing has been answered yet.")
	}
	for i, t := range traces {
		if i > 0 {
			fmt.Fprintln(c.OutOrStdout())
		}
		printTrace(c.OutOrStdout(), k, t, memory.Prompt{})
	}
	return nil
}

func showTrace(c *cobra.Command, k *archive.Archive, o tracing, id string) error {
	t, err := traceOf(c.Context(), k, id)
	if err != nil {
		return err
	}
	p, why := k.PromptOf(t)
	switch {
	case o.prompt && why != "":
		return fmt.Errorf("the prompt isn't kept: %s", why)
	case o.prompt:
		fmt.Fprint(c.OutOrStdout(), joinPrompt(t, p))
		return nil
	case o.json:
		out := traceJSON(k, t)
		out.Sections = cli.Sections(t.Sections, p)
		if why == "" {
			out.Prompt = &jsonSentPrompt{Built: p.Built.UTC(), Messages: p.Messages}
		}
		return cli.PrintJSON(c.OutOrStdout(), out)
	}
	printTrace(c.OutOrStdout(), k, t, p)
	if why != "" {
		fmt.Fprintf(c.ErrOrStderr(), "The prompt isn't kept: %s.\n", why)
	} else {
		printSentPrompt(c.OutOrStdout(), t, p)
	}
	return nil
}

func traceOf(ctx context.Context, k *archive.Archive, id string) (memory.Trace, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || n == math.MaxInt64 {
		return memory.Trace{}, fmt.Errorf("no answer has the id %q: \"hark trace\" lists the last answers", id)
	}
	traces, err := k.Traces(ctx, memory.TraceQuery{
		Before:  memory.MessageID(n) + 1,
		Limit:   1,
		Prompts: true,
	})
	if err != nil {
		return memory.Trace{}, err
	}
	if len(traces) == 0 || traces[0].Answer != memory.MessageID(n) {
		return memory.Trace{}, fmt.Errorf(
			"no answer %d is remembered: it may have been forgotten; \"hark trace\" lists the last", n)
	}
	return traces[0], nil
}

// printTrace prints a line about an answer, and one for each section with its place in p.
func printTrace(w io.Writer, k *archive.Archive, t memory.Trace, p memory.Prompt) {
	fmt.Fprintf(w, "%s  %d  #%s in %s, %s, %.1f s\n",
		t.Answer.Time().In(k.Config.Answer.Location()).Format(cli.MinuteLayout), t.Answer,
		terminal.OneLine(k.PlaceName(t.Guild, t.Channel)), terminal.OneLine(archive.GuildName(k.GuildByID(t.Guild))),
		terminal.OneLine(cmp.Or(t.Model, "no model")), t.Total.Seconds())
	if len(t.Sections) == 0 {
		return
	}
	cli.PrintSections(w, "  ", t.Sections, p)
	if n := condensedIn(t); n > 0 {
		fmt.Fprintf(w, "  %-18s %6d messages of the session\n", "condensed", n)
	}
	all := fmt.Sprintf("  %-18s %6d tokens of %d", "all", t.Tokens, t.MaxTokens)
	if t.Window > 0 {
		all += fmt.Sprintf(", %.0f %% of the model's window of %d", 100*t.Use(), t.Window)
	}
	if t.Use() >= memory.NearlyFull {
		all += ": nearly full"
	}
	fmt.Fprintln(w, all)
	cli.PrintCalls(w, t.Calls)
}

// condensedIn returns how many messages the condensed part of the session was made from: the sources that are
// neither the question nor recalled.
func condensedIn(t memory.Trace) int {
	other := map[int64]bool{int64(t.Question): true}
	for _, hit := range t.Recalled {
		other[int64(hit.Message)] = true
	}
	return len(slices.DeleteFunc(t.IDsOf(memory.SourceMessage), func(id int64) bool { return other[id] }))
}

// printSentPrompt prints a prompt with a line above each of its sections.
func printSentPrompt(w io.Writer, t memory.Trace, p memory.Prompt) {
	tokens := map[string]int{}
	for _, u := range t.Sections {
		tokens[u.Section] = u.Tokens
	}
	counted := map[string]bool{} // in the chat layout, only the first turn has the section's tokens
	for _, b := range p.Boundaries {
		m := p.Messages[b.Message]
		line := fmt.Sprintf("── %s", terminal.OneLine(b.Section))
		if !counted[b.Section] {
			line += " · " + terminal.Plural(tokens[b.Section], "token")
			counted[b.Section] = true
		}
		line += fmt.Sprintf(" · message %d, %s, bytes %d–%d ──", b.Message+1, terminal.OneLine(m.Role), b.Start, b.End)
		fmt.Fprintf(w, "\n%s\n%s\n", line, terminal.Printable(m.Content[b.Start:b.End]))
	}
}

// joinPrompt returns a prompt's messages in sequence, as "hark context" prints them.
func joinPrompt(t memory.Trace, p memory.Prompt) string {
	messages := make([]builder.ChatMessage, len(p.Messages))
	for i, m := range p.Messages {
		messages[i] = builder.ChatMessage{Role: m.Role, Content: m.Content}
	}
	return builder.Layout(t.Layout).Join(messages)
}

type jsonTrace struct {
	Answer    memory.MessageID `json:"answer,string"`
	Time      time.Time        `json:"time"`
	Server    memory.GuildID   `json:"server,string"`
	Channel   string           `json:"channel"`
	ChannelID memory.ChannelID `json:"channel_id,string"`
	Question  memory.MessageID `json:"question,string"`
	Model     string           `json:"model,omitempty"` // empty: the answer quotes
	Origin    memory.Origin    `json:"origin,omitzero"`
	Layout    string           `json:"layout,omitempty"`
	Mode      string           `json:"mode,omitempty"`
	Tokens    int              `json:"tokens"`
	MaxTokens int              `json:"max_tokens"`
	Window    int              `json:"window,omitempty"` // 0 if it isn't known
	Use       float64          `json:"window_use,omitempty"`
	Warning   bool             `json:"warning"` // the window is nearly full
	Recalled  int              `json:"recalled"`
	HeldBack  int              `json:"held_back,omitempty"`
	Condensed int              `json:"condensed,omitempty"` // messages
	TextOnly  bool             `json:"text_only,omitempty"`
	SearchMS  int64            `json:"search_ms"`
	TotalMS   int64            `json:"total_ms"`
	Sections  []cli.Section    `json:"sections"`
	Calls     []jsonCall       `json:"tool_calls,omitempty"`
	Prompt    *jsonSentPrompt  `json:"prompt,omitempty"`
}

type jsonCall struct {
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	Round   int    `json:"round"`
	Shown   int    `json:"shown"`
	Tokens  int    `json:"tokens"`
	MS      int64  `json:"ms"`
}

func callsJSON(calls []memory.TraceCall) (out []jsonCall) {
	for _, c := range calls {
		out = append(out, jsonCall{c.Tool, c.Outcome, c.Round, c.Shown, c.Tokens, c.Took.Milliseconds()})
	}
	return out
}

type jsonSentPrompt struct {
	Built    time.Time              `json:"built"`
	Messages []memory.PromptMessage `json:"messages"`
}

func traceJSON(k *archive.Archive, t memory.Trace) jsonTrace {
	return jsonTrace{
		Answer:    t.Answer,
		Time:      t.Answer.Time().UTC(),
		Server:    t.Guild,
		Channel:   k.ChannelName(t.Guild, t.Channel),
		ChannelID: t.Channel,
		Question:  t.Question,
		Model:     t.Model,
		Origin:    t.Origin,
		Layout:    t.Layout,
		Mode:      t.Mode,
		Tokens:    t.Tokens,
		MaxTokens: t.MaxTokens,
		Window:    t.Window,
		Use:       t.Use(),
		Warning:   t.Use() >= memory.NearlyFull,
		Recalled:  len(t.Recalled),
		HeldBack:  t.HeldBack,
		Condensed: condensedIn(t),
		TextOnly:  t.TextOnly,
		SearchMS:  t.Search.Milliseconds(),
		TotalMS:   t.Total.Milliseconds(),
		Sections:  cli.Sections(t.Sections, memory.Prompt{}),
		Calls:     callsJSON(t.Calls),
	}
}
