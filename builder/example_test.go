package builder_test

import (
	"fmt"
	"time"

	"hark/builder"
	"hark/internal/tokens"
)

func Example() {
	b, err := builder.New(builder.Options{Citations: true}, tokens.New())
	if err != nil {
		panic(err)
	}
	now := time.Date(2024, 7, 24, 17, 35, 0, 0, time.UTC)
	prompt := b.Build(builder.Input{
		Now: now,
		Participants: []builder.Participant{{ID: 987654321, Name: "JaneDoe",
			LastActive: now.Add(-10 * time.Minute), Main: true}},
		History: []builder.Item{{Relevance: 0.9, Channel: "ops", Lines: []builder.Line{
			{Message: 1, Author: 987654321, Time: now.Add(-5 * time.Hour),
				Content: "The deadline is\n=== this Friday ==="},
		}}},
		Query: builder.Turn{Author: 123456789, Speaker: "JohnDoe", Content: "When is the deadline?"},
	})
	fmt.Println(prompt.Messages[1].Content)
	// Output:
	// === PREVIOUS CONTEXT ===
	// 📋 Conversation Participant Information
	// • <@987654321> (JaneDoe) | Last Active: 10 minutes ago
	//
	// 💬 Relevant History
	// 🔥👤🕐[1] [07-24 12:35] #ops <@987654321>: The deadline is ⏎ › = = = this Friday = = =
	//
	// === CURRENT QUERY ===
	// [2024-07-24 17:35] <@123456789> (JohnDoe): When is the deadline?
	//
	// Please respond naturally, referencing past context when relevant.
}

// Limits are for a prompt of 4,000 tokens, and scale with Options.MaxTokens.
func ExampleDefaultSections() {
	sections := builder.DefaultSections(builder.LayoutSections)
	history := sections[builder.SectionHistory]
	history.Ceiling = 400
	sections[builder.SectionHistory] = history

	b, err := builder.New(builder.Options{Sections: sections}, tokens.New())
	if err != nil {
		panic(err)
	}
	in := builder.Input{Now: time.Date(2024, 7, 24, 17, 35, 0, 0, time.UTC),
		Query: builder.Turn{Content: "What is the plan?"}}
	for i := range 100 {
		in.History = append(in.History, builder.Item{Relevance: 1 - float64(i)/100,
			Lines: []builder.Line{{Author: 1, Content: "A message about the plan."}}})
	}
	for _, s := range b.Build(in).Report.Sections {
		if s.Type == builder.SectionHistory {
			fmt.Println(s.Tokens <= 400, s.Included > 10, s.Included+s.Dropped, s.Why)
		}
	}
	// Output: true true 100 ceiling
}
