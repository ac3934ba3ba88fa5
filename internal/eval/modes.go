package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/builder"
)

// ModeLine is a question with the mode that it asks for in the eyes of whoever labelled it.
type ModeLine struct {
	Line     int // from 1
	Want     builder.Mode
	Tools    []string // used before, oldest first
	Question string
}

// ReadModes reads a file of lines MODE<TAB>TOOLS<TAB>QUESTION, where TOOLS are names with commas between
// them, or "-". Empty lines and those that begin with # are passed over.
func ReadModes(path string) ([]ModeLine, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []ModeLine
	n := 0
	for text := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		n++
		text = strings.TrimRight(text, "\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		line, err := readMode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		line.Line = n
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: the file has no questions: expected are lines MODE<TAB>TOOLS<TAB>QUESTION", path)
	}
	return lines, nil
}

func readMode(text string) (ModeLine, error) {
	if !utf8.ValidString(text) {
		return ModeLine{}, errors.New("it isn't UTF-8")
	}
	columns := strings.Split(text, "\t")
	if len(columns) != 3 {
		return ModeLine{}, fmt.Errorf(
			"it has %d columns: expected are a mode, tools and a question, with a tab between them", len(columns))
	}
	line := ModeLine{Want: builder.Mode(columns[0]), Question: strings.TrimSpace(columns[2])}
	if !line.Want.Known() {
		return ModeLine{}, fmt.Errorf("there is no mode %q: there are %s", columns[0], joined(builder.Modes()))
	}
	if columns[1] != "-" {
		line.Tools = strings.Split(columns[1], ",")
	}
	if slices.Contains(line.Tools, "") {
		return ModeLine{}, fmt.Errorf("%q are no tools: expected are names with commas between them, or -", columns[1])
	}
	if line.Question == "" {
		return ModeLine{}, errors.New("it has no question")
	}
	return line, nil
}

func joined(modes []builder.Mode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// ModeOutcome is what was inferred from one question: a line of the run file.
type ModeOutcome struct {
	Line     int          `json:"line"`
	Want     builder.Mode `json:"want"`
	Got      builder.Mode `json:"got"`
	Why      string       `json:"why"` // the words that spoke for it
	Tools    []string     `json:"tools,omitempty"`
	Question string       `json:"question"`
}

// MeasureModes infers each line's mode, builds a stock context in it and in the general one, and calls
// each with the outcome.
func MeasureModes(ctx context.Context, b *builder.Builder, lines []ModeLine,
	each func(ModeOutcome) error) (*ModeReport, error) {
	r := newModeReport(b)
	in := stock()
	for _, l := range lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := ModeOutcome{
			Line:     l.Line,
			Want:     l.Want,
			Tools:    l.Tools,
			Question: l.Question,
		}
		o.Got, o.Why = builder.InferMode(l.Question, l.Tools)
		in.Query.Content = l.Question
		in.Mode = builder.ModeGeneral
		general := b.Build(in)
		in.Mode = o.Got
		r.add(o, general, b.Build(in))
		if err := each(o); err != nil {
			return nil, err
		}
	}
	r.finish()
	return r, nil
}
