package config

import (
	"os"
	"strings"
)

// readKeys reads the keys of further models and of MCP servers from their files and variables.
func (s *settings) readKeys(env func(string) (string, bool)) {
	for i := range s.config.LLM.Models {
		m := &s.config.LLM.Models[i]
		s.readKey(env, "llm.models", i+1, &m.APIKey, m.APIKeyFile, m.APIKeyEnv)
	}
	for i := range s.config.Tools.MCP {
		m := &s.config.Tools.MCP[i]
		s.readKey(env, mcpList, i+1, &m.Key, m.KeyFile, m.KeyEnv)
	}
}

// readKey reads the key of a list's item from the file or the variable, if one is named.
func (s *settings) readKey(env func(string) (string, bool), list string, item int, key *Secret, file, variable string) {
	place := itemOf(list, item)
	given := 0
	for _, is := range []bool{key.IsSet(), file != "", variable != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		s.problem(s.from[place], "%s wants one of api_key, api_key_file and api_key_env, not several", list)
	case file != "":
		text, _ := s.readSecret(s.from[place+".api_key_file"], file)
		*key = NewSecret(text)
	case variable != "":
		text, ok := lookup(env, variable)
		*key = NewSecret(strings.TrimSpace(text))
		if !ok || !key.IsSet() {
			s.problem(s.from[place+".api_key_env"], "%s isn't set; put the key into it", variable)
		}
	}
}

// readSecret returns what the file at path holds. where says what named it.
func (s *settings) readSecret(where, path string) (string, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		s.problem(where, "read secret: %w", Unreadable(path, err))
		return "", false
	}
	s.secretFiles = append(s.secretFiles, path)
	text := strings.TrimSpace(string(data))
	if text == "" {
		s.problem(where, "%s is empty; put the secret into it", path)
	}
	return text, text != ""
}
