package answer

import (
	"context"
	"testing"

	"hark/builder"
	"hark/internal/chat"
	"hark/memory"
)

// slow is a model that says what it is called once it may.
type slow struct {
	talker
	asked, may chan struct{}
}

func (s *slow) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	close(s.asked)
	<-s.may
	return s.talker.Chat(ctx, r, delta)
}

// What an engine is answering when another takes its place comes from the model that it was asked of; what comes after that
// from the other's; and all is counted together.
func TestRenewed(t *testing.T) {
	t.Parallel()
	was, now := &slow{talker{name: "old"}, make(chan struct{}), make(chan struct{})}, &talker{name: "new"}
	w := newWorld(t, was)
	before := w.over(w.store, was, builder.Options{}, Options{Persona: "You are old.", Condensing: &Condensing{}})
	w.says(day, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	came := make(chan Answer)
	go func() {
		a, err := before.Answer(t.Context(), q, nil)
		if err != nil {
			t.Error(err)
		}
		came <- a
	}()
	<-was.asked
	before.queue.put(Question{Channel: lobby, Now: q.Now})
	after := before.Renewed(before.builder, now, Options{Persona: "You are new."})
	a, err := after.Answer(t.Context(), q, nil)
	if err != nil || a.Text != "I am new" {
		t.Errorf("answered %q, %v", a.Text, err)
	}
	has(t, now.got[0].Messages[0].Content, "You are new.")
	close(was.may)
	if a := <-came; a.Text != "I am old" {
		t.Errorf("what was under way is %q", a.Text)
	}
	has(t, was.got[0].Messages[0].Content, "You are old.")
	if n := after.PromptUse().Prompts; n != 2 || before.PromptUse().Prompts != n {
		t.Errorf("counted %d prompts", n)
	}
	if _, waits := after.queue.waiting[memory.ChannelID(lobby)]; !waits {
		t.Error("what was to be condensed is lost")
	}
}
