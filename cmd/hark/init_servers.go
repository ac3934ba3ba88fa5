package main

import (
	"fmt"
	"io"
	"strings"
)

// knownServer is a server of models that init names by its address, besides OpenAI's and Ollama.
type knownServer struct {
	name, url string
	started   string // how it is started so that it is at that address; empty: as usual
	embeds    bool   // it has embedding models, too
}

var knownServers = []knownServer{
	{name: "OpenRouter", url: "https://openrouter.ai/api/v1", embeds: true},
	{name: "Gemini", url: "https://generativelanguage.googleapis.com/v1beta/openai", embeds: true},
	{name: "DeepSeek", url: "https://api.deepseek.com/v1"},
	{name: "Mistral", url: "https://api.mistral.ai/v1", embeds: true},
	{name: "Groq", url: "https://api.groq.com/openai/v1"},
	{name: "llama.cpp", url: "http://localhost:8081/v1", started: "llama-server --port 8081", embeds: true},
	{name: "LM Studio", url: "http://localhost:1234/v1", embeds: true},
	{name: "vLLM", url: "http://localhost:8000/v1", embeds: true},
	{name: "LiteLLM", url: "http://localhost:4000/v1", embeds: true},
}

// printServers lists the known servers' names and addresses, or only of those that embed.
func printServers(w io.Writer, embedders bool) {
	for _, s := range knownServers {
		if embedders && !s.embeds {
			continue
		}
		line := fmt.Sprintf("  %-10s  %s", s.name, s.url)
		if s.started != "" {
			line += " (" + s.started + ")"
		}
		fmt.Fprintln(w, line)
	}
}

// addressOf returns the address of the known server with that name, or else what was written.
func addressOf(written string) string {
	for _, s := range knownServers {
		if strings.EqualFold(s.name, written) {
			return s.url
		}
	}
	return written
}
