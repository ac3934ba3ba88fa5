package reply

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/bot/ingest"
	"hark/memory"
)

// life plays what becomes of question 1, which is asked in the thread 20 of channel 2 in guild 3, and of
// whoever answers it.
type life struct {
	*Tracker
	answering context.Context
}

// does plays a step and tells what comes of it.
func (l *life) does(step string) string {
	verb, text, _ := strings.Cut(step, " ")
	a := &ingest.Question{ID: 1, Guild: 3, Channel: 20, Parent: 2, Asker: 4, Text: text, Reasked: verb != "ask",
		Withdrawn: verb == "nevermind", Brief: verb == "briefly"}
	ids := func() (ids []memory.MessageID) {
		for _, word := range strings.Fields(text) {
			n, _ := strconv.Atoi(word)
			ids = append(ids, memory.MessageID(n))
		}
		return ids
	}
	see := func(s ingest.Subject) string {
		l.See([]ingest.Subject{s})
		return ""
	}
	because := func(err error) string {
		return map[error]string{nil: "", errChanged: "anew", errWithdrawn: "unasked", errHalted: "halted"}[err]
	}
	switch verb {
	case "ask", "edit", "briefly", "nevermind", "muted":
		if got := l.update(a, verb == "muted"); got != nil {
			return "answer " + got.Text
		}
		return ""
	case "press":
		return strconv.FormatBool(l.Again(a, []memory.MessageID{10}, []memory.MessageID{11}))
	case "begin":
		ctx, got := l.begin(context.Background(), 1)
		if got == nil {
			return "gone"
		}
		l.answering = ctx
		return strings.TrimSpace(got.Text + " " + fmt.Sprint(append(got.Shown, got.More...)))
	case "end", "log":
		shown := ids()
		return because(l.finish(1, shown[:1], shown[1:], verb == "log"))
	case "cause":
		return because(context.Cause(l.answering))
	case "refuse":
		l.Refuse(1)
	case "stop":
		return strconv.FormatBool(l.Stop(1))
	case "unask":
		return strconv.FormatBool(l.Withdraw(1))
	case "clear":
		return fmt.Sprint(l.clear(1))
	case "delete":
		return see(ingest.Subject{Guild: 3, Channel: 20, Deleted: ids()})
	case "leave":
		return see(ingest.Subject{Guild: 3, Ended: true})
	case "close":
		return see(ingest.Subject{Guild: 3, Channel: memory.ChannelID(ids()[0]), Ended: true})
	case "remove": // what is to be taken back in Discord
		own, _ := l.unloggedRemovals()
		slices.SortFunc(own, func(a, b memory.MessageRef) int { return int(a.Message - b.Message) })
		return fmt.Sprint(own)
	}
	return ""
}

func TestTrackerFollowsItsQuestions(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]string{
		"told twice": {"ask when: answer when", "ask when", "begin: when []", "ask when",
			"log 10", "ask when"},
		"edited while it waits": {"ask whn: answer whn", "edit when", "briefly when?",
			"begin: when? []", "log 10", "begin: gone"},
		"edited while it is answered": {"ask whn: answer whn", "begin: whn []", "edit when", "cause: anew",
			"log 10: anew", "begin: when [10]", "log 10", "cause"},
		"edited after that": {"ask whn: answer whn", "begin: whn []", "log 10 11",
			"edit when: answer when", "begin: when [10 11]"},
		"edited to the same": {"ask when: answer when", "edit when", "begin: when []",
			"briefly when", "cause", "log 10", "edit when", "begin: gone"},
		"stopped and edited": {"ask whn: answer whn", "stop: false", "begin: whn []", "stop: true",
			"edit when", "cause: halted", "log 10: anew", "stop: true"},
		"asked by an edit":         {"briefly when", "edit when: answer when", "begin: when []"},
		"nobody is answered there": {"muted when", "ask when", "edit when?: answer when?"},
		"the mention is taken away": {"ask when: answer when", "begin: when []", "nevermind",
			"cause: unasked", "log 10: unasked", "begin: gone", "clear: [10]", "edit when: answer when", "begin: when []"},
		"and of one that waits": {"nevermind", "ask when: answer when", "nevermind", "edit when",
			"begin: gone", "clear: []", "nevermind", "edit when: answer when"},
		"deleted while it waits": {"ask when: answer when", "delete 1", "begin: gone", "clear: []"},
		"deleted while it is answered": {"ask when: answer when", "begin: when []", "delete 1",
			"cause: unasked", "log 10: unasked", "begin: gone", "clear: [10]", "remove: []"},
		"deleted when that is logged": {"ask when: answer when", "begin: when []", "log 10", "delete 1",
			"remove: []", "ask when"},
		"and when it isn't": {"ask when: answer when", "begin: when []", "end 10 11", "delete 1",
			"remove: [{20 10} {20 11}]", "ask when"},
		"its answer is deleted": {"ask whn: answer whn", "begin: whn []", "log 10 11 12",
			"delete 10 12", "edit when: answer when", "begin: when [11]"},
		"by its button": {"ask when: answer when", "begin: when []", "log 10", "unask: false",
			"edit when", "edit where: answer where", "begin: where []"},
		"while it is written": {"ask when: answer when", "begin: when []", "unask: true",
			"cause: unasked", "log 10: unasked", "clear: [10]", "edit when"},
		"refused": {"refuse", "ask when: answer when", "refuse", "ask when",
			"edit when: answer when", "begin: when []"},
		"refused with an answer": {"ask whn: answer whn", "begin: whn []", "end 10 11",
			"edit when: answer when", "refuse", "edit when", "edit where: answer where", "begin: where [10 11]"},
		"deleted before it is refused": {"ask whn: answer whn", "begin: whn []", "end 10",
			"edit when: answer when", "delete 1", "remove: []", "refuse", "remove: [{20 10}]"},
		"asked again": {"press when: true", "press when: false", "begin: when [10 11]",
			"press when: false", "log 10", "press when: true"},
		"asked again and refused": {"ask when: answer when", "begin: when []", "end 9", "press when: true",
			"refuse", "delete 1", "remove: [{20 10} {20 11}]"},
		"the thread is deleted":      {"ask when: answer when", "begin: when []", "close 20", "cause: unasked"},
		"the channel is deleted":     {"ask when: answer when", "begin: when []", "close 2", "cause: unasked"},
		"another channel is deleted": {"ask when: answer when", "begin: when []", "close 21", "cause"},
		"the guild is left": {"ask when: answer when", "begin: when []", "log 10", "leave",
			"remove: []", "begin: gone", "ask when"},
	} {
		l := &life{Tracker: New(Options{Options: &ingest.Options{}, Since: time.UnixMilli(0)}).questions}
		for i, line := range script {
			step, want, _ := strings.Cut(line, ": ")
			if got := l.does(step); got != want {
				t.Errorf("%s, step %d, %s: %q, want %q", name, i, step, got, want)
			}
		}
		if q := l.lookup(1); q.state == finished && q.current.Text != "" {
			t.Errorf("%s: its text is kept", name)
		}
	}
	before := &life{Tracker: New(Options{Options: &ingest.Options{}, Since: time.Date(2026, 7, 1, 12, 0, 0, 0,
		time.UTC)}).questions}
	if got := before.does("edit when"); got != "" {
		t.Errorf("what was said before Hark listened, and may have been answered: %q", got)
	}
}

func TestManyQuestions(t *testing.T) {
	t.Parallel()
	q := New(Options{Options: &ingest.Options{}, Since: time.UnixMilli(0)}).questions
	for i := range 2*minKnownQuestions + 1 {
		a := &ingest.Question{ID: memory.MessageID(i + 1), Text: "when?"}
		q.update(a, false)
		q.begin(t.Context(), a.ID)
		if i > 0 {
			_ = q.finish(a.ID, []memory.MessageID{1}, nil, true)
		}
	}
	if n := len(q.known); n != minKnownQuestions+2 || !q.isOpen(1) || q.known[2] != nil {
		t.Errorf("%d are known, want the newer ones and the one that is being answered", n)
	}
}
