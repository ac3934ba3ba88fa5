package web

import (
	"net/http"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/memory"
)

// The page of an answer and the list of answers say how it came about, whatever the outcome. Quotes are cited.
func TestPagesSayHowAnAnswerCameAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle()
	in := w.client()
	asks := func(text string, noModel bool) (page, row string) {
		t.Helper()
		question := w.say(general, ana, 1e9, "<@"+harkUser.String()+"> "+text)
		a, err := w.app.Answers.Answer(t.Context(), answer.Question{ID: question, Guild: garden, Channel: general, Asker: ana,
			Text: text, Now: w.last, NoModel: noModel}, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.last = w.last.Add(1e9)
		w.ids++
		a.Trace.Answer = memory.FirstMessageID(w.last) + w.ids
		w.apply(memory.Posted{Message: memory.Message{ID: a.Trace.Answer, Guild: garden, Channel: general, Author: harkUser,
			Kind: memory.FromHark, Content: a.Text}}, memory.Answered{Trace: a.Trace})
		page = w.get(in, http.StatusOK, "/answers/%d/%d", general, a.Trace.Answer)
		list := w.get(in, http.StatusOK, "/answers")
		return page, w.words(list, "<tbody>", "</tr>")
	}
	check := func(what, page, row, wantPage, wantRow string) {
		t.Helper()
		has(t, what, w.words(page, "<h2>How it came about</h2>", "It took"), wantPage)
		has(t, what, row, wantRow)
	}
	page, row := asks("who waters the zeppelin?", true)
	check("nothing", page, row,
		"No model wrote it: no tokens were left for the model. It quotes nothing: the search found nothing.",
		"nothing quoted nothing found")
	w.say(planning, tom, 1e12, "The deadline of the **migration** is Friday")
	w.last = w.last.Add(1e13)
	page, row = asks("what is the deadline of the migration?", true)
	check("quotes", page, row, "No model wrote it: no tokens were left for the model. It quotes 1 message.", "quoted")
	has(t, "quotes", w.words(page, "<h2>Recalled</h2>", "</ol>"), "cited")
	above, _, _ := strings.Cut(page, "<h2>How it came about</h2>")
	has(t, "quotes", above, "<blockquote>")
	if strings.Contains(above, "**") || strings.Contains(above, "&gt; The") {
		t.Errorf("quotes show Markdown's source:\n%s", above)
	}
	w.last = w.last.Add(1e13)
	page, row = asks("thanks!", true)
	check("small talk", page, row, "It quotes nothing: the question asks for nothing that could have been said here.",
		"nothing quoted small talk")
	w.last = w.last.Add(1e13)
	page, row = asks("what did the zeppelin captain order for lunch?", true)
	check("declined", page, row, "It quotes nothing: what the search found says too little about the question.",
		"nothing quoted little found")
	w.last = w.last.Add(1e13)
	page, row = asks("which violin did grandmother Petrova buy?", false)
	check("a model", page, row, "Written by the model test-model", "little found")
	has(t, "a model", w.words(page, "<h2>How it came about</h2>", "It took"), "the model was shown only the best of it.")
}

func has(t *testing.T, what, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s: %q isn't in %q", what, want, text)
	}
}
