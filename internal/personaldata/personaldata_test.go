package personaldata

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"hark/memory"
)

// many is a store with a lot about everybody.
type many struct {
	messages, questions, records, summaries int
}

func (m many) People(context.Context, memory.GuildID, ...memory.UserID) ([]memory.Person, error) {
	return []memory.Person{{ID: 3}}, nil
}
func (m many) Member(context.Context, memory.GuildID, memory.UserID) (memory.Member, error) {
	return memory.Member{}, nil
}
func (m many) Lore(context.Context, memory.GuildID) ([]memory.Lore, error) { return nil, nil }
func (m many) Condensed(context.Context, memory.ChannelID) ([]memory.Condensed, error) {
	return nil, nil
}
func (m many) Forgettings(context.Context, memory.GuildID, memory.UserID) ([]memory.DeletionReport, error) {
	return nil, nil
}
func (m many) Spending(context.Context, memory.GuildID, time.Time) (map[memory.UserID]int, error) {
	return nil, nil
}

func (m many) Summaries(context.Context, memory.ChannelID) ([]memory.Summary, error) {
	s := memory.Summary{Guild: 1, Channel: 2, Text: "brief", Sources: []memory.SummarySource{{Message: 1 << 60}}}
	all := make([]memory.Summary, m.summaries)
	for i := range all {
		all[i] = s
	}
	return all, nil
}

func (m many) Around(_ context.Context, _ memory.ChannelID, ids []memory.MessageID,
	_, _ int) (all []memory.Message, err error) {
	for _, id := range ids {
		all = append(all, memory.Message{ID: id, Author: 3})
	}
	return all, nil
}

func (m many) Records(context.Context, memory.RecordQuery) ([]memory.Record, error) {
	return make([]memory.Record, m.records), nil
}

func (m many) MessagesBy(_ context.Context, _ memory.GuildID, _ memory.UserID, each func(memory.Message) error) error {
	for i := range m.messages {
		if err := each(memory.Message{ID: 1<<60 + memory.MessageID(i), Guild: 1, Channel: 2, Author: 3,
			Content: "ok"}); err != nil {
			return err
		}
	}
	return nil
}

func (m many) Traces(context.Context, memory.TraceQuery) ([]memory.Trace, error) {
	all := make([]memory.Trace, m.questions)
	for i := range all {
		all[i] = memory.Trace{Guild: 1, Channel: 2, Question: 1 << 60, Answer: 1<<60 + memory.MessageID(i)}
	}
	return all, nil
}

// Whatever there is much of, and however short each is, no more is made of it than there is room for.
func TestSizeIsThatOfTheJSON(t *testing.T) {
	t.Parallel()
	v := View{
		Guilds: []*memory.Guild{{ID: 1, Channels: []memory.Channel{{ID: 2}}}}, Now: time.Unix(0, 0),
		Guild: func(*memory.Guild) string { return "Garden" }, Channel: func(*memory.Guild,
			memory.ChannelID) string {
			return "general"
		},
	}
	for name, m := range map[string]many{
		"messages": {messages: 300}, "questions": {questions: 300}, "records": {records: 300}, "summaries": {messages: 1, summaries: 300},
	} {
		v.Most = 0
		p, err := Of(t.Context(), m, 3, v)
		var all bytes.Buffer
		if err := errors.Join(err, p.Write(&all)); err != nil {
			t.Fatal(err)
		}
		v.Most = all.Len() * 9 / 10
		if _, err := Of(t.Context(), m, 3, v); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %d bytes with room for %d: %v", name, all.Len(), v.Most, err)
		}
		v.Most = all.Len() * 11 / 10
		if _, err := Of(t.Context(), m, 3, v); err != nil {
			t.Errorf("%s: %d bytes with room for %d: %v", name, all.Len(), v.Most, err)
		}
	}
}
