package llmtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	req, ok := s.accept(w, r)
	if !ok {
		return
	}
	reply, ok := s.next(req)
	s.progress()
	if !ok {
		s.tb.Errorf("llmtest: a chat call that nothing was scripted for, after %d requests", len(s.Requests()))
		writeError(w, http.StatusInternalServerError, "unscripted", "nothing is scripted for this call")
		return
	}
	if !s.wait(r, reply.Hold) {
		return
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	switch {
	case reply.Cut == Reset:
		reset(w)
	case reply.Body != "":
		w.Header().Set("Content-Type", orElse(reply.ContentType, "application/json"))
		w.WriteHeader(orElse(reply.Status, http.StatusOK))
		fmt.Fprint(w, reply.Body)
	default:
		s.stream(w, r, req, reply)
	}
}

// next is the scripted reply to req.
func (s *Server) next(req Request) (Reply, bool) {
	s.mu.Lock()
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return reply, true
	}
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		return Reply{}, false
	}
	return answer(req), true
}

// wait holds a reply until hold is closed, and reports whether the client is still there.
func (s *Server) wait(r *http.Request, hold <-chan struct{}) bool {
	if hold == nil {
		return true
	}
	select {
	case <-hold:
		return true
	case <-r.Context().Done():
	case <-s.closing:
	}
	return false
}

// stream writes reply event by event. It tears the connection where reply says so.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	w.Header().Set("Content-Type", orElse(reply.ContentType, "text/event-stream; charset=utf-8"))
	w.WriteHeader(orElse(reply.Status, http.StatusOK))
	left := -1
	if reply.Cut == CutBytes {
		left = reply.CutAt
	}
	send := func(line string) {
		line += "\n"
		if left >= 0 {
			line = line[:min(left, len(line))]
			left -= len(line)
		}
		fmt.Fprint(w, line)
		http.NewResponseController(w).Flush() // a client that is gone is seen by the next wait
		if left == 0 {
			panic(http.ErrAbortHandler)
		}
	}
	http.NewResponseController(w).Flush()
	before, after := reply.lines(req)
	for _, line := range before {
		send(line)
	}
	if !s.wait(r, reply.Pause) {
		return
	}
	for _, line := range after {
		send(line)
	}
	if reply.Cut == CutBytes {
		panic(http.ErrAbortHandler)
	}
}

// lines are what is streamed before and after the pause.
func (r Reply) lines(req Request) (before, after []string) {
	before = append(before, r.Events...)
	event := func(v any) []string { return []string{"data: " + marshal(v), ""} }
	for i, d := range r.deltas() {
		if i == 0 {
			d["role"] = "assistant"
		}
		before = append(before, event(chunk(req, d, nil))...)
	}
	after = append(after, r.After...)
	if r.Cut == NoFinish || r.Cut == CutBytes {
		return before, after
	}
	if r.Cut != OnlyDone {
		after = append(after, event(chunk(req, map[string]any{}, r.finish()))...)
		if req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
			last := chunk(req, nil, nil)
			last["choices"], last["usage"] = []any{}, r.usage(req)
			after = append(after, event(last)...)
		}
	}
	if r.Cut != NoDone {
		after = append(after, "data: [DONE]", "")
	}
	return before, after
}

// deltas are the pieces of the streamed message.
func (r Reply) deltas() (deltas []map[string]any) {
	for _, s := range r.ReasoningContent {
		deltas = append(deltas, map[string]any{"content": nil, "reasoning_content": s})
	}
	for _, s := range r.Reasoning {
		deltas = append(deltas, map[string]any{"content": "", "reasoning": s})
	}
	for _, s := range r.Text {
		deltas = append(deltas, map[string]any{"content": s})
	}
	for i, call := range r.Tools {
		deltas = append(deltas, map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": call.ID, "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": ""},
		}}})
		for _, piece := range call.Arguments {
			deltas = append(deltas, map[string]any{"tool_calls": []any{map[string]any{
				"index": i, "function": map[string]any{"arguments": piece},
			}}})
		}
	}
	return deltas
}

func chunk(req Request, delta map[string]any, finish any) map[string]any {
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600, "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
	}
}

// usage counts words for tokens, so that a test can say what it expects.
func (r Reply) usage(req Request) map[string]any {
	prompt := len(strings.Fields(req.Prompt()))
	completion := len(strings.Fields(r.thoughts() + " " + r.text()))
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

// reset closes the connection so that the client sees a reset rather than an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return string(data)
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
