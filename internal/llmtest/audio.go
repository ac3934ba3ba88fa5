package llmtest

import (
	"io"
	"net/http"
)

// Hear sets what writes audio down: it returns the text, or a status other than 200 with which the request is refused.
// Without it the server has no transcriptions.
func (s *Server) Hear(f func(ogg []byte) (text string, status int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear = f
}

// transcribe serves POST /audio/transcriptions.
func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hear := s.hear
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone()})
	s.mu.Unlock()
	s.progress()
	if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	}
	if hear == nil {
		writeError(w, http.StatusNotFound, "unknown_url", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
		return
	}
	file, header, err := r.FormFile("file")
	if err != nil || r.FormValue("model") == "" || header.Filename == "" {
		s.tb.Errorf("llmtest: a transcription without a file, its name or a model: %v", err)
		writeError(w, http.StatusBadRequest, "invalid_request_error", "no file")
		return
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return
	}
	text, status := hear(data)
	if status != 0 && status != http.StatusOK {
		writeError(w, status, "server_error", "the file could not be heard: "+string(data[:min(len(data), 20)]))
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"text": text})
}
