package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longestOperator is how many characters may say who runs Hark, so that there is room for the rest of what /privacy shows.
const longestOperator = 300

// check notes every value that is of its type but can't be used.
func (s *settings) check() {
	c := s.config
	if c.Web.Listen == "off" {
		c.Web.Listen = ""
	}
	const (
		address  = `an address that begins with http:// or https://`
		positive = "a number above 0"
		lasting  = `a time above 0, such as "30m"`
	)
	s.want(c.Data != "", "data", `a directory, such as "./data"`)
	s.want(c.Discord.APIURL == "" || isHTTP(c.Discord.APIURL), "discord.api_url", address+", or nothing")
	s.want(c.Discord.DevGuild == "" || c.Discord.Guild() > 0, "discord.dev_guild", `a server's id, such as "81384788765712384", or nothing`)
	c.Discord.Operator = strings.Join(strings.Fields(c.Discord.Operator), " ")
	s.want(utf8.RuneCountInString(c.Discord.Operator) <= longestOperator, "discord.operator", "at most "+strconv.Itoa(longestOperator)+" characters")
	s.want(isHTTP(c.LLM.BaseURL), "llm.base_url", address)
	s.want(c.LLM.MaxTokens > 0, "llm.max_tokens", positive)
	s.want(c.LLM.Window >= 0, "llm.window", "a number above 0, or 0 for what is known of the model")
	t := c.LLM.Temperature
	s.want(t == nil || *t >= 0 && *t <= 2, "llm.temperature", "a number from 0 to 2")
	s.want(c.LLM.Timeout.Duration > 0, "llm.timeout", lasting)
	s.checkModels(c.LLM)
	s.want(isHTTP(c.Embedding.BaseURL), "embedding.base_url", address)
	s.want(c.Embedding.Dimensions >= 0, "embedding.dimensions", "a number above 0, or 0 for the model's own")
	s.want(c.Search.RerankURL == "" || isHTTP(c.Search.RerankURL), "search.rerank_url", address+", or nothing")
	s.want(c.Search.RerankTimeout.Duration > 0, "search.rerank_timeout", `a time above 0, such as "2s"`)
	s.wantOneOf(c.Memory.Start, "memory.start", "ask", "on")
	const span = `a time such as "30d" or "12h", or 0`
	s.want(c.Discord.AnswerMissed.Duration >= 0, "discord.answer_missed", span)
	keep := c.Memory.Retention.Duration
	s.want(keep == 0 || keep >= 24*time.Hour, "memory.retention", `at least a day, such as "180d" ("m" means minutes), or 0 to forget nothing because of its age`)
	s.want(c.Memory.TraceRetention.Duration >= 0, "memory.trace_retention", span)
	s.want(c.Memory.RecordsAge.Duration >= 0, "memory.records_retention", span)
	s.want(c.Memory.RecordsMax >= 0, "memory.records_max", "a number above 0, or 0 for no limit")
	s.want(c.Memory.RecordsTokens >= 0, "memory.records_tokens", "a number above 0, or 0 for no limit")
	s.want(c.Memory.CatchUp.Duration >= 0, "memory.catch_up", span)
	s.want(c.Memory.IndexLimit > 0, "memory.index_limit", positive)
	s.want(c.Memory.SessionGap.Duration > 0, "memory.session_gap", lasting)
	s.wantOneOf(c.Memory.Summaries, "memory.summaries", "model", "extract", "off")
	s.wantOneOf(c.Builder.Layout, "builder.layout", "sections", "plain", "chat")
	s.want(c.Builder.MaxTokens > 0, "builder.max_tokens", positive)
	s.want(c.Builder.LineChars > 0, "builder.line_chars", positive)
	s.want(c.Builder.DataChars > 0, "builder.data_chars", positive)
	s.want(c.Builder.CacheTTL.Duration > 0, "builder.cache_ttl", `a time above 0, such as "5m"`)
	c.Builder.Language = languageOf(c.Builder.Language)
	s.wantOneOf(c.Builder.Language, "builder.language", languages...)
	s.want(c.Builder.MaxContextChars >= 0, "builder.max_context_chars", "a number above 0, or 0 for no limit")
	s.checkSections(c.Builder.Sections)
	s.want(isZone(c.Answer.Timezone), "answer.timezone", `the IANA name of a time zone, such as "UTC" or "Europe/Berlin"`)
	const limit = "a number above 0, or 0 for no limit"
	s.want(c.Limits.MemberMessages >= 0, "limits.member_messages", limit)
	s.want(c.Limits.MemberTokens >= 0, "limits.member_tokens", limit)
	s.want(c.Limits.GuildMessages >= 0, "limits.guild_messages", limit)
	s.want(c.Limits.GuildTokens >= 0, "limits.guild_tokens", limit)
	s.want(c.Answer.ToolRounds >= 0, "answer.tool_rounds", "a number above 0, or 0 for no tools")
	s.want(c.Answer.ToolTokens >= 0, "answer.tool_tokens", "a number above 0, or 0 for as many as a prompt")
	s.want(c.Answer.ToolTime.Duration > 0, "answer.tool_time", `a time above 0, such as "1m"`)
	s.wantOneOf(c.Log.Level, "log.level", "debug", "info", "warn", "error")
	s.wantOneOf(c.Log.Format, "log.format", "auto", "text", "json")
	s.want(c.Web.Listen == "" || isListen(c.Web.Listen), "web.listen",
		`a host and port, such as "127.0.0.1:8765", or "off"`)
}

// want notes what the setting at a place (see marks) should be. The value itself stays out of the message: an address may hold a
// password.
func (s *settings) want(ok bool, place, what string) {
	if ok {
		return
	}
	where, said := s.from[place]
	if !said { // it is missing: then the position is that of its section
		where = s.from[place[:max(0, strings.LastIndexByte(place, '.'))]]
	}
	s.problem(where, "%s wants %s", itemNumber.ReplaceAllString(place, ""), what)
}

func (s *settings) wantOneOf(value, key string, known ...string) {
	if slices.Contains(known, value) {
		return
	}
	what := strconv.Quote(known[0])
	for _, k := range known[1 : len(known)-1] {
		what += ", " + strconv.Quote(k)
	}
	s.want(false, key, what+" or "+strconv.Quote(known[len(known)-1]))
}

func isHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return name != "" && err == nil
}

func isListen(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
