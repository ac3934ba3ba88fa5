// Command tune learns the weights of search's features, and the curve of its relevances, from recall sets:
//
//	go run ./internal/tune -write search/weights.go SET…
//	go run ./internal/tune -gate search/gate_weights.go SET…
//
// The second learns, with the weights that there are, when too little was found to be told.
//
// It prints how the weights do on conversations that they weren't learned from, and how they do without each
// feature.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"hark/internal/embed"
	"hark/internal/eval"
	"hark/search"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tune:", err)
		os.Exit(1)
	}
}

// folds is how many parts the conversations are dealt into, each of which is left out of learning once.
const folds = 5

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("tune", flag.ContinueOnError)
	write := flags.String("write", "", "write the weights to this `file`, as Go")
	gate := flags.String("gate", "", "write the weights of the gate to this `file`, as Go, and learn nothing else")
	without := flags.Bool("without", false, "print how each feature is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name the recall sets to learn from")
	}
	if *gate != "" {
		figures, err := learnGate(ctx, flags.Args(), *gate)
		if err == nil {
			fmt.Fprintln(out, figures)
		}
		return err
	}
	var questions []question
	evaluator := eval.Evaluator{Embedder: embed.Builtin{}}
	for _, path := range flags.Args() {
		if err := evaluator.Examine(ctx, path, func(s eval.Sample) error {
			questions = append(questions, questionOf(s))
			return nil
		}); err != nil {
			return err
		}
	}
	features := search.FeatureNames()
	apart := deal(questions, folds)
	held := learnApart(questions, apart, len(features), -1)
	figures := measure(questions, func(q int) []float64 { return held[apart[q]] })
	fmt.Fprintf(out, "%-20s%s\n", "held out", figures)
	if *without {
		for i, name := range features {
			held := learnApart(questions, apart, len(features), i)
			fmt.Fprintf(out, "%-20s%s\n", "without "+name,
				measure(questions, func(q int) []float64 { return held[apart[q]] }))
		}
	}
	weights := learn(questions, len(features), -1)
	fmt.Fprintf(out, "%-20s%s\n", "learned from all", measure(questions, func(int) []float64 { return weights }))
	apartWeights := func(q int) []float64 { return held[apart[q]] }
	curve := fitCurve(questions, apartWeights).cautious(questions, apartWeights)
	table := table(reliability(questions, apartWeights, curve))
	fmt.Fprint(out, table)
	if *write == "" {
		return nil
	}
	return os.WriteFile(*write, []byte(source(features, weights, curve, figures, table)), 0o644)
}
