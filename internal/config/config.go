// Package config reads the operator's configuration: a TOML file, whose keys environment variables override.
// Every value that it returns has been checked for type and range. Unknown keys and variables are errors. A
// secret never prints itself.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// DefaultFile is read when no file is named. It needn't exist.
const DefaultFile = "config.toml"

// Config holds every setting. Default, Example, Reference and the checks come from the tags. A number is above
// 0, or 0 for what "zero" says; a time with "such" is above 0.
type Config struct {
	Data      string    `toml:"data" default:"./data" help:"Where everything is kept: one directory, created if need be. Back it up and keep it private."`
	Discord   Discord   `toml:"discord" help:"The bot's account at Discord."`
	LLM       LLM       `toml:"llm" help:"The model that writes answers: any server that speaks OpenAI's protocol."`
	Embedding Embedding `toml:"embedding" help:"What finds messages by their meaning. The built-in embedder needs no server and sends nothing anywhere."`
	Search    Search    `toml:"search" help:"The search, and an optional model that puts what was found into a better order."`
	Memory    Memory    `toml:"memory" help:"What is remembered."`
	Builder   Builder   `toml:"builder" help:"How what was recalled is laid out for the model."`
	Answer    Answer    `toml:"answer" help:"How Hark answers."`
	Limits    Asking    `toml:"limits" help:"How much may be asked. Admins can set other limits for members and roles with \"/hark limits\", and a lower one for the whole server. 0: no limit."`
	Log       Log       `toml:"log" help:"What Hark logs, on standard error. It never logs messages or secrets."`
	Web       Web       `toml:"web" help:"The address for health checks and metrics."`
}

// Discord is the bot's account.
type Discord struct {
	Token  Secret `toml:"token" help:"The bot's token, from the Bot page of the developer portal. It is safer in HARK_DISCORD_TOKEN, or in a file that HARK_DISCORD_TOKEN_FILE names."`
	APIURL string `toml:"api_url" url:"optional" help:"The address of Discord's API, if you use a proxy. Empty: Discord's own."`
	// DevGuild is the id of a guild, in decimal, or empty; Guild is the number.
	DevGuild     string   `toml:"dev_guild" help:"For development: the id of the only server that gets Hark's commands. Changed commands appear there at once. Use a separate application, because other servers and direct messages have no commands while this is set. Once it is empty again, the next start gives the commands to all, and removes that server's own if the bot is in at most 20 servers. Empty: all servers."`
	AnswerMissed Duration `toml:"answer_missed" default:"10m" help:"After a start, Hark answers questions that it missed or didn't finish, if they are no older than this. 0: it answers none of them."`
	// Operator is the text that /privacy shows.
	Operator string `toml:"operator" help:"Who runs this Hark and how to reach them, in a sentence that \"/privacy\" shows to members: a name, an address or a link. Empty: \"/privacy\" says that it isn't known."`
}

// Guild is DevGuild as a number; 0 if there is none.
func (d Discord) Guild() uint64 {
	id, _ := strconv.ParseUint(d.DevGuild, 10, 63) // Load has seen that it is one
	return id
}

// LLM is the model that writes answers.
type LLM struct {
	BaseURL     string   `toml:"base_url" default:"https://api.openai.com/v1" url:"" help:"The server, up to and including /v1. Ollama: http://localhost:11434/v1. Hark sends nothing there unless a model is named."`
	APIKey      Secret   `toml:"api_key" help:"The server's key. Empty: none is sent."`
	Model       string   `toml:"model" help:"The model's name, as the server knows it. Empty: no model; Hark answers by quoting what it recalled."`
	MaxTokens   int      `toml:"max_tokens" default:"1000" help:"The longest answer, in tokens."`
	Window      int      `toml:"window" zero:"what is known of the model" help:"How many tokens the model's server accepts for prompt and answer together. 0: Hark knows it for OpenAI's models. For others, if the server refuses a prompt for its length, Hark sends a smaller one."`
	Temperature *float64 `toml:"temperature" help:"How freely the model writes, from 0 to 2. Left out: the server's default." example:"0.7"`
	Timeout     Duration `toml:"timeout" default:"1m" such:"30m" help:"How long the model may be silent, before its answer and within it."`
	Vision      bool     `toml:"vision" help:"Whether the model can see images. If not, Hark sends it none."`
	Headers     Headers  `toml:"headers" help:"Further headers for every request to the server, such as OpenRouter's HTTP-Referer and X-Title. Their values count as secrets. In the variable HARK_LLM_HEADERS, or in the file that HARK_LLM_HEADERS_FILE names, write one a line: X-Title: Hark." example:"{ \"HTTP-Referer\" = \"https://example.org\", \"X-Title\" = \"Hark\" }"`
	Models      []Model  `toml:"models" help:"Further models that people can choose, one section each. llm.model is the default. llm.max_tokens and llm.timeout apply to all. There are no environment variables for them."`
	Fallback    Fallback `toml:"fallback" help:"The model that Hark asks if another fails before it has written anything. If a server fails several times, Hark asks the fallback at once for a while."`
}

// Embedding is the model that turns texts into vectors.
type Embedding struct {
	BaseURL        string `toml:"base_url" default:"https://api.openai.com/v1" url:"" help:"The server, up to and including /v1. Hark sends nothing there unless a model is named."`
	APIKey         Secret `toml:"api_key" help:"The server's key. Empty: none is sent."`
	Model          string `toml:"model" help:"The embedding model's name, as the server knows it. Empty: the built-in embedder."`
	Dimensions     int    `toml:"dimensions" zero:"the model's own" help:"The vectors' length, for models that offer several. 0: the model's own."`
	QueryPrefix    string `toml:"query_prefix" help:"The text that the model needs before a question, such as \"query: \"."`
	DocumentPrefix string `toml:"document_prefix" help:"The text that the model needs before a stored text, such as \"passage: \"."`
}

// Search is the model that reranks.
type Search struct {
	RerankURL     string   `toml:"rerank_url" url:"optional" help:"The reranker: the whole address, up to and including /rerank, of Text Embeddings Inference, llama.cpp, Jina, Cohere or a compatible one. It gets the question and the 50 best excerpts. Empty: none."`
	RerankKey     Secret   `toml:"rerank_key" help:"The reranker's key. Empty: none is sent."`
	RerankModel   string   `toml:"rerank_model" help:"The reranking model's name, as the server knows it. Empty: none, for servers that have only one model."`
	Rewrite       bool     `toml:"rewrite" help:"Whether the model first rewrites follow-up questions such as \"what about the second one?\", so that the search finds more. That is one more request with the last few messages, of at most 5 seconds. If not, follow-up questions are searched together with the preceding messages."`
	RerankTimeout Duration `toml:"rerank_timeout" default:"2s" such:"2s" help:"How long the reranker may take. If it takes longer or fails, Hark's own order stays."`
}

// Memory is what is remembered, and how it is cut into sessions.
type Memory struct {
	Start          string   `toml:"start" default:"ask" one:"ask,on" help:"What happens when Hark comes to a server: \"ask\" its admins what to remember, and remember nothing until they have chosen, or \"on\": remember all channels that Hark can read."`
	LogBots        bool     `toml:"log_bots" help:"Whether other bots' and webhooks' messages are remembered."`
	AgeRestricted  bool     `toml:"age_restricted" help:"Whether age-restricted channels are remembered like others. If not, Hark remembers only those that an admin has chosen by name."`
	Direct         bool     `toml:"direct" help:"Whether direct messages to Hark are remembered. Hark recalls them only in the same direct message."`
	Retention      Duration `toml:"retention" help:"How long Hark remembers messages and lore, such as \"365d\", and at least a day. It forgets older ones. 0: without end."`
	TraceRetention Duration `toml:"trace_retention" default:"7d" help:"How long Hark keeps what the model was sent for each answer, for \"hark trace\", and no longer than retention. It goes sooner if anything in it is forgotten. 0: Hark keeps only the numbers."`
	RecordsAge     Duration `toml:"records_retention" default:"90d" help:"How long Hark keeps records of the calls for each question and their outcomes, in ids and numbers, for the model's tool conversation_history, and no longer than retention. They go sooner if the question, the answer or whoever asked is forgotten. 0: none."`
	RecordsMax     int      `toml:"records_max" default:"1000" zero:"no limit" help:"How many records a channel keeps at most: the newest. 0: only records_retention and records_tokens limit them."`
	RecordsTokens  int      `toml:"records_tokens" default:"150000" zero:"no limit" help:"How many tokens a channel's records may have together. Hark keeps the newest. 0: only records_retention and records_max limit them."`
	CatchUp        Duration `toml:"catch_up" default:"30d" help:"How far back Hark fetches what was said while it was away. 0: nothing is fetched."`
	Reconcile      bool     `toml:"reconcile" default:"true" help:"Whether Hark, after it was away, compares what it remembers with Discord, to find edits and deletions."`
	EditAnswers    bool     `toml:"edit_answers" default:"true" help:"Whether Hark edits its answers in Discord if they used what was forgotten, and deletes those whose question was deleted."`
	IndexLimit     int      `toml:"index_limit" default:"128" help:"How many megabytes of memory vectors may take. Servers that asked last keep theirs loaded."`
	SessionGap     Duration `toml:"session_gap" default:"30m" such:"30m" help:"After this much silence in a channel, a new session begins. What was said before is then recalled, not continued."`
	SessionTurns   int      `toml:"session_turns" default:"45" help:"How many turns of the session the model gets at most, if the prompt has room. Consecutive messages of one person are one turn. 15 is enough for a small model."`
	CondenseTurns  int      `toml:"condense_turns" default:"32" help:"From this many turns on, the older part of a session is condensed; sooner if it fills its part of the prompt. See summaries. 10 suits a small model."`
	Summaries      string   `toml:"summaries" default:"model" one:"model,extract,off" help:"How ended sessions are summed up for later questions in the same channel. \"model\": the model sums up sessions in which Hark was asked something, with one call for each, and condenses the older part of long sessions after an answer. Other sessions are represented by their most informative messages, which costs nothing. \"extract\": all sessions are, without a model; the older part of a long session is cut off. \"off\": nothing is summed up, and no summary is used."`
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
	Layout          string   `toml:"layout" default:"sections" one:"sections,plain,chat" help:"The form of the prompt. \"sections\" is the default. \"chat\" sends the session as separate messages. \"plain\" is short, for small models: it has no instructions for modes and no numbers to cite, so answers name no sources."`
	MaxTokens       int      `toml:"max_tokens" zero:"the layout's own" help:"The longest prompt, in tokens. 0: 4,000, or 700 with layout \"plain\". It is shorter if prompt and llm.max_tokens don't fit the model's window. For models other than OpenAI's, Hark estimates tokens on the high side."`
	MaxContextChars int      `toml:"max_context_chars" zero:"no limit" help:"The most characters of recalled history in a prompt. 0: only max_tokens limits it."`
	Citations       bool     `toml:"citations" default:"true" help:"Whether the model gets numbers to cite, so that answers name their sources. The layout \"plain\" has none."`
	LineChars       int      `toml:"line_chars" default:"150" help:"How many characters of each message found are shown at first; of its neighbours, four fifths of that. If there is room, the best are shown in full."`
	DataChars       int      `toml:"data_chars" default:"100" help:"The same for the facts about a person."`
	Language        string   `toml:"language" default:"en" help:"The language of the prompt's labels and of Hark's own sentences in answers: \"en\", \"de\", \"fr\", \"es\", \"ja\" or \"zh-TW\". A model answers in the question's language. Admins can set another."`
	Emoji           bool     `toml:"emoji" default:"true" help:"Whether labels have emoji. If not, marks such as 🔥 are words such as \"(high)\", for models, logs and terminals that can't show emoji."`
	Sections        Sections `toml:"sections" help:"What the sections may take of a prompt of 4,000 tokens (layout plain: of 700). They grow and shrink with max_tokens. What one section leaves goes to the others, those with a higher priority first. Each has a priority, a floor (what it may have before any other has more than its floor), a ceiling (0: it is left out) and modes (those in which it is there, such as \"search, analysis\"; empty: all).\ncurrent_session: priority 3, floor 300, ceiling 1400 (plain: 0 and 200). participants: priority 2, floor 100, ceiling 500 (plain has none). history: priority 1, floor 300, ceiling 1600 (plain: 0 and 300). previous_context: priority 0, floor 0, ceiling 400 (plain: 90 and 300). lore: priority 0, floor 0, ceiling 400 (plain: 0 and 100). These three have 300 together in plain, or the largest of their ceilings. files: priority 4, floor 0, ceiling 2000 (plain: 0 and 350). system_prompt and current_query are always there: ceiling 1000 (plain: 100). What no section can use goes to system_prompt too, unless its ceiling is another." example:"history = { priority = 1, floor = 300, ceiling = 1600, modes = \"search, analysis\" }"`
	Labels          Labels   `toml:"labels" help:"Labels of your own in the place of the language's. \"none\": nothing, for a mark or a sign that you don't want. Spaces count. A label is part of one line and has no === in it.\nTitles: participants, history, earlier (of the summaries of earlier sessions), condensed (of the older part of this one), lore. Times: just_now, minute, minutes (with %d for the number), hour, hours, day, days. Marks: high, medium, low, involved, recent, starred; earlier_mark. Others: person and data_mark (before who takes part and what is known of them), last_active, data, neighbour (before what was said beside a message that was found), no_text, more (with %d), more_one, nothing." example:"history = \"💬 Relevant History\""`
}

// Answer is how Hark answers.
type Answer struct {
	Persona    string   `toml:"persona" help:"Who Hark is and how it speaks, in your own words. Empty: helpful and plain."`
	Timezone   string   `toml:"timezone" default:"UTC" help:"The zone of the times that Hark speaks of, by its IANA name, such as \"Europe/Berlin\"."`
	ToolRounds int      `toml:"tool_rounds" default:"4" zero:"no tools" help:"How often the model may call tools for one answer: to search again, look up people and lore, or propose what to remember. 0: it gets no tools. A model that can't use tools works without them."`
	ToolTokens int      `toml:"tool_tokens" zero:"as many as a prompt" help:"How many tokens the calls of tools and their outcomes may have for one answer. 0: as many as a prompt. There are fewer if the model's window has no room."`
	ToolTime   Duration `toml:"tool_time" default:"1m" such:"1m" help:"How long the model may go on calling tools, from its first call. Then it answers with what it has."`
}

// Asking limits how much may be asked.
type Asking struct {
	MemberMessages int `toml:"member_messages" default:"10" zero:"no limit" help:"How many questions a member may ask in a minute. Hark doesn't answer more."`
	MemberTokens   int `toml:"member_tokens" default:"500000" zero:"no limit" help:"How many tokens the model may read and write for a member's questions in a day (UTC). After that, Hark answers with quotes."`
	GuildMessages  int `toml:"guild_messages" default:"60" zero:"no limit" help:"How many questions a whole server may ask in a minute. In direct messages only the member's limits apply."`
	GuildTokens    int `toml:"guild_tokens" default:"2000000" zero:"no limit" help:"How many tokens the model may read and write for a whole server in a day (UTC). A question takes about builder.max_tokens plus its answer, and more with tools."`
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
	Level  string `toml:"level" default:"info" one:"debug,info,warn,error" help:"The least that is logged: \"debug\", \"info\", \"warn\" or \"error\"."`
	Format string `toml:"format" default:"auto" one:"auto,text,json" help:"\"text\" for people, \"json\" for machines, \"auto\" for text on a terminal and JSON elsewhere."`
}

// Web is the HTTP server for health checks.
type Web struct {
	Listen string `toml:"listen" default:"127.0.0.1:8765" help:"The host and port that serve /healthz, /readyz and /metrics. With 0.0.0.0 as the host, other machines can ask too. \"off\" or empty: none, and the container's health check fails."`
}

// Duration is a time.Duration written as "90s", "1h30m" or "30d".
type Duration struct{ time.Duration }

// Default returns the defaults from the fields' tags.
func Default() Config {
	c := Config{Builder: Builder{Sections: Sections{}, Labels: Labels{}}}
	for _, f := range variables(&c) {
		if text, has := f.tag.Lookup("default"); has {
			f.set(f.fromText(text))
		}
	}
	return c
}

// Load reads the file at path and then the environment; env works like os.LookupEnv. An empty path means the
// file named by HARK_CONFIG, or else DefaultFile if that exists. The error lists every problem, a line each.
// Load ignores unknown variables; CheckEnv finds them.
func Load(path string, env func(string) (string, bool)) (Config, error) {
	path, named := Find(path, env)
	data, err := os.ReadFile(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && named:
		return Config{}, fmt.Errorf("read configuration: %w; name a file that exists, or none to go by the defaults", err)
	case err != nil && !missing:
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return LoadText(path, string(data), env)
}

// LoadText is Load for a file with that name and text.
func LoadText(name, text string, env func(string) (string, bool)) (Config, error) {
	c := Default()
	s := newSettings(&c)
	s.parse(name, []byte(text))
	s.readEnv(env)
	s.readKeys(env)
	if len(s.problems) == 0 {
		c.LLM.inherit()
		s.check()
	}
	if err := errors.Join(s.problems...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// settings is a configuration being read.
type settings struct {
	config   *Config
	from     map[string]string // by place (see marks): the position or variable that set it
	secrets  map[string]bool   // the keys of those that a file holds
	problems []error
}

func newSettings(c *Config) *settings {
	return &settings{config: c, from: map[string]string{}, secrets: map[string]bool{}}
}

func (s *settings) problem(where, format string, args ...any) {
	if where != "" {
		where += ": "
	}
	s.problems = append(s.problems, fmt.Errorf(where+format, args...))
}

// Find returns the file that Load reads, and whether it was named rather than the default. It may not exist.
func Find(path string, env func(string) (string, bool)) (file string, named bool) {
	if path != "" {
		return path, true
	}
	if path, named = lookup(env, "HARK_CONFIG"); named {
		return path, true
	}
	return DefaultFile, false
}
