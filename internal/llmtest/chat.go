package llmtest

import (
	"cmp"
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
		reply.write(w)
	default:
		s.stream(w, r, req, reply)
	}
}

// write sends a reply that is all body.
func (r Reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", cmp.Or(r.ContentType, "application/json"))
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	fmt.Fprint(w, r.Body)
}

// next returns the scripted reply to req.
func (s *Server) next(req Request) (Reply, bool) {
	s.mu.Lock()
	answer := s.answer
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		answer = func(Request) Reply { return reply }
	}
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

// stream writes reply line by line. It tears the connection where reply says so.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	w.Header().Set("Content-Type", cmp.Or(reply.ContentType, "text/event-stream; charset=utf-8"))
	w.WriteHeader(cmp.Or(reply.Status, http.StatusOK))
	send := func(text string) {
		http.NewResponseController(w).Flush() // a client that is gone is seen by the next wait
		for line := range strings.Lines(text) {
			fmt.Fprint(w, line)
			http.NewResponseController(w).Flush()
		}
	}
	before, after := reply.lines(req)
	if reply.Cut == CutBytes {
		whole := before + after
		after = whole[min(len(before), reply.CutAt):min(len(whole), reply.CutAt)]
		before = before[:min(len(before), reply.CutAt)]
	}
	send(before)
	if !s.wait(r, reply.Pause) {
		return
	}
	send(after)
	if reply.Cut == CutBytes {
		panic(http.ErrAbortHandler)
	}
}

// lines returns what is streamed before and after the pause.
func (r Reply) lines(req Request) (before, after string) {
	event := func(v any) string { return "data: " + marshal(v) + "\n\n" }
	for _, line := range r.Events {
		before += line + "\n"
	}
	for _, line := range r.After {
		after += line + "\n"
	}
	for i, d := range r.deltas() {
		if i == 0 {
			d["role"] = "assistant"
		}
		before += event(chunk(req, d, nil))
	}
	if r.Cut == NoFinish || r.Cut == CutBytes {
		return before, after
	}
	if r.Cut != OnlyDone {
		finish := "stop"
		if len(r.Tools) > 0 {
			finish = "tool_calls"
		}
		after += event(chunk(req, map[string]any{}, cmp.Or(r.Finish, finish)))
		if req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
			last := chunk(req, nil, nil)
			last["choices"], last["usage"] = []any{}, r.usage(req)
			after += event(last)
		}
	}
	if r.Cut != NoDone {
		after += "data: [DONE]\n\n"
	}
	return before, after
}

// deltas returns the pieces of the streamed message.
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
	thoughts := strings.Join(r.ReasoningContent, "") + strings.Join(r.Reasoning, "")
	completion := len(strings.Fields(thoughts + " " + strings.Join(r.Text, "")))
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
