package setup

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
	"hark/internal/golden"
	"hark/internal/llm"
)

func TestPromptsFitTheWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		model                          string
		window, prompt, answer, layout string // empty: the default
		known, want                    int    // the window, and the longest prompt; 0: an error
		fails, small                   bool
	}{
		{known: 0, want: 4000},
		{model: "llama3", known: 0, want: 4000},
		{model: "gpt-4", known: 8192, want: 4000},
		{model: "gpt-4", prompt: "8000", known: 8192, want: 7192},
		{model: "openai/gpt-4o:free", prompt: "100000", known: 128_000, want: 100_000},
		{model: "gpt-4", window: "32768", prompt: "8000", known: 32_768, want: 8000},
		{model: "llama3", window: "4096", known: 4096, want: 3096},
		{model: "llama3", window: "5000", known: 5000, want: 4000},
		{window: "4096", known: 4096, want: 3096},
		{model: "llama3", window: "2048", known: 2048, want: 1366},
		{model: "llama3", window: "4096", answer: "4000", known: 4096, want: 2731},
		{model: "gpt-4", answer: "8160", known: 8192, want: 4000},
		{model: "llama3", window: "1049", known: 1049, want: 700},
		{model: "llama3", window: "1048", known: 1048, want: 699, small: true},
		{model: "llama3", window: "1024", known: 1024, want: 683, small: true},
		{model: "llama3", window: "1024", prompt: "300", known: 1024, want: 300},
		{model: "llama3", window: "1024", layout: "plain", known: 1024, want: 683},
		{model: "llama3", window: "300", layout: "plain", known: 300, want: 200, small: true},
		{model: "llama3", window: "60", known: 60, fails: true},
		{model: "llama3", window: "1", known: 1, fails: true},
		{model: "llama3", prompt: "20", fails: true},
	} {
		env := map[string]string{"HARK_LLM_MODEL": tc.model, "HARK_LLM_WINDOW": tc.window,
			"HARK_BUILDER_MAX_TOKENS": tc.prompt, "HARK_LLM_MAX_TOKENS": tc.answer, "HARK_BUILDER_LAYOUT": tc.layout}
		c, err := config.Load("", func(key string) (string, bool) { v := env[key]; return v, v != "" })
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBuilder(c)
		if tc.fails {
			golden.Seen(t, fmt.Sprint(err))
			continue
		}
		tight := CheckWindow(c, llm.LargerWindow(""))
		if err != nil || b == nil || Window(c) != tc.known || PromptTokens(c) != tc.want ||
			(tight != nil) != (QuestionTokens(c) < WantedTokens(c)) || errors.Is(tight, ErrSmallWindow) != tc.small {
			t.Errorf("%+v: window %d, prompt %d, %v, %v", tc, Window(c), PromptTokens(c), tight, err)
		}
		if tight != nil {
			golden.Seen(t, tight.Error())
		}
	}
}

// A window that has no room for tools beside prompts is told of, with the longest prompt that leaves room.
func TestToolsFitTheWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		window, prompt, rounds string
		model                  string
		tight                  bool
	}{
		{model: "llama3"},
		{model: "llama3", window: "8192"},
		{model: "llama3", window: "4096", tight: true},
		{model: "llama3", window: "4096", prompt: "2000"},
		{model: "llama3", window: "4096", rounds: "0"},
		{window: "4096"},
		{model: "llama3", window: "2500", tight: true},
		{model: "llama3", window: "1500", tight: true},
		{model: "llama3", window: "20"},
	} {
		env := map[string]string{"HARK_LLM_MODEL": tc.model, "HARK_LLM_WINDOW": tc.window,
			"HARK_BUILDER_MAX_TOKENS": tc.prompt, "HARK_ANSWER_TOOL_ROUNDS": tc.rounds}
		c, err := config.Load("", func(key string) (string, bool) { v := env[key]; return v, v != "" })
		if err != nil {
			t.Fatal(err)
		}
		tight := CheckTools(c, llm.LargerWindow(""))
		if (tight != nil) != tc.tight {
			t.Errorf("%+v: %v", tc, tight)
		}
		if tight == nil {
			continue
		}
		golden.Seen(t, tight.Error())
		said := regexp.MustCompile(`builder.max_tokens = (\d+)`).FindStringSubmatch(tight.Error())
		if said == nil {
			continue
		}
		c.Builder.MaxTokens, _ = strconv.Atoi(said[1])
		if err := CheckTools(c, llm.LargerWindow("")); err != nil {
			t.Errorf("%+v: as advised: %v", tc, err)
		}
	}
}

// The configuration can't see the builder's sections. Its page tells their limits as they are.
func TestSectionsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	all, page := builder.DefaultSections(builder.LayoutSections), strings.Join(strings.Fields(config.Reference()), " ")
	for section, limits := range all {
		want := fmt.Sprintf("%s: priority %d, floor %d, ceiling %d", section, limits.Priority, limits.Floor,
			limits.Ceiling)
		if section == builder.SectionSystem || section == builder.SectionQuery {
			want = fmt.Sprintf("ceiling %d", limits.Ceiling)
		}
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q", want)
		}
		if _, err := loadConfig("builder.sections." + string(section) + ".ceiling = 1"); err != nil {
			t.Error(err)
		}
	}
}

func TestSectionsAreSet(t *testing.T) {
	t.Parallel()
	c := config.Default().Builder
	c.Sections = config.Sections{"history": {Ceiling: new(900), Modes: "search,analysis search"},
		"lore": {Priority: new(9)}, "system_prompt": {Ceiling: new(500)}}
	got, err := Sections(c)
	want := builder.DefaultSections(builder.LayoutSections)
	want[builder.SectionHistory] = builder.Limits{Priority: 1, Floor: 300, Ceiling: 900,
		Modes: []builder.Mode{builder.ModeSearch, builder.ModeAnalysis}}
	want[builder.SectionLore] = builder.Limits{Priority: 9, Ceiling: 400}
	want[builder.SectionSystem] = builder.Limits{Ceiling: 500}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	c.Sections = config.Sections{"lore": {Modes: "dancing"}}
	_, err = Sections(c)
	golden.Seen(t, fmt.Sprint(err))
	c.Layout = "plain"
	c.Sections = config.Sections{"participants": {Floor: new(1)}}
	_, err = Sections(c)
	golden.Seen(t, fmt.Sprint(err))
}

// The configuration can't see the builder's labels. It has the same, and takes the same languages.
func TestLabelsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	page := config.Reference()
	for name := range labelFields() {
		if !strings.Contains(page, name) {
			t.Errorf("the page doesn't name the label %s", name)
		}
	}
	for _, language := range append(builder.Languages(), "zh_Hant", "DE") {
		if _, err := loadLabels(t, "builder.language", language); err != nil {
			t.Error(err)
		}
	}
	_, err := loadLabels(t, "builder.language", "tlh")
	for _, language := range builder.Languages() {
		if err == nil || !strings.Contains(err.Error(), `"`+language+`"`) {
			t.Errorf("%q isn't named by %v", language, err)
		}
	}
}

func loadLabels(t *testing.T, key, value string) (builder.Labels, error) {
	t.Helper()
	c, err := loadConfig(key + " = " + strconv.Quote(value))
	if err != nil {
		return builder.Labels{}, err
	}
	return Labels(c.Builder)
}

func TestEveryLabelCanBeNamed(t *testing.T) {
	t.Parallel()
	for key, field := range labelFields() {
		key = "builder.labels." + key
		want := builder.DefaultLabels()
		reflect.ValueOf(&want).Elem().FieldByName(field).SetString("Own %d ")
		if got, err := loadLabels(t, key, "Own %d "); err != nil || got != want {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
		reflect.ValueOf(&want).Elem().FieldByName(field).SetString("")
		got, err := loadLabels(t, key, "none")
		if err == nil && got != want {
			t.Errorf("%s = none: %+v", key, got)
		}
		if _, err = loadLabels(t, key, "a\nb"); err == nil || !strings.HasPrefix(err.Error(), key+" ") {
			t.Errorf("%s with a line break: %v", key, err)
		}
	}
	for _, mark := range []string{"high", "starred", "person", "last_active"} {
		if _, err := loadLabels(t, "builder.labels."+mark, "none"); err != nil {
			t.Error(err)
		}
	}
}

func loadConfig(text string) (config.Config, error) {
	return config.LoadText("config.toml", text, func(string) (string, bool) { return "", false })
}

// What is told of the room for a prompt is what a question's prompt has: tools count, where they are offered.
func TestToldRoomCountsTools(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		window, prompt, rounds int
		isLess                 bool
	}{
		{window: 8192, prompt: 4000, rounds: 3},
		{window: 8192, prompt: 7500, rounds: 3, isLess: true},
		{window: 8192, prompt: 7500},
		{window: 4500, prompt: 4000, rounds: 3, isLess: true},
		{window: 2000, prompt: 1700, rounds: 3}, // tools have no room, and aren't offered
	} {
		c := config.Default()
		c.LLM.Model = "llama3"
		c.LLM.Window = tc.window
		c.LLM.MaxTokens = 300
		c.Builder.MaxTokens = tc.prompt
		c.Answer.ToolRounds = tc.rounds
		alone := PromptTokens(c)
		told := QuestionTokens(c)
		tight := CheckWindow(c, "serve it")
		if told > alone || (told < alone) != tc.isLess || (tight != nil) != (told < tc.prompt) {
			t.Errorf("%+v: %d with tools, %d without, %v", tc, told, alone, tight)
		}
		if tight != nil && !strings.Contains(tight.Error(), fmt.Sprintf("prompts have %d at most; serve it", told)) {
			t.Error(tight)
		}
	}
}

// How to get a larger window is said in the words of the server that is asked.
func TestLargerWindowsAreNamed(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.LLM.Model = "llama3"
	c.LLM.Window = 60
	c.LLM.BaseURL = "http://localhost:11434/v1"
	_, err := NewBuilder(c)
	if err == nil || !strings.Contains(err.Error(), "(Ollama: OLLAMA_CONTEXT_LENGTH)") {
		t.Error(err)
	}
	for _, problem := range []error{CheckWindow(c, "use -c"), CheckTools(withWindow(c, 2500), "use -c")} {
		if problem == nil || !strings.Contains(problem.Error(), ": use -c, or ") {
			t.Error(problem)
		}
	}
}

func withWindow(c config.Config, window int) config.Config {
	c.LLM.Window = window
	return c
}
