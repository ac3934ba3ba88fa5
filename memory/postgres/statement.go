package postgres

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"hark/memory"
	"hark/memory/sqlstore"
)

// statements turns the store's statements into PostgreSQL's, each once.
type statements struct {
	sync.RWMutex
	by [2]map[string]statement // over all guilds, in one
}

// statement is a statement in PostgreSQL's words. Its nth parameter is the store's of number params[n].
type statement struct {
	text   string
	params []int
}

// translated returns a statement in PostgreSQL's words, and its arguments. Every run of it has arguments of the same
// types.
func (s *statements) translated(guild memory.GuildID, query string, args []any) (string, []any) {
	in := 0
	if guild != memory.Everywhere {
		in, args = 1, append(slices.Clone(args), int64(guild))
	}
	s.RLock()
	to, ok := s.by[in][query]
	s.RUnlock()
	if !ok {
		to = translate(query, args, in > 0)
		s.Lock()
		if s.by[in] == nil {
			s.by[in] = map[string]statement{}
		}
		s.by[in][query] = to
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
	field     = regexp.MustCompile(`(\w+\.\w+) ->> '\$\.(\w+)'`)
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

// translate turns a statement of the store's into PostgreSQL's.
//
//   - Parameters are numbered by their first use, and those of numbers and texts get their type: PostgreSQL would take a
//     number beside a small constant for a small one.
//   - CROSS JOIN t ON … keeps the order of tables in SQLite: for each row before, it looks into t. So does a lateral
//     join with a subquery that has an offset.
//   - In a guild, which is the last argument, it touches only its rows.
func translate(query string, args []any, guild bool) (to statement) {
	query = strings.ReplaceAll(query, sqlstore.Triples, "json_triples(?1)")
	query = field.ReplaceAllString(indexedBy.ReplaceAllString(query, ""), "($1::json ->> '$2')")
	tokens := lateral(token.FindAllString(query, -1))
	var words []string
	last := 0
	for _, t := range tokens {
		switch {
		case t[0] == '?':
			t = strings.TrimSuffix(t, "+0")
			n := last + 1
			if len(t) > 1 {
				n, _ = strconv.Atoi(t[1:]) // the expression allows digits only
			}
			last = max(last, n)
			at := slices.Index(to.params, n-1)
			if at < 0 {
				at, to.params = len(to.params), append(to.params, n-1)
			}
			words = append(words, "$"+strconv.Itoa(at+1)+typeOf(args[n-1]))
		case synonyms[t] != "":
			words = append(words, synonyms[t])
		default:
			words = append(words, t)
		}
	}
	if guild {
		n := len(to.params)
		to.params = append(to.params, len(args)-1)
		words = inGuild(words, "$"+strconv.Itoa(n+1)+"::bigint")
		if !strings.Contains(strings.Join(words, ""), "$"+strconv.Itoa(n+1)+"::bigint") {
			to.params = to.params[:n] // it touches no table that is keyed by guild
		}
	}
	to.text = strings.Join(words, "")
	return to
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

// lateral replaces joins CROSS JOIN t a ON c by CROSS JOIN LATERAL (SELECT * FROM t a WHERE c OFFSET 0) a.
func lateral(tokens []string) (to []string) {
	for i := 0; i < len(tokens); i++ {
		on, end := -1, i
		if tokens[i] == "CROSS" {
			on, end = joinCondition(tokens, i+4)
		}
		if on < 0 {
			to = append(to, tokens[i])
			continue
		}
		table := tokens[i+4 : on] // after CROSS, JOIN and spaces
		alias := table[len(table)-2]
		to = append(to, "CROSS JOIN LATERAL (SELECT * ", "FROM", " ")
		to = append(append(to, table...), "WHERE", " ")
		to = append(append(to, lateral(tokens[on+1:end])...), " OFFSET 0) ", alias, " ")
		i = end - 1
	}
	return to
}

// joinCondition returns where ON of the join whose table is at from stands, or -1, and where its condition ends.
func joinCondition(tokens []string, from int) (on, end int) {
	on = -1
	for depth, i := 0, from; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t == "(":
			depth++
		case t == ")":
			if depth--; depth < 0 {
				return on, i
			}
		case depth > 0:
		case t == "ON" && on < 0:
			on = i
		case slices.Contains([]string{"JOIN", "CROSS", "LEFT", "WHERE", "GROUP", "ORDER", "UNION", "LIMIT"}, t):
			return on, i
		}
	}
	return on, len(tokens)
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
