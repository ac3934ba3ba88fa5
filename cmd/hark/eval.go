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
			embedder, err := newEmbedder(c.Context(), cfg)
			if err != nil {
				return err
			}
			counter := tokens.New()
			b, err := newBuilder(cfg, counter)
			if err != nil {
				return err
			}
			lines, finish, err := runFile(out)
			if err != nil {
				return err
			}
			var report eval.Report
			e := eval.Evaluator{Embedder: embedder, Builder: b}
			for _, path := range args {
				each := func(o eval.Outcome) error {
					report.Add(o)
					return lines.Encode(o)
				}
				if err := e.Run(c.Context(), path, each, f.progress("asking "+eval.SetName(path))); err != nil {
					return errors.Join(err, finish())
				}
			}
			return errors.Join(report.Write(c.OutOrStdout()), finish())
		},
	}
	c.Flags().StringVar(&out, "run", "", "write what was found for each question to this `file`, as JSON lines")
	return c
}

// runFile is where outcomes go: to the file at path, or nowhere.
func runFile(path string) (lines *json.Encoder, finish func() error, err error) {
	if path == "" {
		return json.NewEncoder(io.Discard), func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("make the run file: %w", err)
	}
	w := bufio.NewWriter(file)
	lines = json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines, func() error { return errors.Join(w.Flush(), file.Close()) }, nil
}
