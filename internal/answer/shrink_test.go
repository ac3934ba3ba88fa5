package answer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/internal/llm"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

const narrowAnswer = 200 // tokens kept free for the answer

// newNarrow has the engine of w ask a model with a small window, which counts a fifth more tokens than we do, and
// cites what it was shown last. refuses is its error for longer prompts.
func newNarrow(w *world, window int, refuses func(asked int) refusal, o builder.Options) *caller {
	w.t.Helper()
	m := &caller{then: func(r chat.Request) (chat.Reply, error) {
		if asked := narrowTokens(r); asked+narrowAnswer > window {
			return chat.Reply{}, refuses(asked)
		}
		return chat.Reply{Text: "It is so [" + strconv.Itoa(lastNumber(sent(r.Messages))) + "]."}, nil
	}}
	w.engine = w.over(w.store, m, o, Options{})
	return m
}

func narrowTokens(r chat.Request) int { return tokenstest.For("").Count(sent(r.Messages)) * 6 / 5 }

// seen are the tokens of each prompt, as a narrow model counts.
func (m *caller) seen() []int { return digest.Each(m.got, narrowTokens) }

func tooMuch(int) refusal { return refusal{} }

var numbered = regexp.MustCompile(`(?m)^[^\[\n]*\[(\d+)\] \[`)

// lastNumber is the largest number of a history item in a prompt; 0 if there is none.
func lastNumber(prompt string) (last int) {
	for _, m := range numbered.FindAllStringSubmatch(prompt, -1) {
		n, _ := strconv.Atoi(m[1])
		last = max(last, n)
	}
	return last
}

// fill logs much about a lighthouse's password, each message with a word of its own.
func (w *world) fill() (said []memory.MessageID) {
	w.atOnce(func() {
		for i := range 200 {
			channel, ago := harbor, 2*day-time.Duration(i)*time.Minute
			if i%4 == 0 {
				channel, ago = lobby, 20*time.Minute-time.Duration(i)*time.Second
			}
			said = append(said, w.says(ago, channel, ben,
				fmt.Sprintf("lighthouse item%d %s", i, strings.Repeat("password ", i%40+1))))
		}
	})
	return said
}

// A refused prompt is built once more, smaller; the answer and its sources are of that one.
func TestSmallerPromptAfterARefusal(t *testing.T) {
	t.Parallel()
	const window = 3000
	both := func(asked int) refusal { return refusal{window - narrowAnswer, asked} }
	for name, tc := range map[string]struct {
		says   func(int) refusal
		layout builder.Layout
	}{
		"it says all":        {both, builder.LayoutSections},
		"in the chat layout": {both, builder.LayoutChat},
		"it says its window": {func(int) refusal { return refusal{room: window - narrowAnswer} },
			builder.LayoutSections},
		"it says nothing": {tooMuch, builder.LayoutSections},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			said := w.fill()
			n := newNarrow(w, window, tc.says, builder.Options{Layout: tc.layout, Citations: true})
			q := w.asks(lobby, "What is the lighthouse password?")
			streamed := ""
			a, err := w.engine.Answer(t.Context(), q, func(text string) { streamed = text })
			if err != nil || a.ModelError != nil || a.Model != n.Name() ||
				!strings.HasPrefix(a.Text, "It is so [") || streamed != a.Text {
				t.Fatalf("answer %q by %q, streamed %q, away %v, %v", a.Text, a.Model, streamed, a.ModelError, err)
			}
			seen := n.seen()
			if len(seen) != 2 || seen[1]+narrowAnswer > window || seen[1] < seen[0]/5 {
				t.Fatalf("prompts of %v tokens", seen)
			}
			if strings.HasPrefix(name, "it says all") && seen[1] < (window-narrowAnswer)/2 {
				t.Errorf("a prompt of %d tokens where %d have room", seen[1], window-narrowAnswer)
			}
			messages := n.got[1].Messages
			if last := messages[len(messages)-1].Content; !strings.Contains(last, q.Text) ||
				tc.layout == builder.LayoutChat && len(messages) < 4 {
				t.Errorf("%d messages, the last %q", len(messages), last)
			}
			sources(t, a, said, sent(messages))
			if !errors.As(a.Shortened, new(refusal)) {
				t.Errorf("shortened: %v", a.Shortened)
			}
		})
	}
}

// sources checks that a's sources are what the prompt shows, and that it cites the last.
func sources(t *testing.T, a Answer, said []memory.MessageID, prompt string) {
	t.Helper()
	shown := 0
	for i, id := range said {
		there := strings.Contains(prompt, fmt.Sprintf("item%d ", i))
		is := slices.ContainsFunc(a.Trace.Recalled, func(h memory.TraceHit) bool {
			return h.Message == id && (h.Context || h.Number > 0)
		})
		if there != is {
			t.Errorf("item%d: shown %v, source %v", i, there, is)
		}
		if there {
			shown++
		}
	}
	if shown < 3 || shown == len(said) {
		t.Errorf("%d of %d messages are shown", shown, len(said))
	}
	last := lastNumber(prompt)
	if len(a.Sources) != 1 || a.Sources[0].Number != last {
		t.Fatalf("cites %+v, the prompt's last is %d", a.Sources, last)
	}
	item := regexp.MustCompile(`(?m)^[^\[\n]*\[` + strconv.Itoa(last) + `\] .*(\n  ┆.*)*`).FindString(prompt)
	if cited := slices.Index(said, a.Sources[0].Message); !strings.Contains(item, fmt.Sprintf("item%d ", cited)) {
		t.Errorf("cites item%d, but [%d] is %s", cited, last, item)
	}
}

// A prompt is built twice at most. Then the answer quotes.
func TestRefusedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.fill()
	n := newNarrow(w, 300, tooMuch, builder.Options{Citations: true})
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if seen := n.seen(); len(seen) != 2 || seen[1] >= seen[0] {
		t.Errorf("prompts of %v tokens", seen)
	}
	has(t, a.Text, "> lighthouse", modelAway)
	if _, _, is := a.ModelError.(interface{ TooLong() (int, int, bool) }).TooLong(); !is || a.Shortened != nil {
		t.Errorf("away %v, shortened %v", a.ModelError, a.Shortened)
	}
}

// A model that takes hardly more than the question isn't asked again: Hark quotes, and the log has its refusal.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.fill()
	for name, tc := range map[string]struct {
		options builder.Options
		refuses refusal
		again   bool
	}{
		"a window of 1024, all kept free":  {builder.Options{Citations: true}, refusal{room: 24}, false},
		"a little below what is of use":    {builder.Options{Citations: true}, refusal{room: 900}, true},
		"hardly half of it":                {builder.Options{Citations: true}, refusal{room: 400}, false},
		"above it":                         {builder.Options{Citations: true}, refusal{room: 1400}, true},
		"too little for the plain layout":  {builder.Options{Layout: builder.LayoutPlain}, refusal{room: 300}, true},
		"enough for the plain layout":      {builder.Options{Layout: builder.LayoutPlain}, refusal{room: 400}, true},
		"less than half of a small prompt": {builder.Options{MaxTokens: 400}, refusal{room: 100}, false},
		"most of a small prompt":           {builder.Options{MaxTokens: 400}, refusal{room: 240, asked: 250}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &caller{steps: []step{fails(tc.refuses)}, then: writes("It is so.")}
			w.engine = w.over(w.store, m, tc.options, Options{})
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if tc.again != (len(m.got) == 2) || tc.again != (a.ModelError == nil) {
				t.Errorf("%d requests, away %v", len(m.got), a.ModelError)
			}
			if !tc.again && !errors.As(a.ModelError, new(refusal)) {
				t.Errorf("away %v", a.ModelError)
			}
			if last := m.last().Messages; !strings.Contains(last[len(last)-1].Content, "What is the lighthouse password?") {
				t.Errorf("asked %q", last[len(last)-1].Content)
			}
		})
	}
}

// Where the prompt can't be made smaller it isn't sent again.
func TestRefusedAtItsSmallest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := newNarrow(w, 10, tooMuch, builder.Options{MaxTokens: builder.MinTokens, Citations: true})
	a := w.answer(w.asks(lobby, "Hm?"))
	if seen := n.seen(); len(seen) != 1 || a.ModelError == nil {
		t.Errorf("prompts of %v tokens, away %v", seen, a.ModelError)
	}
}

type refusal struct{ room, asked int }

func (refusal) Error() string               { return "too long" }
func (r refusal) TooLong() (int, int, bool) { return r.room, r.asked, true }

// What is gone between the two prompts isn't in the second.
func TestSecondPromptIsOfWhatIsThereThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.fill()
	gone := w.says(day, harbor, ben, "The lighthouse password is tuna")
	model := &caller{steps: []step{
		first(func() { w.deletes(harbor, gone) }, fails(refusal{2000, 4000})),
		writes("It is so [1]."),
	}}
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
	q := w.asks(lobby, "What is the lighthouse password?")
	has(t, w.prompt(q), "tuna")
	a := w.answer(q)
	prompt := sent(model.last().Messages)
	hasNot(t, prompt, "tuna")
	has(t, prompt, "item1")
	if len(model.got) != 2 || a.Text != "It is so [1]." || len(a.Sources) != 1 ||
		!slices.Contains(said, a.Sources[0].Message) {
		t.Errorf("%d calls, answer %q of %+v", len(model.got), a.Text, a.Sources)
	}
}

func TestSmaller(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("out of order"), 0},
		{&llm.Error{Kind: llm.Server}, 0},
		{&llm.Error{Kind: llm.TooLong}, 2000},
		{fmt.Errorf("ask: %w", refusal{0, 0}), 2000},
		{refusal{0, 5000}, 2000},
		{refusal{3000, 5000}, 2160},
		{refusal{4999, 5000}, 3599},
		{refusal{5000, 5000}, 2000},
		{refusal{3000, 0}, 2250},
		{refusal{4000, 0}, 2000},
		{refusal{1, 1 << 30}, 1},
	} {
		if got := smaller(4000, tc.err); got != tc.want {
			t.Errorf("smaller(4000, %v) = %d, want %d", tc.err, got, tc.want)
		}
	}
}
