package postgres

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"hark/memory/sqlstore"
)

// statements turns the store's statements into PostgreSQL's, each once.
type statements struct {
	sync.RWMutex
	by map[string]statement
}

// statement is a statement in PostgreSQL's words. Its nth parameter is the store's of number params[n].
type statement struct {
	text   string
	params []int
}

// translated returns a statement in PostgreSQL's words, and its arguments. Every run of it has arguments of the same
// types.
func (s *statements) translated(query string, args []any) (string, []any) {
	s.RLock()
	to, ok := s.by[query]
	s.RUnlock()
	if !ok {
		to = translate(query, args)
		s.Lock()
		if s.by == nil {
			s.by = map[string]statement{}
		}
		s.by[query] = to
		s.Unlock()
	}
	ordered := make([]any, len(to.params))
	for i, n := range to.params {
		ordered[i] = args[n]
		if b, ok := args[n].(bool); ok {
			ordered[i] = truth(b)
		}
	}
	return to.text, ordered
}

var (
	token     = regexp.MustCompile(`'[^']*'|\?\d*(?:\+0)?|\w+|[()]|[^\w?'()]+`)
	indexedBy = regexp.MustCompile(`INDEXED BY \w+`)
)

// synonyms are words of the store's SQL that PostgreSQL calls otherwise.
var synonyms = map[string]string{
	"user":             `"user"`,
	"vector":           "embedding", // a database may have pgvector, with a type of that name, and each table is a type
	"vector_next":      "embedding_next",
	"vector_before":    "embedding_before",
	"json_array":       "jsonb_build_array",
	"json_object":      "jsonb_build_object",
	"json_group_array": "jsonb_agg",
}

// translate turns a statement of the store's into PostgreSQL's: parameters are numbered by their first use, and a few
// words are others. Those of numbers and texts get their type, because PostgreSQL would take a number beside a small
// constant for a small one.
//
// CROSS JOIN t ON … looks into t for each row before, in SQLite. So does a lateral join with a subquery that has an
// offset. Without it PostgreSQL reads a whole guild to find some ranges of messages.
func translate(query string, args []any) (to statement) {
	query = strings.ReplaceAll(query, sqlstore.Triples, "json_triples(?1)")
	query = indexedBy.ReplaceAllString(query, "")
	var text strings.Builder
	last := 0
	for _, word := range lateral(token.FindAllString(query, -1)) {
		switch {
		case word[0] == '?':
			n := numberOf(word, last)
			last = max(last, n)
			text.WriteString(to.param(n-1) + typeOf(args[n-1]))
		case synonyms[word] != "":
			text.WriteString(synonyms[word])
		default:
			text.WriteString(word)
		}
	}
	to.text = text.String()
	return to
}

// numberOf returns the number of a parameter, ?n or ?, where last is the greatest before it.
func numberOf(param string, last int) int {
	digits := strings.TrimSuffix(param[1:], "+0")
	if digits == "" {
		return last + 1
	}
	n, _ := strconv.Atoi(digits) // the expression allows digits only
	return n
}

// param returns PostgreSQL's name of the store's parameter n.
func (s *statement) param(n int) string {
	at := slices.Index(s.params, n)
	if at < 0 {
		at = len(s.params)
		s.params = append(s.params, n)
	}
	return "$" + strconv.Itoa(at+1)
}

// lateral replaces joins CROSS JOIN t a ON c by CROSS JOIN LATERAL (SELECT * FROM t a WHERE c OFFSET 0) a.
func lateral(words []string) (to []string) {
	for i := 0; i < len(words); i++ {
		on := -1
		end := i
		if words[i] == "CROSS" {
			on, end = joinCondition(words, i+4)
		}
		if on < 0 {
			to = append(to, words[i])
			continue
		}
		table := words[i+4 : on] // after CROSS, JOIN and spaces
		alias := table[len(table)-2]
		to = append(to, "CROSS JOIN LATERAL (SELECT * FROM ")
		to = append(to, table...)
		to = append(to, "WHERE")
		to = append(to, words[on+1:end]...)
		to = append(to, " OFFSET 0) ", alias, " ")
		i = end - 1
	}
	return to
}

// joinCondition returns where ON of the join whose table is at from stands, or -1, and where its condition ends.
func joinCondition(words []string, from int) (on, end int) {
	on = -1
	depth := 0
	for i := from; i < len(words); i++ {
		switch word := words[i]; {
		case word == "(":
			depth++
		case word == ")" && depth == 0:
			return on, i
		case word == ")":
			depth--
		case depth > 0:
		case word == "ON" && on < 0:
			on = i
		case slices.Contains([]string{"JOIN", "CROSS", "WHERE", "GROUP", "ORDER", "UNION"}, word):
			return on, i
		}
	}
	return on, len(words)
}

// typeOf returns the cast of a parameter. A truth value may be for a column of numbers, so it has none.
func typeOf(arg any) string {
	if arg == nil {
		return "::text" // the store has no other NULLs without a type
	}
	switch reflect.TypeOf(arg).Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return "::bigint"
	case reflect.String:
		return "::text"
	}
	return ""
}

// truth is a boolean for conditions, and 0 or 1 for numbers.
type truth bool

// BoolValue implements pgtype.BoolValuer.
func (t truth) BoolValue() (pgtype.Bool, error) { return pgtype.Bool{Bool: bool(t), Valid: true}, nil }

// Int64Value implements pgtype.Int64Valuer.
func (t truth) Int64Value() (pgtype.Int8, error) {
	n := pgtype.Int8{Valid: true}
	if t {
		n.Int64 = 1
	}
	return n, nil
}
