package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/cli"
	"hark/internal/personaldata"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
)

// contextCommand is "hark context", and "/context" in a talk.
func (f *flags) contextCommand(use, short string) *cobra.Command {
	a := asking{flags: f}
	mode := ""
	layout := ""
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  oneQuestion,
		RunE: a.withQuestion(func(c *cobra.Command, app *setup.App, q answer.Question) error {
			q.Mode, q.Layout = builder.Mode(mode), builder.Layout(layout)
			return a.context(c, app, q)
		}),
	}
	a.addFlags(c)
	if f.talk == nil {
		c.Flags().StringVar(&layout, "layout", "",
			"the prompt's form: `sections`, plain or chat (default: as configured)")
	}
	c.Flags().StringVar(&mode, "mode", "", "answer in this `mode`: "+cli.List(builder.Modes())+
		" (default: the channel's, or inferred from the question)")
	return c
}

func (a *asking) context(c *cobra.Command, app *setup.App, q answer.Question) error {
	if q.Mode != "" && !q.Mode.Known() {
		return fmt.Errorf("--mode: there is no mode %q: choose from %s", q.Mode, cli.List(builder.Modes()))
	}
	if q.Layout != "" && !slices.Contains(builder.Layouts(), q.Layout) {
		return fmt.Errorf("--layout: there is no layout %q: choose from %s", q.Layout, cli.List(builder.Layouts()))
	}
	r, err := app.Answers.Recall(c.Context(), q)
	if err != nil {
		return err
	}
	a.warnDegraded(r.Result)
	return printPrompt(c, a.json, r)
}

// printPrompt prints only the prompt to stdout, and its tokens and sections to stderr.
func printPrompt(c *cobra.Command, asJSON bool, r answer.Recalled) error {
	p := answer.KeptPrompt(r.Prompt)
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), promptJSON(p, r))
	}
	fmt.Fprintln(c.OutOrStdout(), r.Prompt.String())
	info := c.ErrOrStderr()
	fmt.Fprintf(info, "%-18s %s (%s)\n", "mode", r.Mode.Is, terminal.OneLine(r.Mode.Reason()))
	cli.PrintSections(info, "", answer.SectionUses(r.Prompt.Report), p)
	if r.Condensed != nil {
		fmt.Fprintf(info, "%-18s %6d messages, by %s\n", "condensed", len(r.Condensed.Sources),
			terminal.OneLine(r.Condensed.Model))
	}
	fmt.Fprintf(info, "%-18s %s\n", "all", fullness(r.Prompt.Report))
	return nil
}

// fullness says how many tokens a prompt takes, with a warning if the window is nearly full.
func fullness(r builder.Report) string {
	all := fmt.Sprintf("%6d tokens of %d", r.Tokens, r.MaxTokens)
	of := fmt.Sprintf("the model's window of %d", r.Window)
	if r.Window == 0 {
		of = fmt.Sprintf("%d, the longest prompt and answer", r.MaxTokens+r.Answer)
	}
	if r.Use() >= memory.NearlyFull {
		all += fmt.Sprintf("; nearly full: with an answer of %d it takes %.0f %% of %s", r.Answer, 100*r.Use(), of)
	}
	return all
}

type jsonSummary struct {
	personaldata.Summary
	Relevance float64  `json:"relevance"`
	Why       []string `json:"why"`
}

type jsonCondensed struct {
	Until   memory.MessageID `json:"until,string"` // the last message that it tells of
	Text    string           `json:"text"`
	Sources []string         `json:"sources"`
	Made    time.Time        `json:"made"`
	Model   string           `json:"model"`
}

func condensedJSON(c *memory.Condensed) *jsonCondensed {
	if c == nil {
		return nil
	}
	out := &jsonCondensed{
		Until: c.Until,
		Text:  c.Text,
		Made:  c.Made.UTC(),
		Model: c.Model,
	}
	for _, s := range c.Sources {
		out.Sources = append(out.Sources, s.Message.String())
	}
	return out
}

type jsonPrompt struct {
	Messages  []memory.PromptMessage `json:"messages"`
	Sections  []cli.Section          `json:"sections"`
	Summaries []jsonSummary          `json:"summaries,omitempty"` // of the channel's earlier sessions, best first
	Condensed *jsonCondensed         `json:"condensed,omitempty"` // the older part of the running session
	Tokens    int                    `json:"tokens"`
	MaxTokens int                    `json:"max_tokens"`
	Answer    int                    `json:"answer"` // tokens kept free for the answer
	Window    int                    `json:"window,omitempty"`
	Use       float64                `json:"use"`                 // of window, else of the longest prompt and answer
	Warning   bool                   `json:"warning"`             // use is 80 % or more
	TextOnly  bool                   `json:"text_only,omitempty"` // found by words only
	Mode      string                 `json:"mode"`
	ModeBy    string                 `json:"mode_by"`            // asked, channel, question or earlier
	ModeWhy   string                 `json:"mode_why,omitempty"` // the words that it was inferred by
}

func promptJSON(p memory.Prompt, r answer.Recalled) jsonPrompt {
	report := r.Prompt.Report
	out := jsonPrompt{
		Messages: p.Messages,
		Sections: cli.Sections(answer.SectionUses(report),
			p),
		Tokens:    report.Tokens,
		MaxTokens: report.MaxTokens,
		TextOnly:  r.Result.TextOnly,
		Answer:    report.Answer,
		Window:    report.Window,
		Use:       report.Use(),
		Warning:   report.Use() >= memory.NearlyFull,
		Mode:      string(r.Mode.Is),
		ModeBy:    string(r.Mode.By),
		ModeWhy:   r.Mode.Why,
		Condensed: condensedJSON(r.Condensed),
	}
	for _, h := range r.Earlier {
		out.Summaries = append(out.Summaries, jsonSummary{personaldata.SummaryOf(h.Summary), h.Relevance,
			append([]string{}, h.Why...)})
	}
	return out
}
