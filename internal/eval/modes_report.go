package eval

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hark/builder"
)

// ModeReport sums up how modes were inferred, and what they cost and show.
type ModeReport struct {
	Questions int           `json:"questions"`
	Right     int           `json:"right"`
	Accuracy  float64       `json:"accuracy"` // in [0, 1]
	Modes     []ModeFigures `json:"modes"`
	// Instructions are the tokens of the rules that are sent with a question, on average; AllInstructions
	// those of all modes' modules at once; Saved is which part of these isn't sent, in [0, 1].
	Instructions    float64      `json:"instructions"`
	AllInstructions int          `json:"all_instructions"`
	Saved           float64      `json:"saved"`
	Sections        []ModeShares `json:"sections"`
	// Less counts the questions whose mode shows less of anything in the stock context than the general mode
	// does.
	Less  int           `json:"less_than_general"`
	Wrong []ModeOutcome `json:"wrong"`
}

// ModeFigures are those of one mode.
type ModeFigures struct {
	Mode         builder.Mode         `json:"mode"`
	Wanted       int                  `json:"wanted"`
	Inferred     int                  `json:"inferred"`
	As           map[builder.Mode]int `json:"as"`        // what was inferred where it was wanted
	Precision    *float64             `json:"precision"` // in [0, 1]; nil if it was never inferred
	Recall       *float64             `json:"recall"`    // in [0, 1]; nil if it was never wanted
	Instructions int                  `json:"instructions"`
}

// ModeShares are how many items of a section were in the stock context, on average over the questions.
type ModeShares struct {
	Section  builder.SectionType `json:"section"`
	Items    int                 `json:"items"` // that there were
	General  float64             `json:"general"`
	Inferred float64             `json:"inferred"`
}

func newModeReport(b *builder.Builder) *ModeReport {
	r := &ModeReport{AllInstructions: b.InstructionTokens(builder.Modes()...), Wrong: []ModeOutcome{}}
	for _, m := range builder.Modes() {
		r.Modes = append(r.Modes, ModeFigures{
			Mode:         m,
			As:           map[builder.Mode]int{},
			Instructions: b.InstructionTokens(m),
		})
	}
	return r
}

// add counts an outcome, with the prompts that the general mode and the inferred one make.
func (r *ModeReport) add(o ModeOutcome, general, inferred builder.Prompt) {
	r.Questions++
	for i := range r.Modes {
		f := &r.Modes[i]
		if f.Mode == o.Want {
			f.Wanted++
			f.As[o.Got]++
		}
		if f.Mode == o.Got {
			f.Inferred++
			r.Instructions += float64(f.Instructions)
		}
	}
	if o.Got == o.Want {
		r.Right++
	} else {
		r.Wrong = append(r.Wrong, o)
	}
	if showsLess(general, inferred) {
		r.Less++
	}
	if r.Sections == nil {
		r.Sections = make([]ModeShares, len(general.Report.Sections))
	}
	for i, s := range general.Report.Sections {
		share := &r.Sections[i]
		share.Section = s.Type
		share.Items = s.Included + s.Dropped
		share.General += float64(s.Included)
		share.Inferred += float64(inferred.Report.Sections[i].Included)
	}
}

// showsLess reports whether other shows less of anything than general. The system message doesn't count: with
// little room, a mode's own rules are cut.
func showsLess(general, other builder.Prompt) bool {
	for i, was := range general.Report.Sections {
		is := other.Report.Sections[i]
		if was.Type != builder.SectionSystem &&
			(is.Included < was.Included || is.Included-is.Cut < was.Included-was.Cut) {
			return true
		}
	}
	type line struct {
		item int
		id   int64
	}
	shown := map[line]float64{}
	for _, s := range other.Shown {
		shown[line{s.Item, int64(s.Message)}] = s.Fraction
	}
	for _, s := range general.Shown {
		if shown[line{s.Item, int64(s.Message)}] < s.Fraction {
			return true
		}
	}
	return false
}

// finish makes averages of the sums.
func (r *ModeReport) finish() {
	n := float64(max(1, r.Questions))
	r.Accuracy = float64(r.Right) / n
	r.Instructions /= n
	if r.AllInstructions > 0 {
		r.Saved = 1 - r.Instructions/float64(r.AllInstructions)
	}
	for i := range r.Sections {
		r.Sections[i].General /= n
		r.Sections[i].Inferred /= n
	}
	for i := range r.Modes {
		f := &r.Modes[i]
		f.Precision, f.Recall = part(f.As[f.Mode], f.Inferred), part(f.As[f.Mode], f.Wanted)
	}
}

// part is n of all; nil of none.
func part(n, all int) *float64 {
	if all == 0 {
		return nil
	}
	return new(float64(n) / float64(all))
}

// Write prints the report, parts in percent, with the questions that were told wrongly if wrong is set. That
// w fails is for w to tell.
func (r *ModeReport) Write(w io.Writer, wrong bool) {
	fmt.Fprintf(w, "%d questions, %d of them told rightly: %.1f %%\n\n", r.Questions, r.Right, 100*r.Accuracy)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "wanted, and inferred as\t")
	for _, f := range r.Modes {
		fmt.Fprintf(table, "%s\t", f.Mode)
	}
	fmt.Fprintln(table, "precision\trecall\t")
	for _, f := range r.Modes {
		fmt.Fprintf(table, "%s\t", f.Mode)
		for _, as := range r.Modes {
			fmt.Fprintf(table, "%d\t", f.As[as.Mode])
		}
		fmt.Fprintf(table, "%s\t%s\t\n", percent(f.Precision), percent(f.Recall))
	}
	fmt.Fprint(table, "tokens of instructions\t")
	for _, f := range r.Modes {
		fmt.Fprintf(table, "%d\t", f.Instructions)
	}
	fmt.Fprintln(table, "\t\t")
	table.Flush()
	fmt.Fprintf(w, "\non average %.0f tokens of instructions are sent, all modules at once would be %d: %.1f %% are saved\n\n",
		r.Instructions, r.AllInstructions, 100*r.Saved)
	fmt.Fprint(table, "items in a stock context\tof\tgeneral\tinferred\t\n")
	for _, s := range r.Sections {
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t\n", s.Section, s.Items, s.General, s.Inferred)
	}
	table.Flush()
	fmt.Fprintf(w, "\n%d of %d questions show less of anything than in the general mode\n", r.Less, r.Questions)
	for i, o := range r.Wrong {
		if !wrong {
			break
		}
		if i == 0 {
			fmt.Fprintln(w)
		}
		why := ""
		if o.Why != "" {
			why = fmt.Sprintf(" by %q", o.Why)
		}
		fmt.Fprintf(w, "line %d: %s, inferred as %s%s: %q\n", o.Line, o.Want, o.Got, why, o.Question)
	}
}

func percent(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100**p)
}
