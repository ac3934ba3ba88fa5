package setup

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/tokens"
)

// Window returns the model's window in tokens, configured or known by its name; 0 if unknown.
func Window(c config.Config) int {
	return cmp.Or(c.LLM.Window, tokens.Window(c.LLM.Model))
}

// AnswerTokens returns how many tokens of the model's window are kept free for an answer.
func AnswerTokens(c config.Config) int { return tokens.ForAnswer(Window(c), c.LLM.MaxTokens) }

// PromptTokens returns the longest prompt: as configured, or what an answer leaves of the model's window.
func PromptTokens(c config.Config) int {
	return tokens.ForPrompt(Window(c), AnswerTokens(c), 0, WantedTokens(c))
}

// QuestionTokens returns the longest prompt of a question, beside which tools are offered if there is room for them.
func QuestionTokens(c config.Config) int {
	b, err := NewBuilder(c)
	if err != nil || c.LLM.Model == "" {
		return PromptTokens(c)
	}
	return toolsOf(c).PromptTokens(b)
}

// toolsOf returns Hark's own tools.
func toolsOf(c config.Config) *tools.Set {
	return tools.New(tools.Options{
		Rounds:    c.Answer.ToolRounds,
		NoRecords: c.Memory.KeepRecords() == 0,
	})
}

// WantedTokens returns the longest prompt if the model's window has room for it.
func WantedTokens(c config.Config) int {
	return cmp.Or(c.Builder.MaxTokens, builder.Layout(c.Builder.Layout).DefaultTokens())
}

// ErrSmallWindow is why a model can't be used well: its window hasn't room for a useful prompt.
var ErrSmallWindow = errors.New("the model's window is too small")

// CheckWindow returns a warning if prompts are shorter than configured. It is ErrSmallWindow if they are too short to
// be of use. No command but the doctor fails with it. larger says how to get a larger window.
func CheckWindow(c config.Config, larger string) error {
	alone := PromptTokens(c)
	most := QuestionTokens(c)
	wanted := WantedTokens(c)
	useful := builder.Layout(c.Builder.Layout).UsefulTokens()
	switch {
	case most == wanted:
		return nil
	case alone < min(wanted, useful):
		return fmt.Errorf("%w: %d tokens leave %d for a prompt, and less than %d have room for hardly more than the "+
			"question: %s, or say in llm.window how large it is", ErrSmallWindow, Window(c), max(0, alone), useful, larger)
	}
	beside := "and "
	if most < alone {
		beside = "beside tools (answer.tool_rounds) and "
	}
	return fmt.Errorf("the model's window of %d tokens hasn't room for a prompt of %d (builder.max_tokens) %san "+
		"answer of %d (llm.max_tokens, a third of the window at most): prompts have %d at most; %s, or say in llm.window "+
		"how large it is", Window(c), wanted, beside, AnswerTokens(c), most, larger)
}

// CheckTools returns a warning if the model's window has no room for tools beside prompts, so that none is ever
// offered. larger says how to get a larger window.
func CheckTools(c config.Config, larger string) error {
	if c.LLM.Model == "" || c.Answer.ToolRounds <= 0 {
		return nil
	}
	b, err := NewBuilder(c)
	if err != nil {
		return nil // which is told elsewhere
	}
	most, fits := toolsOf(c).Room(b)
	switch {
	case fits:
		return nil
	case most < b.Layout().UsefulTokens():
		return fmt.Errorf("the model's window of %d tokens has no room for tools beside prompts, so questions are "+
			"answered without: %s, or set answer.tool_rounds = 0", Window(c), larger)
	}
	return fmt.Errorf("the model's window of %d tokens has no room for tools beside prompts of %d, so most questions are "+
		"answered without: %s, or set builder.max_tokens = %d, which makes room for them",
		Window(c), PromptTokens(c), larger, most/100*100)
}

// For returns a configuration with one of its models as the default.
func For(c config.Config, m config.Model) config.Config {
	c.LLM.Model = m.Model
	c.LLM.Window = m.Window
	return c
}

// NewBuilder returns a builder of prompts that fit the configured model's window.
func NewBuilder(c config.Config) (*builder.Builder, error) {
	l, err := Labels(c.Builder)
	if err != nil {
		return nil, err
	}
	limits, err := Sections(c.Builder)
	if err != nil {
		return nil, err
	}
	o := builder.Options{
		Layout: builder.Layout(c.Builder.Layout), MaxTokens: PromptTokens(c), MaxChars: c.Builder.MaxContextChars,
		Window: Window(c), Answer: AnswerTokens(c), Labels: l, Sections: limits,
		LineChars: c.Builder.LineChars, DataChars: c.Builder.DataChars,
		// The plain layout is for models too small to cite by number.
		Citations: c.Builder.Citations && c.Builder.Layout != string(builder.LayoutPlain),
	}
	b, err := builder.New(o, tokens.For(c.LLM.Model))
	if err != nil && PromptTokens(c) < WantedTokens(c) {
		return nil, fmt.Errorf("%w; the model's window of %d tokens leaves no more: %s, or say in llm.window how large "+
			"it is", err, o.Window, llm.LargerWindow(c.LLM.BaseURL))
	}
	return b, err
}

// Sections returns the limits of a prompt's sections: the layout's, with the operator's changes.
func Sections(c config.Builder) (map[builder.SectionType]builder.Limits, error) {
	layout := builder.Layout(c.Layout)
	all := builder.DefaultSections(layout)
	for name, set := range c.Sections {
		section := builder.SectionType(name)
		if set == (config.Limits{}) {
			continue
		}
		limits, there := all[section]
		if !there {
			return nil, fmt.Errorf("builder.sections.%s: the layout %q has no such section", section, layout)
		}
		for to, value := range map[*int]*int{&limits.Priority: set.Priority, &limits.Floor: set.Floor,
			&limits.Ceiling: set.Ceiling} {
			if value != nil {
				*to = *value
			}
		}
		limits.Modes = nil
		for _, name := range set.ModeList() {
			if mode := builder.Mode(name); !mode.Known() {
				return nil, fmt.Errorf("builder.sections.%s.modes: there is no mode %q: want some of %q",
					section, name, builder.Modes())
			} else if !slices.Contains(limits.Modes, mode) {
				limits.Modes = append(limits.Modes, mode)
			}
		}
		all[section] = limits
	}
	return all, nil
}

// noLabel stands for no label in a configuration.
const noLabel = "none"

// Labels returns the language's labels, with the operator's changes. The error names the bad key.
func Labels(c config.Builder) (builder.Labels, error) {
	l, ok := builder.LabelsIn(c.Language, c.Emoji)
	if !ok {
		return l, fmt.Errorf("builder.language: there are no labels in %q", c.Language)
	}
	all := reflect.ValueOf(&l).Elem()
	fields := labelFields()
	for name, text := range c.Labels {
		if text == noLabel {
			text = ""
		} else if text == "" {
			continue
		}
		all.FieldByName(fields[name]).SetString(text)
	}
	err := l.Check()
	if problem, ok := errors.AsType[*builder.LabelError](err); ok {
		for name, field := range fields {
			if field == problem.Label {
				err = fmt.Errorf("builder.labels.%s %s", name, problem.Problem)
			}
		}
	}
	return l, err
}

// labelFields returns the fields of builder.Labels by their configuration keys.
func labelFields() map[string]string {
	fields := map[string]string{}
	for field := range reflect.TypeFor[builder.Labels]().Fields() {
		name := wordBegins.ReplaceAllString(field.Name, "_$0")
		fields[strings.ToLower(strings.TrimPrefix(name, "_"))] = field.Name
	}
	return fields
}

var wordBegins = regexp.MustCompile("[A-Z]")
