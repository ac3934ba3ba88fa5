// Package config reads what the operator decides: one TOML file, overridden key by key by the environment.
// What it returns has been checked, so that nobody else needs to: every value is of its type and in its range.
// A key or variable that Hark doesn't know is an error, never ignored; a secret never prints itself.
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

// Config is every setting. Default, Example, Reference and the checks are made from the tags. A number is above 0,
// or 0 for what "zero" says; a time with "such" is above 0.
type Config struct {
	Data      string    `toml:"data" default:"./data" help:"Where everything is kept: one directory, created if need be. Back it up and keep it private."`
	Discord   Discord   `toml:"discord" help:"The bot's account at Discord."`
	LLM       LLM       `toml:"llm" help:"The model that writes answers: any server that speaks OpenAI's protocol."`
	Embedding Embedding `toml:"embedding" help:"What finds messages by their meaning. The built-in embedder needs no server and sends nothing anywhere."`
	Search    Search    `toml:"search" help:"A model that puts what was found into a better order. There need be none."`
	Memory    Memory    `toml:"memory" help:"What is remembered."`
	Builder   Builder   `toml:"builder" help:"How what was recalled is laid out for the model."`
	Answer    Answer    `toml:"answer" help:"How Hark answers."`
	Limits    Asking    `toml:"limits" help:"How much may be asked, so that a flood costs little. Those who manage a server can decide otherwise for its members and roles with \"/hark limits\", and allow less for all of it. 0: without limit."`
	Log       Log       `toml:"log" help:"What Hark tells its operator, on standard error. Neither messages nor secrets are ever logged."`
	Web       Web       `toml:"web" help:"The address for health checks."`
}

// Discord is how Hark reaches Discord.
type Discord struct {
	Token  Secret `toml:"token" help:"The bot's token, from the Bot page of the developer portal. Better kept in HARK_DISCORD_TOKEN, or in the file that HARK_DISCORD_TOKEN_FILE names."`
	APIURL string `toml:"api_url" url:"optional" help:"Where Discord's API is, for those behind a proxy. Empty: at Discord."`
	// DevGuild is the id of a guild, in decimal, or empty; Guild is the number.
	DevGuild     string   `toml:"dev_guild" help:"The id of the only server that is shown Hark's commands, for those who change Hark: there they change at once. Use an application of its own for that: while this is set, no other server and no direct message has the commands, so that nothing is shown twice. When it is empty again, all have them after the next start, and that server's own are removed, if the bot is in at most 20 servers. Empty: all servers."`
	AnswerMissed Duration `toml:"answer_missed" default:"10m" help:"How old a question may be that was asked while Hark was away, or whose answer was cut short when it ended, to be answered after the start. Older ones aren't answered. 0: none are."`
	// Operator is for people to read, as /privacy shows it.
	Operator string `toml:"operator" help:"Who runs this Hark and how they can be reached, in a sentence, as \"/privacy\" shows it to members: a name, an address or a link. Empty: it says that nobody has said so."`
}

// Guild is DevGuild as a number; 0 if there is none.
func (d Discord) Guild() uint64 {
	id, _ := strconv.ParseUint(d.DevGuild, 10, 63) // Load has seen that it is one
	return id
}

// LLM is the model that writes answers.
type LLM struct {
	BaseURL     string   `toml:"base_url" default:"https://api.openai.com/v1" url:"" help:"The server, up to and including /v1. Ollama: http://localhost:11434/v1. Nothing is sent there while no model is named."`
	APIKey      Secret   `toml:"api_key" help:"The server's key. Empty: none is sent."`
	Model       string   `toml:"model" help:"The model's name, as the server knows it. Empty: no model; Hark answers by quoting what it recalled."`
	MaxTokens   int      `toml:"max_tokens" default:"1000" help:"The longest answer, in tokens."`
	Window      int      `toml:"window" zero:"what is known of the model" help:"How many tokens the model, as it is served, takes for prompt and answer together. 0: as known by the model's name, for OpenAI's; for others it isn't known, and a prompt that is refused for its length is sent once more, smaller."`
	Temperature *float64 `toml:"temperature" help:"How freely the model writes, from 0 to 2. Left out: as the server likes." example:"0.7"`
	Timeout     Duration `toml:"timeout" default:"1m" such:"30m" help:"How long the model may be silent, before its answer and within it."`
	Vision      bool     `toml:"vision" help:"Whether the model can see: only then is it sent images."`
	Headers     Headers  `toml:"headers" help:"Sent with every request to the server, besides those that the protocol needs, such as OpenRouter's HTTP-Referer and X-Title. The values are kept like secrets. In the variable HARK_LLM_HEADERS, or in the file that HARK_LLM_HEADERS_FILE names, a line each: X-Title: Hark." example:"{ \"HTTP-Referer\" = \"https://example.org\", \"X-Title\" = \"Hark\" }"`
	Models      []Model  `toml:"models" help:"Further models that people can choose among; llm.model is the default. One section each. They have llm.max_tokens and llm.timeout, and no environment variables."`
	Fallback    Fallback `toml:"fallback" help:"A model that is asked where another failed before it wrote anything. Each server that fails several times is left alone for a while, and the fallback is asked at once."`
}

// Embedding is the model that turns texts into vectors.
type Embedding struct {
	BaseURL        string `toml:"base_url" default:"https://api.openai.com/v1" url:"" help:"The server, up to and including /v1. Nothing is sent there while no model is named."`
	APIKey         Secret `toml:"api_key" help:"The server's key. Empty: none is sent."`
	Model          string `toml:"model" help:"The embedding model's name, as the server knows it. Empty: the built-in embedder."`
	Dimensions     int    `toml:"dimensions" zero:"the model's own" help:"The vectors' length, for models that offer several. 0: the model's own."`
	QueryPrefix    string `toml:"query_prefix" help:"What the model wants before a question, such as \"query: \"."`
	DocumentPrefix string `toml:"document_prefix" help:"What the model wants before a text that is to be found, such as \"passage: \"."`
}

// Search is the model that reranks.
type Search struct {
	RerankURL     string   `toml:"rerank_url" url:"optional" help:"The reranker: the whole address, up to and including /rerank, of Text Embeddings Inference, llama.cpp, Jina, Cohere or another that speaks like them. The question and the 50 best excerpts go there. Empty: none."`
	RerankKey     Secret   `toml:"rerank_key" help:"The reranker's key. Empty: none is sent."`
	RerankModel   string   `toml:"rerank_model" help:"The reranking model's name, as the server knows it. Empty: none is named, for servers that have only one."`
	Rewrite       bool     `toml:"rewrite" help:"Whether the model first rewrites questions that can't be understood alone, such as \"what about the second one?\", so that they are searched for better. It is asked once more for them, with the last few messages, for at most 5 seconds. If not, such a question is searched for with the words of what was said before it."`
	RerankTimeout Duration `toml:"rerank_timeout" default:"2s" such:"2s" help:"How long the reranker may take. After that, or if it fails, the order is Hark's own."`
}

// Memory is what is remembered and how it is cut.
type Memory struct {
	Start          string   `toml:"start" default:"ask" one:"ask,on" help:"What happens when Hark comes to a server: \"ask\" its admins what to remember, and remember nothing until they have chosen, or \"on\": remember all channels that Hark can read."`
	LogBots        bool     `toml:"log_bots" help:"Whether other bots' and webhooks' messages are remembered."`
	AgeRestricted  bool     `toml:"age_restricted" help:"Whether age-restricted channels are remembered like others. If not, only those that an admin has chosen by name are."`
	Direct         bool     `toml:"direct" help:"Whether direct messages to Hark are remembered. They are recalled in the same direct message only."`
	Retention      Duration `toml:"retention" help:"How long messages and lore are remembered, such as \"365d\": at least a day. Older ones are forgotten. 0: without end."`
	TraceRetention Duration `toml:"trace_retention" default:"7d" help:"How long it is kept what the model was sent for each answer, for \"hark trace\", but no longer than retention. It goes sooner with anything that is forgotten. 0: it isn't kept, only the numbers are."`
	RecordsAge     Duration `toml:"records_retention" default:"90d" help:"How long it is kept which calls were made for each question, and how they came out, in ids and numbers, for the model's tool conversation_history, but no longer than retention. They go sooner with the question, the answer and whoever asked. 0: none are kept."`
	RecordsMax     int      `toml:"records_max" default:"1000" zero:"no limit" help:"How many of them are kept of each channel: the newest. 0: only records_retention and records_tokens limit them."`
	RecordsTokens  int      `toml:"records_tokens" default:"150000" zero:"no limit" help:"How many tokens a channel's records may cost a model that reads them all; the newest are kept. 0: only the others limit them."`
	CatchUp        Duration `toml:"catch_up" default:"30d" help:"How far back Hark fetches what was said while it was away. 0: nothing is fetched."`
	Reconcile      bool     `toml:"reconcile" default:"true" help:"Whether Hark compares what it remembers with Discord after it was away, to learn of edits and deletions."`
	EditAnswers    bool     `toml:"edit_answers" default:"true" help:"Whether answers that used what was forgotten are edited in Discord to say so, and those whose question was deleted go."`
	IndexLimit     int      `toml:"index_limit" default:"128" help:"How much memory the vectors of the servers asked about may take, in megabytes. Those not asked about for longest make room."`
	SessionGap     Duration `toml:"session_gap" default:"30m" such:"30m" help:"A channel silent for this long begins a new session: what was said before then is recalled, not continued."`
	SessionTurns   int      `toml:"session_turns" default:"45" help:"How many turns of the session the model is shown at most, as far as the prompt has room: what somebody says in one go is one. 15 is enough for a small model."`
	CondenseTurns  int      `toml:"condense_turns" default:"32" help:"From how many turns on the older part of a session is condensed, if it doesn't fill its part of the prompt before; see summaries. 10 suits a small model."`
	Summaries      string   `toml:"summaries" default:"model" one:"model,extract,off" help:"Whether sessions that have ended are summed up, for later questions in the same channel. \"model\": those in which Hark was asked something by the model, if there is one, with one call for each, of the session's length; all others by their most informative messages, which costs nothing. The older part of a long session that goes on is condensed by the model as well, after an answer. \"extract\": all of them so, and the model is never asked; what a long session has no room for is cut off. \"off\": nothing is summed up, and no summary used."`
}

// KeepPrompts is how long it is kept what the model was sent; 0 if it isn't.
func (m Memory) KeepPrompts() time.Duration {
	if m.Retention.Duration > 0 {
		return min(m.TraceRetention.Duration, m.Retention.Duration)
	}
	return m.TraceRetention.Duration
}

// KeepRecords is how long records of calls are kept; 0 if they aren't.
func (m Memory) KeepRecords() time.Duration {
	if m.Retention.Duration > 0 {
		return min(m.RecordsAge.Duration, m.Retention.Duration)
	}
	return m.RecordsAge.Duration
}

// Builder is the layout and size of prompts.
type Builder struct {
	Layout          string   `toml:"layout" default:"sections" one:"sections,plain,chat" help:"The prompt's form: \"sections\", \"plain\" or \"chat\", which gives the session as messages of its own. \"plain\" is for small models: it is short, has no instructions for the mode that a question is answered in, and no numbers to cite, so that answers name no sources."`
	MaxTokens       int      `toml:"max_tokens" zero:"the layout's own" help:"The longest prompt, in tokens. 0: 4,000, or 700 with layout \"plain\". Where it doesn't fit the model's window beside llm.max_tokens it is shorter. For models other than OpenAI's, tokens are estimated, rather too many than too few."`
	MaxContextChars int      `toml:"max_context_chars" zero:"no limit" help:"The most characters of recalled history in a prompt. 0: only max_tokens limits it."`
	Citations       bool     `toml:"citations" default:"true" help:"Whether what was found has numbers, and the model is told to cite them, so that answers name their sources. The layout \"plain\" has none."`
	LineChars       int      `toml:"line_chars" default:"150" help:"How many characters of what was found are shown at first, and four fifths of them of what was said beside it. Where there is room they are shown in full, the best first."`
	DataChars       int      `toml:"data_chars" default:"100" help:"The same for what is known of a person."`
	Language        string   `toml:"language" default:"en" help:"The language of the labels round what was recalled, and of Hark's own sentences in answers: \"en\", \"de\", \"fr\", \"es\", \"ja\" or \"zh-TW\". What a model writes is in the question's, whatever this is. Admins can set another."`
	Emoji           bool     `toml:"emoji" default:"true" help:"Whether the labels have emoji. If not, marks such as 🔥 are words, such as \"(high)\", and all signs are plain: for models, logs and terminals that don't cope with them."`
	Sections        Sections `toml:"sections" help:"What the sections may take of a prompt of 4,000 tokens (layout plain: of 700). They grow and shrink with max_tokens. What one section leaves goes to the others, those with a higher priority first. Each has a priority, a floor (what it may have before any other has more than its floor), a ceiling (0: it is left out) and modes (those in which it is there, such as \"search, analysis\"; empty: all).\ncurrent_session: priority 3, floor 300, ceiling 1400 (plain: 0 and 200). participants: priority 2, floor 100, ceiling 500 (plain has none). history: priority 1, floor 300, ceiling 1600 (plain: 0 and 300). previous_context: priority 0, floor 0, ceiling 400 (plain: 90 and 300). lore: priority 0, floor 0, ceiling 400 (plain: 0 and 100). These three have 300 together in plain, or the largest of their ceilings. files: priority 4, floor 0, ceiling 2000 (plain: 0 and 350). system_prompt and current_query are always there: ceiling 1000 (plain: 100). What no section can use goes to system_prompt too, unless its ceiling is another." example:"history = { priority = 1, floor = 300, ceiling = 1600, modes = \"search, analysis\" }"`
	Labels          Labels   `toml:"labels" help:"Labels of your own in the place of the language's. \"none\": nothing, for a mark or a sign that you don't want. Spaces count. A label is part of one line and has no === in it.\nTitles: participants, history, earlier (of the summaries of earlier sessions), condensed (of the older part of this one), lore. Times: just_now, minute, minutes (with %d for the number), hour, hours, day, days. Marks: high, medium, low, involved, recent, starred; earlier_mark. Others: person and data_mark (before who takes part and what is known of them), last_active, data, neighbour (before what was said beside a message that was found), no_text, more (with %d), more_one, nothing." example:"history = \"💬 Relevant History\""`
}

// Answer is how Hark answers.
type Answer struct {
	Persona    string   `toml:"persona" help:"Who Hark is and how it speaks, in your own words. Empty: helpful and plain."`
	Timezone   string   `toml:"timezone" default:"UTC" help:"The zone of the times that Hark speaks of, by its IANA name, such as \"Europe/Berlin\"."`
	ToolRounds int      `toml:"tool_rounds" default:"4" zero:"no tools" help:"How often the model may call tools for one answer: to search again, to look people and lore up, to propose what to remember. 0: it is given none. One that takes none works without."`
	ToolTokens int      `toml:"tool_tokens" zero:"as many as a prompt" help:"The most tokens that the calls of tools and what they tell may have, for one answer. 0: as many as a prompt. Where they don't fit the model's window beside prompt and answer there are fewer."`
	ToolTime   Duration `toml:"tool_time" default:"1m" such:"1m" help:"How long after its first call the model may go on calling tools. After that it answers with what it has."`
}

// Asking is how much may be asked.
type Asking struct {
	MemberMessages int `toml:"member_messages" default:"10" zero:"no limit" help:"How many questions a member may ask within a minute. More aren't answered."`
	MemberTokens   int `toml:"member_tokens" default:"500000" zero:"no limit" help:"How many tokens the model may read and write for a member's questions in a day of UTC. After that they are answered by quotes."`
	GuildMessages  int `toml:"guild_messages" default:"60" zero:"no limit" help:"How many questions all of a server may ask within a minute. It holds in servers only: in direct messages only a member's limits do."`
	GuildTokens    int `toml:"guild_tokens" default:"2000000" zero:"no limit" help:"How many tokens the model may read and write for all of a server in a day of UTC. A question takes about builder.max_tokens and as much as its answer, and more with tools."`
}

// Location is the time zone. Load has seen that it exists.
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
	Listen string `toml:"listen" default:"127.0.0.1:8765" help:"The host and port that serve /healthz, /readyz and /metrics. With 0.0.0.0 as the host, other machines can ask too. \"off\" or empty: nowhere, and the container's own health check fails."`
}

// Duration is a time.Duration that is written as "90s", "1h30m" or "30d".
type Duration struct{ time.Duration }

// Default is what holds where nothing else is said: the fields' tags have it.
func Default() Config {
	c := Config{Builder: Builder{Sections: Sections{}, Labels: Labels{}}}
	for _, f := range variables(&c) {
		if text, has := f.tag.Lookup("default"); has {
			f.set(f.fromText(text))
		}
	}
	return c
}

// Load reads the file at path and then the environment, which env looks up as os.LookupEnv does. With path
// empty it is the file that HARK_CONFIG names, or else DefaultFile if that exists. The error tells all that is
// wrong, a line each. Load can't see variables it doesn't ask for: CheckEnv finds the misspelt ones.
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

// LoadText is Load of a file with that name and text.
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

// settings is a configuration while it is read.
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

// Find is the file that Load reads, and whether it was named rather than the default. It needn't exist.
func Find(path string, env func(string) (string, bool)) (file string, named bool) {
	if path != "" {
		return path, true
	}
	if path, named = lookup(env, "HARK_CONFIG"); named {
		return path, true
	}
	return DefaultFile, false
}
