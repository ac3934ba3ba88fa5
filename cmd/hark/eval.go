package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"hark/internal/atomicfile"
	"hark/internal/cli"
	"hark/internal/embed"
	"hark/internal/eval"
	"hark/internal/exports"
	"hark/internal/setup"
	"hark/internal/terminal"
)

// builtIn is the built-in embedder's name for --embedding.
const builtIn = "built-in"

type evaluation struct {
	*flags
	out       string
	compare   bool
	embedding string
	at        string // its server
	path      string // of a static model
	modes     string // a file
	wrong     bool
	json      bool
}

func (f *flags) evalCommand() *cobra.Command {
	e := evaluation{flags: f}
	c := &cobra.Command{
		Use:   "eval SET…",
		Short: "Measure recall on recall sets, in a temporary store, or how well modes are inferred",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case e.modes != "" && len(args) > 0:
				return fmt.Errorf("--modes takes no recall sets: leave out %q", args[0])
			case e.modes == "" && (e.wrong || e.json):
				return errors.New("--wrong and --json need --modes")
			case e.modes == "" && len(args) == 0:
				return errors.New("which recall sets? Write their files' names after \"eval\"")
			}
			return nil
		},
		RunE: func(c *cobra.Command, sets []string) error {
			if e.modes != "" {
				return e.measureModes(c)
			}
			return e.run(c, sets)
		},
	}
	c.Flags().StringVar(&e.out, "run", "", "write what was found for each question to this `file`, as JSON lines")
	c.Flags().BoolVar(&e.compare, "compare", false,
		"instead, switch off one ingredient of recall at a time, and print how often evidence is found")
	c.Flags().StringVar(&e.embedding, "embedding", "",
		"measure with this embedding `model`, or \"built-in\" (default: as configured)")
	c.Flags().StringVar(&e.at, "embedding-url", "", "the `address` of that model's server, up to and including /v1")
	c.Flags().StringVar(&e.path, "embedding-path", "",
		"measure with the static model in this `directory`, and compare it with what is configured")
	c.Flags().StringVar(&e.modes, "modes", "",
		"instead, measure how well modes are inferred for the questions in this `file`, "+
			"with lines MODE<TAB>TOOLS<TAB>QUESTION")
	c.Flags().BoolVar(&e.wrong, "wrong", false, "with --modes: also print the questions whose mode was wrong")
	c.Flags().BoolVar(&e.json, "json", false, "with --modes: print JSON")
	for _, recall := range []string{"compare", "embedding", "embedding-url", "embedding-path"} {
		c.MarkFlagsMutuallyExclusive("modes", recall)
	}
	c.MarkFlagsMutuallyExclusive("run", "compare")
	for _, other := range []string{"embedding", "embedding-url", "compare"} {
		c.MarkFlagsMutuallyExclusive("embedding-path", other)
	}
	return c
}

func (e *evaluation) run(c *cobra.Command, sets []string) error {
	evaluator, err := e.evaluator(c)
	if err != nil {
		return err
	}
	if e.compare {
		var comparison eval.Comparison
		if err := eachSet(sets, func(path, name string) error {
			return evaluator.Compare(c.Context(), path, &comparison, e.progress("asking "+name))
		}); err != nil {
			return terminal.CutShort(c.Context(), err, "interrupted")
		}
		comparison.Write(c.OutOrStdout())
		return nil
	}
	var report eval.Report
	if err := e.writeRun(c.Context(), func(lines *json.Encoder) error {
		return e.measure(c.Context(), evaluator, sets, func(o eval.Outcome) error {
			report.Add(o)
			return lines.Encode(o)
		})
	}); err != nil {
		return err
	}
	for _, lack := range report.Lacks() {
		fmt.Fprintln(e.env.stderr, "hark:", lack)
	}
	report.Write(c.OutOrStdout())
	if e.path == "" {
		return nil
	}
	model := evaluator.Embedder.Space()
	e.path = ""
	evaluator, err = e.evaluator(c)
	if err != nil {
		return err
	}
	if evaluator.Embedder.Space() == model { // it is already in use
		evaluator.Embedder = embed.Builtin{}
	}
	var before eval.Report
	if err := e.measure(c.Context(), evaluator, sets, func(o eval.Outcome) error {
		before.Add(o)
		return nil
	}); err != nil {
		return terminal.CutShort(c.Context(), err, "interrupted")
	}
	report.WriteAgainst(c.OutOrStdout(), &before, model.Name, evaluator.Embedder.Space().Name)
	return nil
}

// measure asks the questions of sets.
func (e *evaluation) measure(ctx context.Context, evaluator *eval.Evaluator, sets []string,
	each func(eval.Outcome) error) error {
	return eachSet(sets, func(path, name string) error {
		return evaluator.Run(ctx, path, each, e.progress("asking "+name+" with "+evaluator.Embedder.Space().Name))
	})
}

func (e *evaluation) measureModes(c *cobra.Command) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	b, err := setup.NewBuilder(cfg)
	if err != nil {
		return err
	}
	lines, err := eval.ReadModes(e.modes)
	if err != nil {
		return err
	}
	var report *eval.ModeReport
	if err := e.writeRun(c.Context(), func(outcomes *json.Encoder) (err error) {
		report, err = eval.MeasureModes(c.Context(), b, lines, func(o eval.ModeOutcome) error {
			return outcomes.Encode(o)
		})
		return err
	}); err != nil {
		return err
	}
	if e.json {
		return cli.PrintJSON(c.OutOrStdout(), report)
	}
	report.Write(c.OutOrStdout(), e.wrong)
	return nil
}

func eachSet(paths []string, measure func(path, name string) error) error {
	seen := map[string]bool{}
	for _, path := range paths {
		name := eval.SetName(path)
		if seen[name] {
			return fmt.Errorf("the set %q is named twice", name)
		}
		seen[name] = true
		if err := measure(path, name); err != nil {
			return err
		}
	}
	return nil
}

// evaluator returns the configured evaluator, with the embedder that the flags name.
func (e *evaluation) evaluator(c *cobra.Command) (*eval.Evaluator, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, err
	}
	switch e.embedding {
	case "":
	case builtIn:
		cfg.Embedding.Model = ""
		cfg.Embedding.Path = ""
	default:
		if e.embedding != cfg.Embedding.Model { // what is set is another model's
			cfg.Embedding.Dimensions = 0
			cfg.Embedding.QueryPrefix = nil
			cfg.Embedding.DocumentPrefix = nil
		}
		cfg.Embedding.Model = e.embedding
		cfg.Embedding.Path = ""
	}
	if e.path != "" {
		cfg.Embedding.Path = e.path
	}
	if e.at != "" {
		cfg.Embedding.BaseURL = e.at
	}
	if e.at != "" && cfg.Embedding.Model == "" {
		return nil, errors.New("--embedding-url needs --embedding: which model is there?")
	}
	var told sync.Once
	embedder, err := setup.NewEmbedder(c.Context(), cfg, func(_, tokens int) {
		told.Do(func() { e.tellShortened(tokens) })
	})
	if err != nil {
		return nil, err
	}
	b, err := setup.NewBuilder(cfg)
	if err != nil {
		return nil, err
	}
	evaluator := &eval.Evaluator{Embedder: embedder, Builder: b}
	reranker, err := setup.NewReranker(cfg)
	if reranker != nil {
		evaluator.Reranker = reranker
	}
	return evaluator, err
}

// writeRun has measure write the run file of --run. A complete one replaces an earlier file.
func (e *evaluation) writeRun(ctx context.Context, measure func(lines *json.Encoder) error) error {
	kept := ""
	write := func(w io.Writer) error { return measure(exports.NewEncoder(w)) }
	info, err := os.Stat(e.out)
	switch {
	case e.out == "":
		err = write(io.Discard)
	case err == nil && !info.Mode().IsRegular(): // such as /dev/stdout
		var file *os.File
		file, err = os.OpenFile(e.out, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(write(file), file.Close())
		}
	default:
		err = atomicfile.Write(e.out, func(w io.Writer) error {
			kept = "; " + e.out + " is as it was"
			return write(w)
		})
	}
	if ctx.Err() != nil {
		return terminal.Interrupted("interrupted" + kept)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, kept)
	}
	return nil
}
