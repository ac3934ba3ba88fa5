package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/internal/config"
	"hark/internal/terminal"
)

func (f *flags) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, data, Discord, model, reranker and embedder, and say what to do",
		Long: "Checks all that Hark needs, also while it runs, and changes nothing. Each line begins with ✓ (well), ✗ (wrong) or !\n" +
			"(advice), and says what to do. The exit code is 1 if there is a ✗. It asks each model for an answer of one token, and\n" +
			"the embedder for a few vectors.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ill, all := false, []finding{}
			f.examine(c.Context(), func(found finding) {
				ill = ill || !found.OK
				all = append(all, found)
				if !asJSON {
					fmt.Fprintln(c.OutOrStdout(), found)
				}
			})
			if err := c.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(c.OutOrStdout(), all); err != nil {
					return err
				}
			}
			if ill {
				return errShown
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: a list of {check, ok, detail, advice}")
	return c
}

// finding is how one thing is that was checked.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do; where OK, what could be better
}

func (f finding) String() string {
	mark := "✗"
	switch {
	case f.OK && f.Advice != "":
		mark = "!"
	case f.OK:
		mark = "✓"
	}
	line := mark + " " + f.Check + ": " + f.Detail
	if f.Advice != "" {
		line += " → " + f.Advice
	}
	return terminal.OneLine(line)
}

// well is a finding that all is. What is checked is named by doctor.checks, unless a check has several findings.
func well(format string, args ...any) finding {
	return finding{OK: true, Detail: fmt.Sprintf(format, args...)}
}

// advised is a finding that all is well, and what could be better.
func advised(detail, advice string) finding { return finding{OK: true, Detail: detail, Advice: advice} }

// failed is a finding of err, which doesn't say what to do.
func failed(err error, advice string) finding { return finding{Detail: err.Error(), Advice: advice} }

// of is f as the finding of a check.
func (f finding) of(check string) finding {
	f.Check = check
	return f
}

// amiss is a finding of err, which may say itself what to do; if it doesn't, advice is that.
func amiss(err error, advice string) finding {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, server := range []string{"the rerank server", "the embedding server"} {
		text = text[max(0, strings.Index(text, server)):] // without what was attempted
	}
	detail, own := parted(text)
	if errors.Is(err, context.DeadlineExceeded) {
		detail, own = "there was no answer in time", ""
	}
	return finding{Detail: detail, Advice: cmp.Or(own, advice)}
}

// parted cuts an error's sentence at its first colon outside of parentheses: what happened, and what to do.
func parted(sentence string) (happened, advice string) {
	depth := 0
	for i, r := range sentence {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ':' && depth == 0 && strings.HasPrefix(sentence[i:], ": "):
			return sentence[:i], sentence[i+2:]
		}
	}
	return sentence, ""
}

// examineTime bounds each check that depends on somebody else.
const examineTime = 30 * time.Second

// examine checks everything, and tells what it found in a fixed order.
func (f *flags) examine(ctx context.Context, tell func(finding)) {
	cfg, err := f.load()
	if err == nil {
		_, err = newBuilder(cfg)
	}
	tell(f.configuration(err).of("configuration"))
	d := doctor{env: f.env, config: cfg}
	if err != nil {
		tell(d.versions(ctx).of("versions"))
		return
	}
	d.examine(ctx, tell)
}

// doctor checks what a configuration needs.
type doctor struct {
	env    *environment
	config config.Config
	// brief leaves out what costs money or much time.
	brief bool
}

// checks are all that there are, in the order in which they are told of.
func (d *doctor) checks() (all []func(context.Context) []finding) {
	add := func(name string, check func(context.Context) finding) {
		all = append(all, func(ctx context.Context) []finding { return []finding{check(ctx).of(name)} })
	}
	add("versions", d.versions)
	add("data directory", d.dataDirectory)
	add("database", d.database)
	if !d.brief && d.config.Web.Listen != "" {
		add("health checks", d.health)
	}
	all = append(all, d.discord)
	d.addModels(add)
	add("reranker", d.reranker)
	add("embedder", d.embedder)
	return all
}

// examine makes all checks at the same time, each for so long as examineTime.
func (d *doctor) examine(ctx context.Context, tell func(finding)) {
	var work sync.WaitGroup
	defer work.Wait()
	var found []chan []finding
	for _, check := range d.checks() {
		of := make(chan []finding, 1)
		found = append(found, of)
		work.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, examineTime)
			defer cancel()
			of <- check(ctx)
		})
	}
	for _, of := range found {
		for _, f := range <-of {
			if ctx.Err() != nil {
				return
			}
			tell(f)
		}
	}
}

// logChecks makes the doctor's checks, without those that cost something, and logs what isn't well.
func logChecks(ctx context.Context, f *flags, cfg config.Config, log zerolog.Logger) {
	d := doctor{env: f.env, config: cfg, brief: true}
	wrong, advised, n := 0, 0, 0
	tell := func(found finding) {
		n++
		event := log.Warn()
		switch {
		case found.OK && found.Advice == "":
			return
		case found.OK:
			advised++
		default:
			event = log.Error()
			wrong++
		}
		event.Str("check", found.Check).Str("advice", terminal.OneLine(found.Advice)).Msg(terminal.OneLine(found.Detail))
	}
	tell(f.configuration(nil).of("configuration"))
	d.examine(ctx, tell)
	if ctx.Err() == nil {
		log.Info().Int("checks", n).Int("wrong", wrong).Int("advice", advised).
			Msg("checked; \"hark doctor\" tells more")
	}
}
