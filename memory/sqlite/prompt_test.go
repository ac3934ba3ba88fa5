package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

func promptOf(s *Store, channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, error) {
	all, err := s.Traces(bg, memory.TraceQuery{Channel: channel, Answer: answer, Prompts: true})
	if err == nil && (len(all) == 0 || all[0].Prompt == nil) {
		return memory.Prompt{}, memory.ErrNotFound
	}
	if err != nil {
		return memory.Prompt{}, err
	}
	return *all[0].Prompt, nil
}

func carryOutAll(t *testing.T, s *Store) {
	t.Helper()
	if _, err := sqlstore.FinishForgettings(bg, s.Store, nil); err != nil {
		t.Fatal(err)
	}
}

// Many prompts are deleted in steps, between which others write. A context that ends stops it.
func TestOldPromptsGoInSteps(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	const n = 403 // of which a step takes 200 at most, and fewer where time is short
	var events []memory.Event
	for i := range n {
		trace := memory.Trace{Guild: guild, Channel: general, Answer: id(2*i + 1), Question: id(2 * i),
			Sources: from(general, 2*i), Asker: 1, Prompt: &memory.Prompt{Built: idAt(i)}}
		events = append(events, posted(general, 2*i, "a question"), memory.Answered{Trace: trace})
	}
	apply(t, s, events...)
	steps := s.engine.writer.removals
	must(t, s.Expire(bg, memory.Expiry{Prompts: idAt(n - 1)}))
	if steps = s.engine.writer.removals - steps; steps < 3 {
		t.Errorf("in %d steps", steps)
	}
	if _, err := promptOf(s, general, id(2*n-1)); err != nil {
		t.Errorf("the newest: %v", err)
	}
	ended, end := context.WithCancel(bg)
	end()
	if err := s.Expire(ended, memory.Expiry{Prompts: idAt(n)}); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is told to end: %v", err)
	}
	traces, err := s.Traces(bg, memory.TraceQuery{Limit: 3})
	if err != nil || len(traces) != 3 || traces[0].Answer != id(2*n-1) || traces[2].Answer != id(2*n-5) {
		t.Errorf("the last are %v, %v", traces, err)
	}
}

// Deleting prompts reports a reader that keeps their text in the write-ahead log.
func TestOldPromptsBesideAReaderThatStays(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	filled := openOnce(t, dir)
	apply(t, filled, prompting()...)
	closed(t, filled)
	s, err := quick(t, dir)
	must(t, err)
	reading(t, s)
	wantError(t, s.Expire(bg, memory.Expiry{Prompts: idAt(9999)}))
}

// A trace doesn't include its prompt. Deleting a prompt counts as removing text, so its copies are zeroed;
// finding none doesn't.
func TestPromptsAreApartFromTraces(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, prompting()...)
	trace, err := memory.TraceOf(bg, s, general, id(20))
	must(t, err)
	var body string
	if err := s.engine.read.QueryRow("SELECT group_concat(body) FROM trace").Scan(&body); err != nil ||
		strings.Contains(body+fmt.Sprint(trace), canary) {
		t.Errorf("%v, %v", body, err)
	}
	for _, want := range []bool{true, false} {
		removals := s.engine.writer.removals
		must(t, s.Expire(bg, memory.Expiry{Prompts: idAt(9999)}))
		if told := s.engine.writer.removals > removals; told != want {
			t.Errorf("text was taken away: %t, want %t", told, want)
		}
	}
}
