// Package migrate converts other bots' configuration to Hark's.
//
// Hark accepts the file that it makes. It reports what became of every key. The report shows no value, since any may
// be secret.
package migrate

// Result is what became of a configuration.
type Result struct {
	TOML  []byte // Hark's configuration. It holds the token and keys
	Taken []Note // keys that it takes over
	Left  []Note // other keys, and why or what to do
}

// Note tells what became of a key.
type Note struct {
	Line int    // in the other's file, from 1; 0: none
	Key  string // such as "models.openai/gpt-5.temperature"
	Says string
}

// file has what can be taken over.
type file struct {
	Discord struct {
		Token string `toml:"token,omitempty"`
	} `toml:"discord,omitempty"`
	LLM    models `toml:"llm,omitempty"`
	Answer struct {
		Persona string `toml:"persona,multiline,omitempty"`
	} `toml:"answer,omitempty"`
}

type models struct {
	BaseURL     string            `toml:"base_url,omitempty"`
	APIKey      string            `toml:"api_key,omitempty"`
	Model       string            `toml:"model,omitempty"`
	MaxTokens   int               `toml:"max_tokens,omitempty"`
	Temperature *float64          `toml:"temperature,omitempty"`
	Vision      bool              `toml:"vision,omitempty"`
	Headers     map[string]string `toml:"headers,omitempty,inline"`
	Thinking    string            `toml:"thinking,omitempty"`
	Extra       any               `toml:"extra,omitempty,inline"`
	Models      []model           `toml:"models,omitempty"`
}

type model struct {
	Name        string            `toml:"name"`
	Model       string            `toml:"model"`
	BaseURL     string            `toml:"base_url,omitempty"`
	APIKey      string            `toml:"api_key,omitempty"`
	Vision      bool              `toml:"vision,omitempty"`
	Temperature *float64          `toml:"temperature,omitempty"`
	Headers     map[string]string `toml:"headers,omitempty,inline"`
	Thinking    string            `toml:"thinking,omitempty"`
	Extra       any               `toml:"extra,omitempty,inline"` // a map[string]any; nil: it is left out
}
