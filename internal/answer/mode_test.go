package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// modeRules is a line that each mode alone adds to the instructions.
var modeRules = func() map[builder.Mode]string {
	b, err := builder.New(builder.Options{}, tokenstest.For(""))
	if err != nil {
		panic(err)
	}
	instructions := func(m builder.Mode) string { return b.Build(builder.Input{Mode: m}).Messages[0].Content }
	rules := map[builder.Mode]string{}
	for _, m := range builder.Modes() {
		other := instructions(builder.ModeGeneral)
		if m == builder.ModeGeneral {
			other = instructions(builder.ModeSearch)
		}
		for line := range strings.Lines(instructions(m)) {
			if !strings.Contains(other, line) {
				rules[m] = line
				break
			}
		}
	}
	return rules
}()

func TestModeOfAnAnswer(t *testing.T) {
	t.Parallel()
	const den memory.ChannelID = 906 // a thread of the harbor
	mention := fmt.Sprintf("<@%d> ", oracle)
	type said struct {
		author memory.UserID
		text   string
	}
	chose := func(channel memory.ChannelID, mode string) memory.Event {
		return memory.SettingChosen{Guild: guild, Channel: channel, Key: memory.SettingMode, Value: mode, At: noon}
	}
	search := said{ann, mention + "who said the ferry leaves at nine?"}
	for _, tt := range []struct {
		name     string
		chosen   memory.Event
		before   []said
		question string
		asked    builder.Mode
		want     builder.Mode
		by       ModeBy
	}{
		{name: "by its words", question: "Write a haiku about ferries", want: builder.ModeCreation, by: ModeQuestion},
		{name: "by none", question: "hello there", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "with the mention left in", question: mention + "compare ferries with canoes",
			want: builder.ModeAnalysis, by: ModeQuestion},
		{name: "chosen for the channel", chosen: chose(den, "analysis"), question: "Write a haiku",
			want: builder.ModeAnalysis, by: ModeChannel},
		{name: "chosen for the thread's channel", chosen: chose(harbor, "search"), question: "Write a haiku",
			want: builder.ModeSearch, by: ModeChannel},
		{name: "chosen for the server", chosen: chose(0, "search"), question: "Write a haiku",
			want: builder.ModeSearch, by: ModeChannel},
		{name: "chosen elsewhere", chosen: chose(lobby, "search"), question: "Write a haiku",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "chosen, but not known", chosen: chose(den, "divination"), question: "Write a haiku",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "asked for", chosen: chose(den, "analysis"), question: "Write a haiku",
			asked: builder.ModeModification, want: builder.ModeModification, by: ModeAsked},
		{name: "going on", before: []said{search}, question: "and the other one?", want: builder.ModeSearch,
			by: ModeEarlier},
		{name: "going on by its first word", before: []said{search}, question: "and Cleo?",
			want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on from what goes on", before: []said{search, {oracle, "Ben [1]"}, {ben, "not me"},
			{ann, mention + "and the other one?"}},
			question: "and Cleo?", want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on from what is no question", before: []said{{ann, "@hark find the timetable"}},
			question: "and Cleo?", want: builder.ModeSearch, by: ModeEarlier},
		{name: "going on in a mode of its own", before: []said{search}, question: "and a poem about it?",
			want: builder.ModeCreation, by: ModeQuestion},
		{name: "not going on", before: []said{search}, question: "are you well today?",
			want: builder.ModeGeneral, by: ModeQuestion},
		{name: "no question", before: []said{search}, question: "and thanks", want: builder.ModeGeneral,
			by: ModeQuestion},
		{name: "too long to go on", before: []said{search},
			question: "and are you well today, in spite of all the rain?", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from somebody else",
			before: []said{{ben, mention +
				"who said the ferry leaves at nine?"}}, question: "and Cleo?", want: builder.ModeGeneral,
			by: ModeQuestion},
		{name: "going on from what Hark wasn't asked",
			before: []said{{ann, "who said the ferry leaves at nine?"}}, question: "and Cleo?", want: builder.ModeGeneral, by: ModeQuestion},
		{name: "going on from small talk", before: []said{search, {ann, mention + "are you well today?"}},
			question: "and Cleo?", want: builder.ModeGeneral, by: ModeQuestion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &scripted{pieces: []string{"I see."}})
			w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: den, Guild: guild, Parent: harbor,
				Kind: memory.PublicThread, Name: "den"}})
			if tt.chosen != nil {
				w.apply(tt.chosen)
			}
			for i, s := range tt.before {
				m := memory.Message{Guild: guild, Channel: den, Author: s.author, Content: s.text}
				if strings.HasPrefix(s.text, mention) {
					m.Mentions = []memory.UserID{oracle}
				}
				if s.author == oracle {
					m.Kind = memory.FromHark
				}
				w.posts(time.Duration(len(tt.before)-i)*time.Minute, m)
			}
			q := w.asks(den, tt.question)
			q.Mode = tt.asked
			r := w.recalled(q)
			if m := r.Mode; m.Is != tt.want || m.By != tt.by ||
				(m.Why != "") != (tt.want != builder.ModeGeneral && (tt.by == ModeQuestion || tt.by == ModeEarlier)) {
				t.Errorf("got %+v, want %s by %s", m, tt.want, tt.by)
			}
			for mode, rule := range modeRules {
				if got := strings.Contains(r.Prompt.Messages[0].Content, rule); got != (mode == tt.want) {
					t.Errorf("the rules of %s are there: %v", mode, got)
				}
			}
			if a := w.answer(q); a.Trace.Mode != string(tt.want) {
				t.Errorf("the trace says %q", a.Trace.Mode)
			}
			w.engine.model = nil
			if a := w.answer(q); a.Trace.Mode != "" {
				t.Errorf("the trace of an answer without a model says %q", a.Trace.Mode)
			}
		})
	}
}

// What a question goes on from may be a reply.
func TestModeOfWhatAReplyGoesOnFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.says(3*time.Minute, lobby, oracle, "Ask me")
	w.posts(2*time.Minute, memory.Message{Guild: guild, Channel: lobby, Author: ann,
		Content: "who said the ferry leaves at nine?", ReplyTo: a})
	q := w.asks(lobby, "and Cleo?")
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil || r.Mode.Is != builder.ModeSearch || r.Mode.By != ModeEarlier {
		t.Errorf("got %+v, %v", r.Mode, err)
	}
}
