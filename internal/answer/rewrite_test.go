package answer

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/golden"
	"hark/search"
)

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
	if a.Model != "" || a.Trace.Model != "" || a.Away != nil || asked != 1 || len(model.tasks) != asked {
		t.Errorf("by %q, away %v, asked %d and then %d times to rewrite", a.Model, a.Away, asked, len(model.tasks))
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
