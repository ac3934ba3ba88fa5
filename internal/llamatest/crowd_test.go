package llamatest_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/llamatest"
	"hark/internal/llm"
)

// ending is what became of a question.
type ending struct {
	reply chat.Reply
	err   error
}

// A server has fewer slots than members have questions: all are answered.
func TestLlamaMoreQuestionsThanSlots(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "2", "-c", "4096")
	c := client(s, nil)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			reply, err := ask(t, c)
			told(t, s, reply, err)
		})
	}
	all.Wait()
}

// Waiting for a slot is no failure: the time limit counts from the moment the server begins with a question.
func TestLlamaWaitingForASlotIsNoFailure(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "chatml", []llamatest.Script{answers, endless}, "-np", "1", "-c", "32768")
	c := client(s, func(c *llm.Config) {
		c.Timeout = time.Second
		c.MaxTokens = 3000 // which takes longer
		c.Retries = 0
	})
	s.Play(m, func(r llamatest.Request) string {
		if strings.Contains(r.Prompt(), "write a long story") {
			return "endless"
		}
		return "answer"
	})
	first := make(chan ending, 1)
	go func() {
		reply, err := c.Chat(t.Context(),
			chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "write a long story"}}}, nil)
		first <- ending{reply, err}
	}()
	s.Until(t, "the first answer", func(list []llamatest.Request) bool { return len(list) == 1 && list[0].Begun })
	reply, err := ask(t, c)
	told(t, s, reply, err)
	story := <-first
	if story.err != nil || story.reply.FinishReason != "length" {
		t.Errorf("the first ended by %q, %v", story.reply.FinishReason, story.err)
	}
}

// By default a server has four slots over one cache, tells each that it has all of it, and ends all answers when
// together they need more. Each of these questions fits, two don't.
func TestLlamaSharedCacheHoldsOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{endless}, "-c", "2048")
	c := client(s, func(c *llm.Config) { c.MaxTokens = 300 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			shown := ""
			reply, err := c.Chat(t.Context(), chat.Request{Messages: long(900)}, func(delta string) { shown += delta })
			if err != nil || reply.FinishReason != "length" || reply.CompletionTokens != 300 || shown != reply.Text {
				t.Errorf("got %.80q by %q, %v", reply.Text, reply.FinishReason, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.Log(sent(s))
	}
}

// useUp asks the server as another program, for an answer as long as the cache.
func useUp(t *testing.T, s *llamatest.Server) {
	resp, err := http.Post(s.URL()+"/chat/completions", "application/json",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"write a long story"}]}`))
	if err != nil {
		t.Errorf("%v\n%s", err, s.Log())
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // it may be cut off
}

// Somebody else may use the server. If they take the cache from an answer, that answer was cut off, or is asked for
// again if nobody has read a word of it; either way the server didn't fail, and the next question is answered.
func TestLlamaSharedCacheIsTakenByOthers(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "chatml", []llamatest.Script{endless, answers}, "-c", "2048")
	mine := client(s, func(c *llm.Config) { c.MaxTokens = 500 })
	for range 4 { // more often than a server may fail before it is left alone
		before := len(s.Requests())
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { useUp(t, s) })
		}
		s.Until(t, "the others", func(list []llamatest.Request) bool {
			return len(list) > before && list[before].Begun
		})
		reply, err := mine.Chat(t.Context(), chat.Request{Messages: long(900)}, func(string) {})
		if err != nil && llm.KindOf(err) != llm.Crowded {
			t.Errorf("got %.60q, %v", reply.Text, err)
		}
		all.Wait()
	}
	s.Play(m, func(llamatest.Request) string { return "answer" })
	reply, err := ask(t, mine)
	told(t, s, reply, err)
}
