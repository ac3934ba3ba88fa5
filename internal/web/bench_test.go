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
	const rooms, guild = 500, memory.GuildID(9_800_000) // with about as many roles as Discord allows
	big := memory.Guild{ID: guild, Name: "Big", Self: harkUser, Roles: []memory.Role{{ID: memory.RoleID(guild), Name: "@everyone",
		Permissions: memory.ViewChannel | memory.ReadMessageHistory}}}
	role := func(i int) memory.RoleID { return memory.RoleID(9_810_000 + i%249) }
	for i := range 249 {
		big.Roles = append(big.Roles, memory.Role{ID: role(i), Name: fmt.Sprint("role", i)})
	}
	for i := range rooms {
		c := memory.Channel{ID: memory.ChannelID(9_820_000 + i), Guild: guild, Name: fmt.Sprint("big-", i)}
		if i%2 == 1 {
			c.Overwrites = []memory.Overwrite{{Role: memory.RoleID(guild), Deny: memory.ViewChannel},
				{Role: role(i), Allow: memory.ViewChannel}, {Role: role(7 * i), Allow: memory.ViewChannel}}
		}
		big.Channels = append(big.Channels, c)
	}
	w.apply(memory.GuildSeen{At: w.last, Guild: big})
	patterns, at := w.visits(answer)
	at["big audience"] = fmt.Sprintf("/audience?guild=%d&place=9820001&source=9820003", guild)
	at["a room"], at["a room's middle"] = fmt.Sprintf("/memory/%d/9600001?q=boat7", garden), fmt.Sprintf("/memory/%d/9600001?at=%d",
		garden, memory.FirstMessageID(began.AddDate(1, 0, 0)))
	for _, pattern := range append(patterns, "a room", "a room's middle", "big audience") {
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
