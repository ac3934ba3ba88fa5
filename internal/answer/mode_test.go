package answer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/golden"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// modeRules is a line that each mode alone adds to the instructions.
var modeRules = func() map[builder.Mode]string {
	b, err := builder.New(builder.Options{}, tokenstest.For(""))
	if err != nil {
		panic(err)
	}
	instructions := func(m builder.Mode) string { return b.Build(builder.Input{Mode: m}).Messages[0].Content }
	rules := map[builder.Mode]string{}
	for _, m := range builder.Modes() {
		other := instructions(builder.ModeGeneral)
		if m == builder.ModeGeneral {
			other = instructions(builder.ModeSearch)
		}
		for line := range strings.Lines(instructions(m)) {
			if !strings.Contains(other, line) {
				rules[m] = line
				break
			}
		}
	}
	return rules
}()

func TestModeOfAnAnswer(t *testing.T) {
	t.Parallel()
	const den memory.ChannelID = 906 // a thread of the harbor
	mention := fmt.Sprintf("<@%d> ", oracle)
	type said struct {
		author memory.UserID
		text   string // "> text" replies to the one before
	}
	analysis := sets(den, memory.SettingMode, string(builder.ModeAnalysis))
	search := said{ann, mention + "who said the ferry leaves at nine?"}
	for _, tt := range []struct {
		name     string
		chosen   memory.Event
		before   []said
		question string
		asked    builder.Mode
		want     builder.Mode
		by       ModeBy
	}{
		{name: "by none", question: "hello there", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "with the mention left in", question: mention + "compare ferries with canoes",
			want: builder.ModeAnalysis, by: ModeQuestion},
		{name: "chosen for the channel", chosen: analysis, question: "Write a haiku",
			want: builder.ModeAnalysis, by: ModeChannel},
		{name: "asked for", chosen: analysis, question: "Write a haiku",
			asked: builder.ModeModification, want: builder.ModeModification, by: ModeAsked},
		{name: "going on", before: []said{search}, question: "and the other one?", want: builder.ModeSearch,
			by: ModeEarlier},
		{name: "going on by its first word", before: []said{search}, question: "and Cleo?",
			want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on from what goes on", before: []said{search, {oracle, "Ben [1]"}, {ben, "not me"},
			{ann, mention + "and the other one?"}},
			question: "and Cleo?", want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on from what is no question", before: []said{{ann, "@hark find the timetable"}},
			question: "and Cleo?", want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on from a reply", before: []said{{oracle, "Ask me"}, {ann, "> who said the ferry leaves at nine?"}},
			question: "and Cleo?", want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on in a mode of its own", before: []said{search}, question: "and a poem about it?",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "not going on", before: []said{search}, question: "are you well today?",
			want: builder.ModeGeneral, by: ModeQuestion},
		{name: "no question", before: []said{search}, question: "and thanks", want: builder.ModeGeneral,
			by: ModeQuestion},
		{name: "too long to go on", before: []said{search},
			question: "and are you well today, in spite of all the rain?", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from somebody else", before: []said{{ben, search.text}}, question: "and Cleo?",
			want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from what Hark wasn't asked", before: []said{{ann, "who said the ferry leaves at nine?"}},
			question: "and Cleo?", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from small talk", before: []said{search, {ann, mention + "are you well today?"}},
			question: "and Cleo?", want: builder.ModeGeneral, by: ModeQuestion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &scripted{pieces: []string{"I see."}})
			w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: den, Guild: guild, Parent: harbor,
				Kind: memory.PublicThread, Name: "den"}})
			if tt.chosen != nil {
				w.apply(tt.chosen)
			}
			var last memory.MessageID
			for i, s := range tt.before {
				ago := time.Duration(len(tt.before)-i) * time.Minute
				if text, is := strings.CutPrefix(s.text, mention); is {
					last = w.mentions(ago, den, s.author, text)
				} else if text, is := strings.CutPrefix(s.text, "> "); is {
					last = w.replies(ago, den, s.author, text, last)
				} else {
					last = w.says(ago, den, s.author, s.text)
				}
			}
			q := w.asks(den, tt.question)
			q.Mode = tt.asked
			r := w.recalled(q)
			if m := r.Mode; m.Is != tt.want || m.By != tt.by ||
				(m.Why != "") != (tt.want != builder.ModeGeneral && (tt.by == ModeQuestion || tt.by == ModeEarlier)) {
				t.Errorf("got %+v, want %s by %s", m, tt.want, tt.by)
			}
			for mode, rule := range modeRules {
				if got := strings.Contains(r.Prompt.Messages[0].Content, rule); got != (mode == tt.want) {
					t.Errorf("the rules of %s are there: %v", mode, got)
				}
			}
			if a := w.answer(q); a.Trace.Mode != string(tt.want) {
				t.Errorf("the trace says %q", a.Trace.Mode)
			}
			w.engine.model = nil
			if a := w.answer(q); a.Trace.Mode != "" {
				t.Errorf("the trace of an answer without a model says %q", a.Trace.Mode)
			}
		})
	}
}

// rewriter is a model that rewrites to text, and answers everything else with nothing much.
type rewriter struct {
	text  string
	err   error
	tasks []string
}

func (r *rewriter) Name() string { return "rewriter" }

func (r *rewriter) Chat(ctx context.Context, q chat.Request, delta func(string)) (chat.Reply, error) {
	if q.Messages[0].Content != rewriteTask {
		return chat.Reply{Text: "I see."}, nil
	}
	if _, bounded := ctx.Deadline(); !bounded {
		return chat.Reply{}, errors.New("without end")
	}
	r.tasks = append(r.tasks, q.Messages[1].Content)
	return chat.Reply{Text: r.text}, r.err
}

func TestModelRewritesWhatRefersBack(t *testing.T) {
	t.Parallel()
	const question = "What about the second one?"
	const better = "Where does the second bell hang?"
	for _, tt := range []struct {
		name     string
		off      bool
		silent   bool // nothing was said before
		question string
		model    rewriter
		want     string
		tasks    int
	}{
		{"as it should be", false, false, question, rewriter{text: " " + better + "\n"}, better, 1},
		{"switched off", true, false, question, rewriter{text: better}, question, 0},
		{"it says all itself", false, false, "Where do the church bells hang?", rewriter{text: better},
			"Where do the church bells hang?", 0},
		{"nothing was said before", false, true, question, rewriter{text: better}, question, 0},
		{"the model is away", false, false, question, rewriter{text: better, err: errors.New("away")}, question, 1},
		{"it says nothing", false, false, question, rewriter{text: " \n"}, question, 1},
		{"it says nothing to look for", false, false, question, rewriter{text: "What is it?"}, question, 1},
		{"it goes on and on", false, false, question, rewriter{text: strings.Repeat("bells ", 60)}, question, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.engine = w.over(w.store, &tt.model, builder.Options{Citations: true}, Options{Rewrite: !tt.off})
			spy := w.spied()
			if !tt.silent {
				w.says(20*time.Minute, lobby, ben, "too long ago to matter")
				for range rewriteTurns - 2 {
					w.says(3*time.Minute, lobby, ben, strings.Repeat("well ", 200))
				}
				w.says(2*time.Minute, lobby, ann, "where do\nthe bells hang?")
				w.says(time.Minute, lobby, ben, "The first hangs in the tower.")
			}
			a := w.answer(w.asks(lobby, tt.question))
			if a.Text != "I see." {
				t.Errorf("answered %q", a.Text)
			}
			for _, q := range spy.asked {
				if q.Text != tt.want {
					t.Errorf("searched for %q, want %q", q.Text, tt.want)
				}
			}
			if len(tt.model.tasks) != tt.tasks || len(spy.asked) == 0 {
				t.Fatalf("the model was asked %d times", len(tt.model.tasks))
			}
			if tt.tasks > 0 {
				task := tt.model.tasks[0]
				if strings.Contains(task, "too long ago") || len(task) > rewriteTurns*(rewriteRunes+110) {
					t.Errorf("the model was given %q", task)
				}
				if tt.name == "as it should be" {
					golden.Seen(t, rewriteTask+"\n\n"+regexp.MustCompile(`(well )+`).ReplaceAllString(task, "well … "))
				}
			}
		})
	}
}

// The usage of rewriting is reported without an answer, and with an error.
func TestRewritingIsNeverForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &rewriter{text: "Where does the second bell hang?"}
	w.says(2*time.Minute, lobby, ben, "The second bell hangs in the tower.")
	q := w.asks(lobby, "What about the second one?")
	w.engine = w.over(w.store, model, builder.Options{}, Options{Rewrite: true})
	r := w.recalled(q)
	if r.Usage.Calls != 1 || r.Usage.Prompt < 50 || r.Usage.Completion < 5 {
		t.Errorf("recalled with %+v", r.Usage)
	}
	q.NoModel = true
	if usage := w.recalled(q).Usage; usage != (Usage{}) {
		t.Errorf("without tokens: %+v", usage)
	}
	q.NoModel = false
	spy := w.spied()
	spy.n = 1
	again, err := w.engine.Recall(t.Context(), q)
	if !errors.Is(err, errDisk) || again.Usage != r.Usage {
		t.Errorf("recall failed with %+v, %v, want %+v", again.Usage, err, r.Usage)
	}
	spy.n = 1
	a, err := w.engine.Answer(t.Context(), q, nil)
	if !errors.Is(err, errDisk) || !errors.Is(err, ErrRecall) || a.Usage != r.Usage {
		t.Errorf("the answer failed with %+v, %v, want %+v", a.Usage, err, r.Usage)
	}
}
