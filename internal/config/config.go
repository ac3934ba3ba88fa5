// Package config reads the operator's configuration: a TOML file, whose keys environment variables override.
// Every value that it returns has been checked for type and range. Unknown keys and variables are errors. A
// secret never prints itself.
package config

import (
	"fmt"
	"strconv"
	"time"
)

// DefaultFile is read when no file is named. It needn't exist.
const DefaultFile = "config.toml"

// Config holds every setting. Default, Example, Reference and the checks come from the tags, and from help.txt, which
// says what each setting is for. A number is above 0, or 0 for what "zero" says; a time with "such" is above 0.
type Config struct {
	Data      string    `toml:"data" default:"./data"`
	Store     Secret    `toml:"store"`
	Discord   Discord   `toml:"discord"`
	LLM       LLM       `toml:"llm"`
	Embedding Embedding `toml:"embedding"`
	Search    Search    `toml:"search"`
	Memory    Memory    `toml:"memory"`
	Builder   Builder   `toml:"builder"`
	Answer    Answer    `toml:"answer"`
	Tools     Tools     `toml:"tools"`
	Limits    Asking    `toml:"limits"`
	Log       Log       `toml:"log"`
	Web       Web       `toml:"web"`

	// From is the variable, or the file and the place in it, that set each key.
	From map[string]string
	// SecretFiles are the files that secrets were read from, in no order.
	SecretFiles []string
}

// Discord is the bot's account.
type Discord struct {
	Token  Secret `toml:"token"`
	APIURL string `toml:"api_url" url:"optional"`
	// DevGuild is the id of a guild, in decimal, or empty; Guild is the number.
	DevGuild     string   `toml:"dev_guild"`
	AnswerMissed Duration `toml:"answer_missed" default:"10m"`
	Shards       Shards   `toml:"shards" default:"auto"`
	// Operator is the text that /privacy shows.
	Operator string `toml:"operator"`
}

// Guild is DevGuild as a number; 0 if there is none.
func (d Discord) Guild() uint64 {
	id, _ := strconv.ParseUint(d.DevGuild, 10, 63) // Load has seen that it is one
	return id
}

// Shards is how many shards there are; 0, in the file "auto": as many as Discord recommends.
type Shards int

// LLM is the model that writes answers.
type LLM struct {
	BaseURL       string        `toml:"base_url" default:"https://api.openai.com/v1" url:""`
	APIKey        Secret        `toml:"api_key"`
	Model         string        `toml:"model"`
	MaxTokens     int           `toml:"max_tokens" default:"1000"`
	Window        int           `toml:"window" zero:"what is known of the model"`
	Temperature   *float64      `toml:"temperature" example:"0.7"`
	Timeout       Duration      `toml:"timeout" default:"1m" such:"30m"`
	Vision        bool          `toml:"vision"`
	Headers       Headers       `toml:"headers" example:"{ \"HTTP-Referer\" = \"https://example.org\", \"X-Title\" = \"Hark\" }"`
	Thinking      string        `toml:"thinking" default:"auto" one:"auto,off,low,medium,high"`
	Extra         Extra         `toml:"extra" example:"{ top_k = 40, provider = { sort = \"price\" } }"`
	AtOnce        int           `toml:"at_once" zero:"Hark's own choice by the server"`
	Models        []Model       `toml:"models"`
	Fallback      Fallback      `toml:"fallback"`
	Transcription Transcription `toml:"transcription"`
}

// Transcription is the model that writes down voice messages.
type Transcription struct {
	Model   string `toml:"model"`
	BaseURL string `toml:"base_url" url:"optional"`
	APIKey  Secret `toml:"api_key"`
}

// Embedding is the model that turns texts into vectors.
type Embedding struct {
	Path       string `toml:"path"`
	BaseURL    string `toml:"base_url" default:"https://api.openai.com/v1" url:""`
	APIKey     Secret `toml:"api_key"`
	Model      string `toml:"model"`
	Dimensions int    `toml:"dimensions" zero:"the model's own"`
	// The prefixes are nil if they aren't set: then they are what is known of the model.
	QueryPrefix    *string `toml:"query_prefix" example:"\"query: \""`
	DocumentPrefix *string `toml:"document_prefix" example:"\"passage: \""`
}

// Search is the model that reranks.
type Search struct {
	RerankURL     string   `toml:"rerank_url" url:"optional"`
	RerankKey     Secret   `toml:"rerank_key"`
	RerankModel   string   `toml:"rerank_model"`
	Rewrite       bool     `toml:"rewrite"`
	RerankTimeout Duration `toml:"rerank_timeout" default:"2s" such:"2s"`
}

// Memory is what is remembered, and how it is cut into sessions.
type Memory struct {
	Start          string   `toml:"start" default:"ask" one:"ask,on"`
	KeyFile        string   `toml:"key_file"`
	LogBots        bool     `toml:"log_bots"`
	AgeRestricted  bool     `toml:"age_restricted"`
	Direct         bool     `toml:"direct"`
	Pictures       int      `toml:"pictures" zero:"none"`
	Retention      Duration `toml:"retention"`
	TraceRetention Duration `toml:"trace_retention" default:"7d"`
	RecordsAge     Duration `toml:"records_retention" default:"90d"`
	RecordsMax     int      `toml:"records_max" default:"1000" zero:"no limit"`
	RecordsTokens  int      `toml:"records_tokens" default:"150000" zero:"no limit"`
	CatchUp        Duration `toml:"catch_up" default:"30d"`
	Reconcile      bool     `toml:"reconcile" default:"true"`
	EditAnswers    bool     `toml:"edit_answers" default:"true"`
	IndexLimit     int      `toml:"index_limit" default:"64"`
	SessionGap     Duration `toml:"session_gap" default:"30m" such:"30m"`
	SessionTurns   int      `toml:"session_turns" default:"45"`
	CondenseTurns  int      `toml:"condense_turns" default:"32"`
	Summaries      string   `toml:"summaries" default:"model" one:"model,extract,off"`
}

// KeepPrompts returns how long prompts are kept; 0 means that none are.
func (m Memory) KeepPrompts() time.Duration {
	if m.Retention.Duration > 0 {
		return min(m.TraceRetention.Duration, m.Retention.Duration)
	}
	return m.TraceRetention.Duration
}

// KeepRecords returns how long records of calls are kept; 0 means that none are.
func (m Memory) KeepRecords() time.Duration {
	if m.Retention.Duration > 0 {
		return min(m.RecordsAge.Duration, m.Retention.Duration)
	}
	return m.RecordsAge.Duration
}

// Builder is the layout and size of prompts.
type Builder struct {
	Layout          string   `toml:"layout" default:"sections" one:"sections,plain,chat"`
	MaxTokens       int      `toml:"max_tokens" zero:"the layout's own"`
	MaxContextChars int      `toml:"max_context_chars" zero:"no limit"`
	Citations       bool     `toml:"citations" default:"true"`
	LineChars       int      `toml:"line_chars" default:"150"`
	DataChars       int      `toml:"data_chars" default:"100"`
	Language        string   `toml:"language" default:"en"`
	Emoji           bool     `toml:"emoji" default:"true"`
	Sections        Sections `toml:"sections" example:"history = { priority = 1, floor = 300, ceiling = 1600, modes = \"search, analysis\" }"`
	Labels          Labels   `toml:"labels" example:"history = \"💬 Relevant History\""`
}

// Answer is how Hark answers.
type Answer struct {
	Persona    string   `toml:"persona"`
	Timezone   string   `toml:"timezone" default:"UTC"`
	ToolRounds int      `toml:"tool_rounds" default:"4" zero:"no tools"`
	ToolTokens int      `toml:"tool_tokens" zero:"as many as a prompt"`
	ToolTime   Duration `toml:"tool_time" default:"1m" such:"1m"`
}

// Tools are the tools of other programs.
type Tools struct {
	MCP []MCP `toml:"mcp"`
}

// MCP is a server of the Model Context Protocol: a program to start, or an address.
type MCP struct {
	Name          string    `toml:"name" example:"\"weather\""`
	Command       string    `toml:"command" example:"\"npx\""`
	Args          Words     `toml:"args" example:"[\"-y\", \"weather-server\"]"`
	Env           Variables `toml:"env" example:"{ WEATHER_KEY = \"…\" }"`
	Address       string    `toml:"address" url:"optional" example:"\"https://weather.example.org/mcp\""`
	Key           Secret    `toml:"api_key" example:"\"\""`
	KeyFile       string    `toml:"api_key_file" example:"\"/run/secrets/weather_key\""`
	KeyEnv        string    `toml:"api_key_env" example:"\"WEATHER_KEY\""`
	TrustReadOnly bool      `toml:"trust_read_only" example:"false"`
	Timeout       Duration  `toml:"timeout" such:"20s" example:"\"20s\""`
}

// Words are the arguments of a program.
type Words []string

// Asking limits how much may be asked.
type Asking struct {
	MemberMessages int `toml:"member_messages" default:"10" zero:"no limit"`
	MemberTokens   int `toml:"member_tokens" default:"500000" zero:"no limit"`
	GuildMessages  int `toml:"guild_messages" default:"60" zero:"no limit"`
	GuildTokens    int `toml:"guild_tokens" default:"2000000" zero:"no limit"`
}

// Location returns the time zone. Load has checked that it exists.
func (a Answer) Location() *time.Location {
	zone, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Log is how much is logged and in which form.
type Log struct {
	Level  string `toml:"level" default:"info" one:"debug,info,warn,error"`
	Format string `toml:"format" default:"auto" one:"auto,text,json"`
}

// Web is the HTTP server for health checks and the inspection page.
type Web struct {
	Listen      string `toml:"listen" default:"127.0.0.1:8765"`
	Inspect     bool   `toml:"inspect"`
	MCP         bool   `toml:"mcp"`
	URL         string `toml:"url" url:"optional" example:"https://hark.example.org"`
	Password    Secret `toml:"password"`
	ProxyHeader string `toml:"proxy_header" example:"X-Forwarded-User"`
}

// Duration is a time.Duration written as "90s", "1h30m" or "30d".
type Duration struct{ time.Duration }

// Fallback is the model to ask when another fails.
type Fallback struct {
	Model       string   `toml:"model"`
	BaseURL     string   `toml:"base_url" url:"optional"`
	APIKey      Secret   `toml:"api_key"`
	Vision      bool     `toml:"vision"`
	Temperature *float64 `toml:"temperature" example:"0.7"`
	Headers     Headers  `toml:"headers" example:"{ \"X-Title\" = \"Hark\" }"`
	Thinking    string   `toml:"thinking" one:"auto,off,low,medium,high" zero:"as llm.thinking"`
	Extra       Extra    `toml:"extra" example:"{ top_k = 40 }"`
	AtOnce      int      `toml:"at_once" zero:"Hark's own choice by the server"`
}

// Headers are sent with every request to a server. Their values may be secret.
type Headers map[string]Secret

// Variables are environment variables of a program. Their values may be secret, and have several lines.
type Variables map[string]Secret

// Model is a model that people can choose instead of the default.
type Model struct {
	Name        string   `toml:"name" example:"\"local\""`
	Model       string   `toml:"model" example:"\"qwen3:8b\""`
	BaseURL     string   `toml:"base_url" url:"" example:"\"http://localhost:11434/v1\""`
	APIKey      Secret   `toml:"api_key" example:"\"\""`
	APIKeyFile  string   `toml:"api_key_file" example:"\"/run/secrets/local_key\""`
	APIKeyEnv   string   `toml:"api_key_env" example:"\"LOCAL_KEY\""`
	Window      int      `toml:"window" zero:"what is known of the model" example:"8192"`
	Vision      bool     `toml:"vision" example:"false"`
	Temperature *float64 `toml:"temperature" example:"0.7"`
	Headers     Headers  `toml:"headers" example:"{ \"X-Title\" = \"Hark\" }"`
	Thinking    string   `toml:"thinking" one:"auto,off,low,medium,high" zero:"as llm.thinking" example:"\"off\""`
	Extra       Extra    `toml:"extra" example:"{ top_k = 40 }"`
	AtOnce      int      `toml:"at_once" zero:"Hark's own choice by the server" example:"2"`
}

func itemOf(list string, item int) string { return fmt.Sprintf("%s[%d]", list, item) }
