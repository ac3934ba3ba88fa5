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
	"hark/internal/tokens"
	"hark/memory"
)

func (f *flags) evalCommand() *cobra.Command {
	out := ""
	c := &cobra.Command{
		Use:   "eval SET…",
		Short: "Measure recall on recall sets, in a temporary store",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which recall sets? Write their files' names behind \"eval\"")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			embedder, err := newEmbedder(c.Context(), cfg, memory.Space{})
			if err != nil {
				return err
			}
			counter := tokens.New()
			b, err := newBuilder(cfg, counter)
			if err != nil {
				return err
			}
			outcomes, err := newRunFile(out)
			if err != nil {
				return err
			}
			defer outcomes.abandon()
			var report eval.Report
			e := eval.Evaluator{Embedder: embedder, Builder: b}
			seen := map[string]bool{}
			for _, path := range args {
				name := eval.SetName(path)
				if seen[name] {
					return fmt.Errorf("the set %q is named twice", name)
				}
				seen[name] = true
				each := func(o eval.Outcome) error {
					report.Add(o)
					return outcomes.lines.Encode(o)
				}
				err := e.Run(c.Context(), path, each, f.progress("asking "+name))
				if c.Context().Err() != nil {
					return interrupted("interrupted" + outcomes.nothing())
				}
				if err != nil {
					return fmt.Errorf("%w%s", err, outcomes.nothing())
				}
			}
			if err := outcomes.keep(); err != nil {
				return err
			}
			return report.Write(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&out, "run", "", "write what was found for each question to this `file`, as JSON lines")
	return c
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
