package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"hark/memory"
)

// BenchmarkPages measures the server's time for each page of a memory with a million messages, of two years in a hundred
// channels: HARK_LONG=1 go test ./internal/web -run xxx -bench Pages. Without HARK_LONG it has 20,000.
func BenchmarkPages(b *testing.B) {
	const channels = 100
	messages := 20_000
	if os.Getenv("HARK_LONG") != "" {
		messages = 1_000_000
	}
	w := newWorld(b)
	answer := w.talk()
	began, step := time.Now().AddDate(-2, 0, 0), 2*365*24*time.Hour/time.Duration(messages)
	events := make([]memory.Event, 0, 2000)
	for c := range channels {
		events = append(events, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(9_600_000 + c), Guild: garden,
			Name: fmt.Sprintf("room-%d", c)}})
	}
	for i := range messages {
		events = append(events, memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(began.Add(time.Duration(i) * step)),
			Guild: garden, Channel: memory.ChannelID(9_600_000 + i/50%channels), Author: memory.UserID(9_700_000 + i%37),
			Content: fmt.Sprintf("message %d tells of boat%d, harbour%d and the tomatoes", i, i%977, i%1013)}})
		if len(events) == cap(events) || i == messages-1 {
			w.apply(events...)
			events = events[:0]
		}
	}
	patterns, at := w.visits(answer)
	at["a room"], at["a room's middle"] = fmt.Sprintf("/memory/%d/9600001?q=boat7", garden), fmt.Sprintf("/memory/%d/9600001?at=%d",
		garden, memory.FirstMessageID(began.AddDate(1, 0, 0)))
	for _, pattern := range append(patterns, "a room", "a room's middle") {
		b.Run(pattern, func(b *testing.B) {
			for range b.N {
				rw, r := httptest.NewRecorder(), httptest.NewRequest("GET", w.path("%s", at[pattern]), nil)
				w.site.access.begin(rw, time.Now())
				r.AddCookie(rw.Result().Cookies()[0])
				rw = httptest.NewRecorder()
				if w.site.ServeHTTP(rw, r); rw.Code != http.StatusOK {
					b.Fatal(rw.Code, rw.Body)
				}
			}
		})
	}
}
