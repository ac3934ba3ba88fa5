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
	"hark/search"
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
		text   string
	}
	chose := func(channel memory.ChannelID, mode string) memory.Event {
		return memory.SettingChosen{Guild: guild, Channel: channel, Key: memory.SettingMode, Value: mode, At: noon}
	}
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
		{name: "by its words", question: "Write a haiku about ferries", want: builder.ModeCreation, by: ModeQuestion},
		{name: "by none", question: "hello there", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "with the mention left in", question: mention + "compare ferries with canoes",
			want: builder.ModeAnalysis, by: ModeQuestion},
		{name: "chosen for the channel", chosen: chose(den, "analysis"), question: "Write a haiku",
			want: builder.ModeAnalysis, by: ModeChannel},
		{name: "chosen for the thread's channel", chosen: chose(harbor, "search"), question: "Write a haiku",
			want: builder.ModeSearch, by: ModeChannel},
		{name: "chosen for the server", chosen: chose(0, "search"), question: "Write a haiku",
			want: builder.ModeSearch, by: ModeChannel},
		{name: "chosen elsewhere", chosen: chose(lobby, "search"), question: "Write a haiku",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "chosen, but not known", chosen: chose(den, "divination"), question: "Write a haiku",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "asked for", chosen: chose(den, "analysis"), question: "Write a haiku",
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
		{name: "going on in a mode of its own", before: []said{search}, question: "and a poem about it?",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "not going on", before: []said{search}, question: "are you well today?",
			want: builder.ModeGeneral, by: ModeQuestion},
		{name: "no question", before: []said{search}, question: "and thanks", want: builder.ModeGeneral,
			by: ModeQuestion},
		{name: "too long to go on", before: []said{search},
			question: "and are you well today, in spite of all the rain?", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from somebody else",
			before: []said{{ben, mention +
				"who said the ferry leaves at nine?"}}, question: "and Cleo?", want: builder.ModeGeneral,
			by: ModeQuestion},
		{name: "going on from what Hark wasn't asked",
			before: []said{{ann, "who said the ferry leaves at nine?"}}, question: "and Cleo?", want: builder.ModeGeneral, by: ModeQuestion},
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
			for i, s := range tt.before {
				m := memory.Message{Guild: guild, Channel: den, Author: s.author, Content: s.text}
				if strings.HasPrefix(s.text, mention) {
					m.Mentions = []memory.UserID{oracle}
				}
				if s.author == oracle {
					m.Kind = memory.FromHark
				}
				w.posts(time.Duration(len(tt.before)-i)*time.Minute, m)
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

// What a question goes on from may be a reply.
func TestModeOfWhatAReplyGoesOnFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.says(3*time.Minute, lobby, oracle, "Ask me")
	w.posts(2*time.Minute, memory.Message{Guild: guild, Channel: lobby, Author: ann,
		Content: "who said the ferry leaves at nine?", ReplyTo: a})
	q := w.asks(lobby, "and Cleo?")
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil || r.Mode.Is != builder.ModeSearch || r.Mode.By != ModeEarlier {
		t.Errorf("got %+v, %v", r.Mode, err)
	}
}

// askedFor keeps what was searched for.
type askedFor struct {
	Searcher
	texts []string
	last  search.Query
}

func (a *askedFor) Search(ctx context.Context, q search.Query) (search.Result, error) {
	a.texts, a.last = append(a.texts, q.Text), q
	return a.Searcher.Search(ctx, q)
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
			searches := &askedFor{Searcher: w.engine.search}
			w.engine.search = searches
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
			for _, text := range searches.texts {
				if text != tt.want {
					t.Errorf("searched for %q, want %q", text, tt.want)
				}
			}
			if len(tt.model.tasks) != tt.tasks || len(searches.texts) == 0 {
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

// Without tokens the model is asked nothing, neither for the answer nor to rewrite the question.
func TestWithoutTokensTheModelIsntAsked(t *testing.T) {
	t.Parallel()
	model := &rewriter{text: "Where does the second bell hang?"}
	w := newWorld(t, nil)
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{Rewrite: true})
	w.says(2*time.Minute, lobby, ben, "The second bell hangs in the tower.")
	q := w.asks(lobby, "What about the second one, the bell that hangs?")
	if a := w.answer(q); a.Model != "rewriter" {
		t.Errorf("with them it is %+v", a)
	}
	asked := len(model.tasks)
	q.NoModel = true
	a := w.answer(q)
	has(t, a.Text, noTokens)
	hasNot(t, a.Text, noModel)
	if a.Model != "" || a.Trace.Model != "" || a.ModelError != nil || asked != 1 || len(model.tasks) != asked {
		t.Errorf("by %q, away %v, asked %d and then %d times to rewrite", a.Model, a.ModelError, asked, len(model.tasks))
	}
}

// What rewriting took is told where nothing is answered, and where nothing can be.
func TestRewritingIsNeverForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &rewriter{text: "Where does the second bell hang?"}
	w.says(2*time.Minute, lobby, ben, "The second bell hangs in the tower.")
	q := w.asks(lobby, "What about the second one?")
	w.engine = w.over(w.store, model, builder.Options{}, Options{Rewrite: true})
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil || r.Usage.Calls != 1 || r.Usage.Prompt < 50 || r.Usage.Completion < 5 {
		t.Errorf("recalled with %+v, %v", r.Usage, err)
	}
	q.NoModel = true
	if r, err := w.engine.Recall(t.Context(), q); err != nil || r.Usage != (Usage{}) {
		t.Errorf("without tokens: %+v, %v", r.Usage, err)
	}
	q.NoModel = false
	searches := &faultySearch{Searcher: w.engine.search, n: 1}
	w.engine.search = searches
	again, err := w.engine.Recall(t.Context(), q)
	if !errors.Is(err, errDisk) || again.Usage != r.Usage {
		t.Errorf("recall failed with %+v, %v, want %+v", again.Usage, err, r.Usage)
	}
	searches.n = 1
	a, err := w.engine.Answer(t.Context(), q, nil)
	if !errors.Is(err, errDisk) || !errors.Is(err, ErrRecall) || a.Usage != r.Usage {
		t.Errorf("the answer failed with %+v, %v, want %+v", a.Usage, err, r.Usage)
	}
}
