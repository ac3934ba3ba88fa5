package postgres

import (
	"regexp"
	"slices"
	"strings"
)

// Every table but a few is keyed by guild, so that it can be distributed by it. The store's statements don't say so:
// they run in a guild (sqlstore.Querier.In), and inGuild gives each its condition. Those over all guilds have none.

// distributed are the tables that are keyed by guild.
var distributed = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`role channel person message said early_edit tombstone external_id presence
		fulltext text_size segment embedding embedding_next trace opted fact star question gap withdrawn learn
		connection pending_deletion lore summary prompt setting role_limit spent record condensed derived source named
		shown taken rewritten`) {
		distributed[name] = true
	}
}

// afterTable are words after a table that aren't another name for it.
var afterTable = map[string]bool{"": true, "WHERE": true, "JOIN": true, "CROSS": true, "LEFT": true, "FULL": true,
	"ON": true, "GROUP": true, "ORDER": true, "LIMIT": true, "UNION": true, "SET": true, "RETURNING": true}

// inGuild restricts a statement to a guild, which is an expression: every table that it reads is one of the guild's
// rows, an INSERT adds the guild, an UPDATE or DELETE has it in its condition.
func inGuild(tokens []string, guild string) []string {
	p := placing{tokens: tokens, guild: guild}
	switch first := p.word(0); tokens[first] {
	case "INSERT":
		p.insert(p.word(p.word(first+1) + 1))
	case "DELETE":
		p.change(p.word(p.word(first+1) + 1))
	case "UPDATE":
		p.change(p.word(first + 1))
	}
	for i := len(p.tokens) - 1; i >= 0; i-- {
		if at := p.word(i + 1); p.tokens[i] == "FROM" && p.before(i) != "DELETE" || p.tokens[i] == "JOIN" {
			p.read(at)
		}
	}
	return p.tokens
}

// placing is a statement that is being restricted to a guild.
type placing struct {
	tokens []string
	guild  string
}

var space = regexp.MustCompile(`^\s*$`)

// word returns the index of the first token from i on that isn't white space.
func (p *placing) word(i int) int {
	for i < len(p.tokens) && space.MatchString(p.tokens[i]) {
		i++
	}
	return i
}

func (p *placing) at(i int) string {
	if i < len(p.tokens) {
		return p.tokens[i]
	}
	return ""
}

// before returns the word before token i.
func (p *placing) before(i int) string {
	for i--; i >= 0; i-- {
		if !space.MatchString(p.tokens[i]) {
			return p.tokens[i]
		}
	}
	return ""
}

func (p *placing) put(i int, text string) { p.tokens = slices.Insert(p.tokens, i, text) }

// read restricts the table that a FROM or JOIN names at token i.
func (p *placing) read(i int) {
	name := p.at(i)
	if !distributed[name] || p.at(i+1) == "." {
		return
	}
	p.tokens[i] = "(SELECT * FROM " + name + " WHERE guild = " + p.guild + ")"
	if next := p.at(p.word(i + 1)); afterTable[next] || next == ")" {
		p.tokens[i] += " " + name
	}
}

// next returns the index of the first of words from i on outside of parentheses, or the end.
func (p *placing) next(i int, words ...string) int {
	for depth := 0; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case depth == 0 && slices.Contains(words, t):
			return i
		case t == "(":
			depth++
		case t == ")":
			depth--
		}
	}
	return i
}

// change adds a condition to an UPDATE or DELETE of the table at token i.
func (p *placing) change(i int) {
	if !distributed[p.at(i)] {
		return
	}
	condition := p.at(i) + ".guild = " + p.guild
	end := p.next(i, "RETURNING")
	where := p.next(i, "WHERE")
	if where >= end {
		p.put(end, " WHERE "+condition+" ")
		return
	}
	p.put(end, ") ")
	p.put(where+1, " "+condition+" AND (")
}

// insert adds the guild to an INSERT into the table at token i, which lists its columns.
func (p *placing) insert(i int) {
	if !distributed[p.at(i)] {
		return
	}
	open := p.word(i + 1)
	if conflict := p.next(i, "CONFLICT"); p.at(p.word(conflict+1)) == "(" {
		p.addGuild(p.word(conflict + 1))
	}
	if !p.addGuild(open) {
		return
	}
	rows := p.next(open, "VALUES", "SELECT")
	if p.at(rows) == "VALUES" {
		p.put(p.next(p.word(rows+1)+1, ")"), ", "+p.guild)
		return
	}
	p.put(p.next(rows, "FROM", "WHERE", "ON"), ", "+p.guild+" ")
}

// addGuild adds the guild to the list of columns that is opened at token i, unless it is there.
func (p *placing) addGuild(i int) bool {
	end := p.next(i+1, ")")
	if slices.Contains(p.tokens[i:end], "guild") {
		return false
	}
	p.put(end, ", guild")
	return true
}
