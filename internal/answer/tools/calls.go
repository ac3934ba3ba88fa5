package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/memory"
)

const (
	maxCalls         = 5    // of a reply that are made
	maxAnswered      = 16   // of a reply that are answered at all
	maxArgumentBytes = 4000 // bytes
	minOutcomeTokens = 60   // tokens of each outcome at least
	maxProposals     = 3    // of one answer
)

// Outcomes of calls in traces, records and counters.
const (
	OK           = "ok"
	callBad      = "bad arguments"
	callUnknown  = "unknown tool"
	callRepeated = "asked already"
	callTooMany  = "too many at once"
	callLate     = "no time"
	callNoRoom   = "no room"
	callFailed   = "failed"
)

// Methods of the records of a question and an answer.
const (
	MethodAsk    = "ask"
	MethodAnswer = "answer"
)

// unknownTool replaces the name of a tool that doesn't exist, which may be anybody's words.
const unknownTool = "unknown"

// answer answers the calls of the last reply. Only ctx's end and errStale are errors.
func (l *loop) answer(ctx context.Context) error {
	l.rounds++
	l.t.Log.Rounds = l.rounds
	if l.started.IsZero() {
		l.started = l.set.Now()
	}
	calls := l.prepared(l.reply.Calls)
	said := chat.Message{
		Role:    chat.Assistant,
		Content: l.reply.Text,
		Calls:   calls,
		Extra:   l.reply.Extra,
	}
	if l.tokensLeft()-l.t.tokensOf(said)-len(calls)*minOutcomeTokens < 0 {
		for i, c := range calls {
			l.record(i, c, callResult{outcome: callNoRoom})
		}
		l.end(noMoreRoom)
		return ctx.Err()
	}
	l.append(said)
	err := l.t.Answer.Refresh(ctx) // who may read what may have changed while the model wrote
	for i, c := range calls {
		m := callResult{
			outcome: callFailed,
			text:    failedText,
			err:     err,
		}
		room := max(minOutcomeTokens, (l.tokensLeft()-(len(calls)-i-1)*minOutcomeTokens)/2)
		if err == nil {
			m = l.call(ctx, i, c, room)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if l.stale {
			l.record(i, c, m)
			return errStale
		}
		m.text = l.t.truncated(m.text, room-builder.MessageOverhead)
		l.record(i, c, m)
		l.append(chat.Message{
			Role:    chat.FromTool,
			CallID:  c.ID,
			Content: m.text,
		})
	}
	switch {
	case l.tokensLeft() < minRoom/2:
		l.end(noMoreRoom)
	case l.timeLeft() <= 0:
		l.end(noMoreTime)
	case l.rounds >= l.set.Rounds:
		l.end(noMoreRounds)
	}
	return nil
}

// prepared returns the calls that are answered, with ids of their own and mended arguments.
func (l *loop) prepared(calls []chat.Call) []chat.Call {
	calls = slices.Clone(calls[:min(len(calls), maxAnswered)])
	for i := range calls {
		c := &calls[i]
		c.ID = l.idFor(c.ID)
		at := l.t.Talk.index(c.Name)
		if at >= 0 && len(c.Arguments) <= maxArgumentBytes {
			c.Arguments = l.t.Talk.offered[at].mended(c.Arguments)
		}
	}
	return calls
}

// idChars is the length of a call's id: some models' templates take no other, and nothing but letters and digits.
const idChars = 9

// idFor returns the id that a model gave a call, if it has the right form and is new, else another: some servers
// count anew with each reply.
func (l *loop) idFor(given string) string {
	id := given
	for n := len(l.ids) + 1; !isID(id) || l.ids[id]; n++ {
		id = fmt.Sprintf("call%0*d", idChars-len("call"), n)
	}
	l.ids[id] = true
	return id
}

func isID(s string) bool {
	isOther := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	return len(s) == idChars && !strings.ContainsFunc(s, isOther)
}

func (l *loop) append(m chat.Message) {
	for i, c := range m.Calls { // in a copy: what the model wrote is still read
		if !isObject(c.Arguments) || len(c.Arguments) > maxArgumentBytes {
			m.Calls = slices.Clone(m.Calls)
			m.Calls[i].Arguments = "{}"
		}
	}
	l.t.Talk.Messages = append(l.t.Talk.Messages, m)
	l.t.Talk.Tokens += l.t.tokensOf(m)
}

// end tells the model that it can't call tools any more, at the end of the last outcome: strict servers take no
// user's message behind a tool's. If there is no outcome yet, see messages.
func (l *loop) end(why string) {
	l.ended = why
	why = "\n\n" + why + thenAnswer
	talk := l.t.Talk
	if len(talk.Messages) == 0 {
		talk.Tokens += l.t.Builder.Tokens(why)
		return
	}
	last := &talk.Messages[len(talk.Messages)-1]
	talk.Tokens -= l.t.tokensOf(*last)
	last.Content += why
	talk.Tokens += l.t.tokensOf(*last)
	mark, is := talk.foreign[last.CallID]
	if is {
		talk.foreign[last.CallID] = mark + why
	}
}

// tokensLeft returns the tokens for further calls and outcomes, without end's.
func (l *loop) tokensLeft() int {
	return l.set.Ceiling(l.t.Talk, l.t.Builder, l.t.Prompt.Report.Tokens) - l.t.Talk.Tokens - minOutcomeTokens
}

func (l *loop) timeLeft() time.Duration {
	return l.set.Time - l.set.Now().Sub(l.started)
}

func (t *Turn) tokensOf(m chat.Message) int {
	tokens := t.Builder.MessageTokens(m.Content)
	for _, c := range m.Calls {
		tokens += t.Builder.Tokens(c.Name) + callOverhead
		if len(c.Arguments) <= maxArgumentBytes {
			tokens += t.Builder.Tokens(c.Arguments)
		}
	}
	return tokens
}

// Run makes one call outside an answer. Its outcome has about room tokens at most. Only a CallError is the caller's.
func (s *Set) Run(ctx context.Context, t *Turn, name, arguments string, room int) (Outcome, error) {
	tool := s.Tool(name)
	args, err := tool.schema.arguments(arguments)
	if err != nil {
		return Outcome{}, err
	}
	body, err := json.Marshal(args)
	if err != nil {
		return Outcome{}, err
	}
	t.Room = room
	return tool.Call(t, ctx, body)
}

type callResult struct {
	outcome string
	text    string         // for the model
	summary string         // for the record
	args    map[string]any // for the record; nil: they fit no tool
	shown   int
	took    time.Duration
	err     error
}

const failedText = "The tool failed. Answer without it."

// call makes a call. Its outcome has room for so many tokens.
func (l *loop) call(ctx context.Context, i int, c chat.Call, room int) callResult {
	offered := l.t.Talk.offered
	at := l.t.Talk.index(c.Name)
	switch {
	case i >= maxCalls:
		return callResult{outcome: callTooMany,
			text: fmt.Sprintf("Too many calls at once: at most %d are made. Call again what you still need.",
				maxCalls)}
	case l.timeLeft() <= 0:
		return callResult{outcome: callLate, text: noMoreTime}
	case at < 0:
		return callResult{outcome: callUnknown, text: "There is no tool of that name. There are: " +
			strings.Join(l.t.Talk.Names(), ", ") + "."}
	case len(c.Arguments) > maxArgumentBytes:
		return callResult{outcome: callBad,
			text: fmt.Sprintf("The arguments are too long: at most %d bytes.", maxArgumentBytes)}
	}
	if r := offered[at].remote; r != nil {
		return l.callRemote(ctx, c, r)
	}
	args, err := offered[at].schema.arguments(c.Arguments)
	if err != nil {
		return callResult{outcome: callBad, text: l.callErrorText(err)}
	}
	m := callResult{outcome: callRepeated, args: l.set.redactedFields(offered[at].schema, args)}
	if before, asked := l.answered[keyOf(c.Name, args)]; asked {
		m.text = fmt.Sprintf("You have asked that already; what you were told then, by call %d of this answer, "+
			"still holds.", before)
		return m
	}
	if l.t.Question.Using != nil {
		l.t.Question.Using(c.Name)
	}
	begun := l.set.Now()
	l.run(ctx, offered[at], args, room, &m)
	m.took = l.set.Now().Sub(begun)
	if m.outcome == OK || m.outcome == callBad {
		l.answered[keyOf(c.Name, args)] = l.count + 1
	}
	return m
}

func (l *loop) run(ctx context.Context, tool Tool, args map[string]any, room int, m *callResult) {
	within, cancel := context.WithTimeout(ctx, l.timeLeft())
	defer cancel()
	body, err := json.Marshal(args)
	var out Outcome
	if err == nil {
		l.t.Room = room
		out, err = tool.Call(l.t, within, body)
	}
	var refused CallError
	switch {
	case errors.As(err, &refused):
		m.outcome = callBad
		m.text = l.callErrorText(refused)
		return
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		m.outcome = callLate
		m.text = "The tool took too long. Answer without it."
		return
	case err != nil:
		m.outcome = callFailed
		m.text = failedText
		m.err = err
		return
	}
	l.t.Shown.Emit(out.Emission)
	l.t.Talk.Proposals = append(l.t.Talk.Proposals, out.Proposals...)
	m.outcome = OK
	m.summary = out.Summary
	m.shown = len(out.Shown)
	m.text = strings.TrimLeft(strings.TrimRight(out.Text, "\n "), "\n") // the first line keeps its indentation
}

// callErrorText escapes an error, which may repeat the model's or members' words.
func (l *loop) callErrorText(err error) string { return l.t.Builder.Safe(err.Error(), 400) }

const (
	nothingTold = "Nothing."
	cutShort    = "\n(The rest is left out: there is no room for it.)"
)

// truncated cuts a text to so many tokens, at a line if it has several.
func (t *Turn) truncated(text string, tokens int) string {
	if text == "" {
		return nothingTold
	}
	if t.Builder.Tokens(text) <= tokens {
		return text
	}
	for keep := len(text) * 9 / 10; keep > 0; keep = keep * 9 / 10 {
		cut := strings.ToValidUTF8(text[:keep], "")
		if at := strings.LastIndexByte(cut, '\n'); at > 0 {
			cut = cut[:at]
		}
		cut += cutShort
		if t.Builder.Tokens(cut) <= tokens {
			return cut
		}
	}
	return strings.TrimSpace(cutShort)
}

// record adds a call to the trace, the records and the counters.
func (l *loop) record(i int, c chat.Call, m callResult) {
	l.count++
	name := unknownTool
	if l.t.Talk.index(c.Name) >= 0 {
		name = c.Name
	}
	g := l.t.Log
	if m.err != nil && g.Failed == nil {
		g.Failed = fmt.Errorf("tool %s: %w", name, m.err)
	}
	l.set.Metrics.ToolCalls.WithLabelValues(name, m.outcome).Inc()
	tokens := 0
	if m.text != "" {
		tokens = l.t.Builder.MessageTokens(m.text)
	}
	g.Calls = append(g.Calls, memory.TraceCall{
		Tool:    name,
		Outcome: m.outcome,
		Round:   l.rounds,
		Shown:   m.shown,
		Tokens:  tokens,
		Took:    m.took,
	})
	rec := memory.Record{
		Timestamp: l.set.Now(),
		Speaker:   memory.SpeakerTool,
		Method:    name,
		Outcome:   m.outcome,
		More:      Took(m.took),
	}
	if m.summary != "" {
		rec.Outcome = m.summary
	}
	rec.Kwargs = m.args
	if m.args == nil {
		rec.Kwargs = map[string]any{"arguments": l.set.Print(c.Arguments)}
	}
	if l.t.Answer.KeepsRecords() {
		g.Record(l.rounds, i, rec)
	}
}

// Ask has the model answer the prompt, and answers its calls. It returns the text so far even with an error, and
// the last reply. stream is called with the whole text so far.
func (s *Set) Ask(ctx context.Context, t *Turn, stream func(text string)) (string, chat.Reply, error) {
	l := &loop{
		set:      s,
		t:        t,
		stream:   stream,
		answered: map[string]int{},
		ids:      map[string]bool{},
	}
	for {
		err := l.ask(ctx)
		switch {
		case err != nil || len(l.reply.Calls) == 0 || l.flat:
			return l.text, l.reply, err
		case l.mayCall():
			err = l.answer(ctx)
		default: // it calls although it can't: once more, without the calls before that it may go on from
			l.flat = true
		}
		if err != nil {
			return l.text, l.reply, err
		}
	}
}
