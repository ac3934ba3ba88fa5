package answer

import (
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// The first message of a forum's post isn't shown twice while it is part of the session, or told of in its summary.
func TestPostsFirstMessageIsShownOnce(t *testing.T) {
	t.Parallel()
	w := condensing(t, &keeper{})
	id := memory.ChannelID(memory.FirstMessageID(noon.Add(-55*time.Minute))) + 31
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: id, Guild: guild, Parent: lobby,
		Kind: memory.PublicThread, Name: "post"}},
		memory.Posted{Message: memory.Message{ID: memory.MessageID(id), Guild: guild, Channel: id,
			Author: cleo, Content: "Shall we climb 8 hills?"}})
	w.engine.options.SessionGap = time.Hour
	q := w.asks(id, "So?")
	if p := w.prompt(q); strings.Count(p, "climb 8 hills") != 1 {
		t.Errorf("prompt\n%s", p)
	}
	w.apply(memory.Deleted{Guild: guild, Channel: id, IDs: []memory.MessageID{q.ID}})
	w.chats(id, 50)
	w.condensesNow(id)
	// what is told of in a summary is found still
	_, p, _ := strings.Cut(w.prompt(w.asks(id, "So?")), "=== CURRENT SESSION ===")
	if strings.Count(p, "climb 8 hills") != 1 ||
		!strings.Contains(p, condensedTitle+"\n  Cleo: Shall we climb 8 hills?") {
		t.Errorf("session\n%s", p)
	}
}
