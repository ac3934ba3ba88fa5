package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hark/internal/eval"
	"hark/memory"
)

// builtIn is what --embedding calls the embedder that is no model.
const builtIn = "built-in"

// evaluation is what "hark eval" is asked for.
type evaluation struct {
	*flags
	out       string
	compare   bool
	embedding string
	at        string // where embedding is
	modes     string // the file with questions whose modes are known
	wrong     bool
	json      bool
}

func (f *flags) evalCommand() *cobra.Command {
	e := evaluation{flags: f}
	c := &cobra.Command{
		Use:   "eval SET…",
		Short: "Measure recall on recall sets, in a temporary store, or how modes are inferred",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case e.modes != "" && len(args) > 0:
				return fmt.Errorf("--modes measures no recall sets, so what is %q?", args[0])
			case e.modes == "" && (e.wrong || e.json):
				return errors.New("--wrong and --json need --modes")
			case e.modes == "" && len(args) == 0:
				return errors.New("which recall sets? Write their files' names behind \"eval\"")
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
	c.Flags().BoolVar(&e.compare, "compare", false, "print how often evidence is found with each ingredient of recall switched off instead")
	c.Flags().StringVar(&e.embedding, "embedding", "", "measure with this embedding `model`, or \"built-in\" (default: as configured, and so is what else is known of it)")
	c.Flags().StringVar(&e.at, "embedding-url", "", "the `address` of that model's server, up to and including /v1")
	c.Flags().StringVar(&e.modes, "modes", "", "measure instead how the modes are inferred of the questions in this `file`, of lines MODE<TAB>TOOLS<TAB>QUESTION")
	c.Flags().BoolVar(&e.wrong, "wrong", false, "with --modes: print the questions as well that were told wrongly")
	c.Flags().BoolVar(&e.json, "json", false, "with --modes: print JSON")
	for _, recall := range []string{"compare", "embedding", "embedding-url"} {
		c.MarkFlagsMutuallyExclusive("modes", recall)
	}
	c.MarkFlagsMutuallyExclusive("run", "compare")
	return c
}

func (e *evaluation) run(c *cobra.Command, sets []string) error {
	evaluator, err := e.evaluator(c)
	if err != nil {
		return err
	}
	if e.compare {
		var comparison eval.Comparison
		err := eachSet(sets, func(path, name string) error {
			return evaluator.Compare(c.Context(), path, &comparison, e.progress("asking "+name))
		})
		if c.Context().Err() != nil {
			return interrupted("interrupted")
		}
		if err != nil {
			return err
		}
		return comparison.Write(c.OutOrStdout())
	}
	outcomes, err := newRunFile(e.out)
	if err != nil {
		return err
	}
	defer outcomes.abandon()
	var report eval.Report
	err = eachSet(sets, func(path, name string) error {
		return evaluator.Run(c.Context(), path, func(o eval.Outcome) error {
			report.Add(o)
			return outcomes.lines.Encode(o)
		}, e.progress("asking "+name))
	})
	if c.Context().Err() != nil {
		return interrupted("interrupted" + outcomes.nothing())
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, outcomes.nothing())
	}
	if err := outcomes.keep(); err != nil {
		return err
	}
	for _, lack := range report.Lacks() {
		fmt.Fprintln(e.env.stderr, "hark:", lack)
	}
	return report.Write(c.OutOrStdout())
}

// measureModes measures how modes are inferred.
func (e *evaluation) measureModes(c *cobra.Command) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	b, err := newBuilder(cfg, nil)
	if err != nil {
		return err
	}
	lines, err := eval.ReadModes(e.modes)
	if err != nil {
		return err
	}
	outcomes, err := newRunFile(e.out)
	if err != nil {
		return err
	}
	defer outcomes.abandon()
	report, err := eval.MeasureModes(c.Context(), b, lines, func(o eval.ModeOutcome) error { return outcomes.lines.Encode(o) })
	if c.Context().Err() != nil {
		return interrupted("interrupted" + outcomes.nothing())
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, outcomes.nothing())
	}
	if err := outcomes.keep(); err != nil {
		return err
	}
	if e.json {
		return printJSON(c.OutOrStdout(), report)
	}
	return report.Write(c.OutOrStdout(), e.wrong)
}

// eachSet calls measure for each set, by its file and its name.
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

// evaluator measures what is configured, but for what the flags say of the embedder.
func (e *evaluation) evaluator(c *cobra.Command) (*eval.Evaluator, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, err
	}
	switch e.embedding {
	case "":
	case builtIn:
		cfg.Embedding.Model = ""
	default:
		cfg.Embedding.Model = e.embedding
	}
	if e.at != "" {
		cfg.Embedding.BaseURL = e.at
	}
	if e.at != "" && cfg.Embedding.Model == "" {
		return nil, errors.New("which model is there? Name it with --embedding")
	}
	embedder, err := newEmbedder(c.Context(), cfg, memory.Space{})
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(cfg, nil)
	if err != nil {
		return nil, err
	}
	evaluator := &eval.Evaluator{Embedder: embedder, Builder: b}
	reranker, err := newReranker(cfg)
	if reranker != nil {
		evaluator.Reranker = reranker
	}
	return evaluator, err
}

// runFile takes outcomes as JSON lines. It is written whole or not at all, so that a file of an earlier run
// outlasts one that fails.
type runFile struct {
	lines *json.Encoder
	path  string
	file  *os.File // nil if nothing is to be written
	w     *bufio.Writer
}

// newRunFile writes to the file at path, or nowhere if path is empty.
func newRunFile(path string) (*runFile, error) {
	r := &runFile{path: path, lines: json.NewEncoder(io.Discard)}
	if path == "" {
		return r, nil
	}
	var err error
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		r.file, err = os.OpenFile(path, os.O_WRONLY, 0) // such as /dev/stdout
	} else {
		r.file, err = os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("make the run file: %w", err)
	}
	r.w = bufio.NewWriter(r.file)
	r.lines = json.NewEncoder(r.w)
	r.lines.SetEscapeHTML(false)
	return r, nil
}

// keep finishes the file.
func (r *runFile) keep() error {
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.w.Flush(), r.file.Close())
	if err == nil && r.temporary() {
		err = os.Rename(r.file.Name(), r.path)
	}
	if err != nil {
		return fmt.Errorf("write the run file: %w", err)
	}
	r.file = nil
	return nil
}

// abandon removes what isn't kept.
func (r *runFile) abandon() {
	if r.file == nil {
		return
	}
	_ = r.file.Close()
	if r.temporary() {
		_ = os.Remove(r.file.Name())
	}
}

// nothing ends a sentence on why there is no file.
func (r *runFile) nothing() string {
	if r.file == nil || !r.temporary() {
		return ""
	}
	return "; " + r.path + " is as it was"
}

func (r *runFile) temporary() bool { return r.file.Name() != r.path }
