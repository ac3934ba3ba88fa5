package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"hark/builder"
	"hark/memory"
)

// What a stock context has of each kind.
const (
	stockTurns     = 30
	stockPeople    = 10
	stockHistory   = 60
	stockLore      = 10
	stockSummaries = 10
)

// stockWords are what the stock context is made of.
var stockWords = strings.Fields(
	"the ferry leaves at nine from pier four but only on weekdays so somebody should ask ann whether tickets are " +
		"still there before we book rooms for everybody because last year it was full by easter and nobody wants that again")

// stock returns a context of a busy channel: always the same, with more of everything than the usual budget
// has room for.
func stock() builder.Input {
	draw := rand.New(rand.NewPCG(5, 2024))
	now := time.Date(2024, 6, 15, 18, 0, 0, 0, time.UTC)
	text := func(least, most int) string {
		words := make([]string, least+draw.IntN(most-least+1))
		for i := range words {
			words[i] = stockWords[draw.IntN(len(stockWords))]
		}
		return strings.Join(words, " ")
	}
	who := func() memory.UserID { return memory.UserID(1 + draw.IntN(stockPeople)) }
	name := func(id memory.UserID) string { return fmt.Sprintf("Member %d", id) }
	in := builder.Input{Now: now, Query: builder.Turn{
		Speaker: name(1),
		Role:    builder.RoleUser,
		Author:  1,
		Time:    now,
	}}
	for i := range stockTurns {
		id := who()
		turn := builder.Turn{
			Speaker: name(id),
			Role:    builder.RoleUser,
			Author:  id,
			Time:    now.Add(time.Duration(i-stockTurns) * time.Minute),
			Content: text(2, 24),
		}
		if i%6 == 5 {
			turn.Speaker = "Hark"
			turn.Role = builder.RoleAssistant
			turn.Author = 99
		}
		in.Session = append(in.Session, turn)
	}
	for id := range memory.UserID(stockPeople) {
		in.Participants = append(in.Participants, builder.Participant{
			ID:         id + 1,
			Name:       name(id + 1),
			LastActive: now.Add(-time.Duration(id) * time.Hour),
			Data:       text(4, 16),
			Main:       id == 0,
		})
	}
	for i := range stockHistory {
		item := builder.Item{Relevance: 0.95 - float64(i)/70, Hit: 1}
		for j := range 3 {
			at := now.Add(-time.Duration(24*(i+2))*time.Hour + time.Duration(j)*time.Minute)
			item.Lines = append(item.Lines, builder.Line{
				Message: memory.FirstMessageID(at) + memory.MessageID(i),
				Author:  who(),
				Time:    at,
				Content: text(2, 24),
			})
		}
		in.History = append(in.History, item)
	}
	for i := range stockLore {
		in.Lore = append(in.Lore, fmt.Sprintf("Project %d: %s", i+1, text(6, 24)))
	}
	for range stockSummaries {
		in.PreviousContext = append(in.PreviousContext, builder.Earlier{Text: text(20, 60)})
	}
	return in
}
