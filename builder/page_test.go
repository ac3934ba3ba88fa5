package builder

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
)

// pageInput has everything that a prompt can show.
func pageInput() Input {
	at := func(day, hour, minute int) time.Time { return time.Date(2024, 7, day, hour, minute, 0, 0, time.UTC) }
	return Input{
		Now: at(24, 17, 35), Mode: ModeSearch, Tools: []string{"search_memory"},
		Participants: []Participant{
			{ID: 21, Name: "Ann", LastActive: at(24, 17, 34), Data: "also called Annie; sails every summer", Main: true},
			{ID: 22, Name: "Ben", LastActive: at(24, 12, 35), Data: "runs the servers (said by Cleo)"},
		},
		PreviousContext: []Earlier{
			{Text: "They chose the hut at the lake, and Ben said that he books it.", Time: at(20, 21, 5)}},
		History: []Item{
			{Relevance: 0.93, Hit: 1, Lines: []Line{
				{Message: 1, Author: 21, Name: "Ann", Time: at(22, 12, 29),
					Content: "sound doesn't work since the update, anybody else?"},
				{Message: 2, Author: 22, Name: "Ben", Time: at(22, 12, 30),
					Content: "same here. restart the audio service, then it works until Friday's fix"},
				{Message: 3, Author: 21, Name: "Ann", Time: at(23, 9, 2), Content: "that did it, thanks!", ReplyTo: "Ben"},
			}},
			{Relevance: 0.66, Channel: "ops", Lines: []Line{
				{Message: 4, Author: 23, Name: "Cleo", Time: at(24, 10, 15),
					Content: "The audio fix is in tonight's release.", Starred: true},
			}},
		},
		Lore:      []string{"Lakeside: what we call the weekend at the hut"},
		Condensed: "Ann set the budget at 480 for everybody.",
		Session: []Turn{
			{Speaker: "Ann", Author: 21, Time: at(24, 17, 31), Content: "@Hark who books the hut?"},
			{Speaker: "Hark", Role: RoleAssistant, Time: at(24, 17, 31), Content: "Ben does."},
			{Speaker: "Ben", Author: 22, Time: at(24, 17, 33), Content: "done already\nit's ours from the 14th on",
				ReplyTo: "Hark"},
		},
		Replied: Replied{Name: "Ben", Text: "The update is out. Tell me whether you hear it in <#77> (#lounge)"},
		Query:   Turn{Speaker: "Ann", Author: 21, Content: "@Hark my sound is gone again, what was the fix?"},
	}
}

// docs/prompts.md shows one input in each layout; -update writes it.
func TestPromptsPage(t *testing.T) {
	t.Parallel()
	const page = "../docs/prompts.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	examples := regexp.MustCompile("(?s)<!-- \\w+ -->\n```text\n.*?\n```\n")
	got := examples.ReplaceAllStringFunc(string(text), func(block string) string {
		layout := Layout(strings.Fields(block)[1])
		shown++
		p := newBuilder(t, Options{Layout: layout, Citations: layout != LayoutPlain}).Build(pageInput())
		holds(t, Options{Layout: layout}, p)
		return "<!-- " + string(layout) + " -->\n```text\n" + p.String() + "\n```\n"
	})
	if shown != 3 {
		t.Errorf("%d layouts are shown", shown)
	}
	golden.File(t, page, got)
}

// The instructions get unused room, unless their ceiling was set.
func TestInstructionsTakeWhatIsLeft(t *testing.T) {
	t.Parallel()
	in := Input{Now: noon, Mode: ModeCreation, Persona: strings.Repeat("Speak plainly. ", 300),
		Query: Turn{Content: "what?"}}
	free := newBuilder(t, Options{}).Build(in).Report.section(SectionSystem)
	if free.Cut != 0 || free.Tokens <= 1000 {
		t.Errorf("with room left the instructions are %+v", free)
	}
	few := Options{Sections: map[SectionType]Limits{SectionSystem: {Ceiling: 800}}}
	if set := newBuilder(t, few).Build(in).Report.section(SectionSystem); set.Cut != 1 || set.Tokens > 810 {
		t.Errorf("with a ceiling of 800 they are %+v", set)
	}
}

// The plain layout's summaries, excerpts and lore have 300 tokens together, and its exchanges are whole.
func TestPlainLayoutIsShort(t *testing.T) {
	t.Parallel()
	in := crowd()
	in.Query.Speaker = "Dan"
	for i := range in.Session {
		in.Session[i].Author, in.Session[i].Speaker = in.Query.Author, "Dan"
		if i%2 == 1 {
			in.Session[i].Role = RoleAssistant
		}
	}
	for _, mode := range Modes() {
		in.Mode = mode
		p := newBuilder(t, Options{Layout: LayoutPlain}).Build(in)
		recalled := 0
		for _, s := range []SectionType{SectionHistory, SectionPreviousContext, SectionLore} {
			recalled += p.Report.section(s).Tokens
		}
		held := items(p)
		if recalled > plainRecalled || held[SectionHistory] == 0 || held[SectionPreviousContext] == 0 {
			t.Errorf("%d tokens of what was recalled: %+v", recalled, p.Report)
		}
		for _, i := range p.Turns {
			if answered := i%2 == 0 && i+1 < len(in.Session); answered && !slices.Contains(p.Turns, i+1) {
				t.Errorf("turn %d is there without its answer: %v", i, p.Turns)
			}
		}
		if len(p.Turns) == 0 || strings.Contains(p.String(), "<@") {
			t.Errorf("turns %v in\n%s", p.Turns, p)
		}
	}
}

// Whoever has a name that another has too, or one of the prompt's own, is told by their tag.
func TestNamesakesHaveTags(t *testing.T) {
	t.Parallel()
	in := pageInput()
	in.Participants[1].Name, in.Participants[0].Name = "Annie", "Αnnie" // the second begins with an alpha
	in.History[1].Lines[0].Name = "Assistant"
	text := newBuilder(t, Options{Layout: LayoutPlain}).Build(in).String()
	for _, tag := range []string{"<@21> (Αnnie): ", "<@22> (Annie): ", "<@23> (Assistant): "} {
		if !strings.Contains(text, tag) {
			t.Errorf("no %q in\n%s", tag, text)
		}
	}
}
