package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

func TestTraceCountsWhatWasHeldBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		asked memory.ChannelID
		asker memory.UserID
		only  bool
		said  map[memory.ChannelID]int
		want  int
	}{
		{"nothing is closed that matters", lobby, ann, false, map[memory.ChannelID]int{lobby: 2, harbor: 1}, 0},
		{"some is", lobby, ann, false, map[memory.ChannelID]int{lobby: 1, vault: 3}, 3},
		{"without a readable past", lobby, ann, false, map[memory.ChannelID]int{vault: 1, kiosk: 2}, 3},
		{"direct messages don't count", lobby, ann, false, map[memory.ChannelID]int{annsDM: 1, bensDM: 1}, 0},
		{"the one who asks may read it", lobby, cleo, true, map[memory.ChannelID]int{vault: 3}, 0},
		{"everybody there may read it", vault, cleo, false, map[memory.ChannelID]int{vault: 1, lobby: 2}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, model := range []Model{nil, &scripted{pieces: []string{"So it is."}}} {
				w := newWorld(t, model)
				for channel, n := range tt.said {
					for i := range n {
						w.says(time.Duration(i+1)*day, channel, ben,
							fmt.Sprintf("The lighthouse password is %s%d", []string{"tuna", "cod", "eel"}[i], channel))
					}
				}
				q := w.asks(tt.asked, "What is the lighthouse password?")
				q.OnlyAsker, q.Asker = tt.only, tt.asker
				if tt.asker == cleo {
					q.Roles = []memory.RoleID{keepers}
				}
				if got := w.answer(q).Trace.HeldBack; got != tt.want {
					t.Errorf("%d were held back, want %d", got, tt.want)
				}
			}
		})
	}
}

func TestFollowUpRecallsWhatItRefersTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	bell := w.says(20*day, harbor, ben, "the bells: the first hangs in the tower, the second lies in the barn")
	for i, s := range []string{"the second boat is mine", "a second helping of soup", "the second lamp is broken"} {
		w.says(time.Duration(10+i)*day, harbor, cleo, s)
	}
	w.says(2*time.Minute, lobby, ann, "where do the bells hang?")
	w.says(time.Minute, lobby, oracle, "The first hangs in the tower.")
	q := w.asks(lobby, "What about the second one?")
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil || len(r.Result.Hits) == 0 || r.Result.Hits[0].Message.ID != bell {
		t.Errorf("recalled %+v, %v", r.Result.Hits, err)
	}
	if text := w.answer(q).Text; strings.Count(text, "lies in the barn") != 1 {
		t.Errorf("quoted %s", text)
	}
}
