package imports

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The parts of a message that a column may hold.
const (
	partID      = "id"
	partChannel = "channel"
	partAuthor  = "author"
	partText    = "text"
	partTime    = "time"
	partGuild   = "server"
	partName    = "author's name"
	partPlace   = "channel's name"
	partRole    = "role"
	partReply   = "reply"
	partDeleted = "deleted"
	partBot     = "bot"
)

// partNames are all parts, in the order in which they are read.
var partNames = []string{partID, partChannel, partAuthor, partText, partTime, partGuild, partName, partPlace, partRole, partReply, partDeleted, partBot}

// columns are the names that bots give to what tells of a message, the likeliest first. PigPig's are among them, and those
// of what its users' and channels' tables hold.
var columns = map[string][]string{
	partID:      {"message_id", "msg_id", "discord_message_id", "id"},
	partChannel: {"channel_id", "channel", "thread_id"},
	partAuthor:  {"user_id", "author_id", "sender_id", "member_id", "discord_id", "user", "author"},
	partText:    {"content", "message_content", "text", "body", "message", "clean_content", "content_processed"},
	partTime:    {"timestamp", "created_at", "sent_at", "message_time", "time", "date", "datetime", "ts"},
	partGuild:   {"guild_id", "server_id", "guild", "server"},
	partName:    {"author_name", "user_name", "username", "display_name", "author_display_name", "discord_name", "sender_name", "name", "nickname"},
	partPlace:   {"channel_name"},
	partRole:    {"message_type", "role", "author_type", "sender_type"},
	partReply:   {"reply_to", "reply_to_id", "reply_to_message_id", "reference_id", "referenced_message_id"},
	partDeleted: {"is_deleted", "deleted", "deleted_at"},
	partBot:     {"is_bot", "author_is_bot", "bot"},
}

// form is where in a database messages are: its table, and the columns by what they hold. Users and channels are the tables
// that tell more of who wrote and where; empty if there are none.
type form struct {
	table           string
	columns         map[string]string
	users, channels lookup
}

// lookup is a table with a row for each of something, found by its key.
type lookup struct {
	table, key string
	columns    map[string]string
}

// FormError says that a SQLite database has no table of messages that can be read.
type FormError struct{ found string }

// Error names the tables and columns that there are, and those that are needed.
func (e *FormError) Error() string {
	var needed []string
	for _, p := range []string{partChannel, partAuthor, partText, partID, partTime} {
		needed = append(needed, fmt.Sprintf("%s (%s)", p, strings.Join(columns[p][:3], ", ")))
	}
	return fmt.Sprintf("the SQLite file has no table of messages: needed is one with columns for the %s, %s and %s, and the %s or the %s. It has %s",
		needed[0], needed[1], needed[2], needed[3], needed[4], e.found)
}

var errOwnMemory = errors.New("the file is Hark's own memory: \"hark backup\" and \"hark restore\" move that")

// findForm looks for the table of messages: of several that can be it, the one of which most is known, and of those the one
// that is called so.
func findForm(ctx context.Context, db *sql.DB) (form, error) {
	tables, names, err := tablesOf(ctx, db)
	if err != nil {
		return form{}, err
	}
	if tables["tombstone"] != nil && tables["forgetting"] != nil && tables["segment"] != nil {
		return form{}, errOwnMemory
	}
	var best form
	score := func(f form) int {
		n := 2 * len(f.columns)
		if strings.Contains(strings.ToLower(f.table), "message") {
			n++
		}
		if strings.EqualFold(f.table, "messages") {
			n++
		}
		return n
	}
	for _, name := range names {
		f := form{table: name, columns: match(tables[name], partNames)}
		if f.whole() && (best.table == "" || score(f) > score(best)) {
			best = f
		}
	}
	if best.table == "" {
		return form{}, &FormError{described(tables, names)}
	}
	best.users = lookupIn(tables, names, partAuthor, []string{partName, partBot}, "user", "member", "author", "people")
	best.channels = lookupIn(tables, names, partChannel, []string{partGuild, partPlace}, "channel")
	return best, nil
}

// whole reports whether the columns tell enough of a message.
func (f form) whole() bool {
	has := func(p string) bool { return f.columns[p] != "" }
	return has(partChannel) && has(partAuthor) && has(partText) && (has(partID) || has(partTime))
}

// match tells which of a table's columns hold which of parts.
func match(table []string, parts []string) map[string]string {
	found := map[string]string{}
	for _, p := range parts {
		for _, known := range columns[p] {
			i := slices.IndexFunc(table, func(column string) bool { return strings.EqualFold(column, known) })
			if i >= 0 {
				found[p] = table[i]
				break
			}
		}
	}
	return found
}

// lookupIn is the table that is called as one of words and has the part key and some of parts.
func lookupIn(tables map[string][]string, names []string, key string, parts []string, words ...string) lookup {
	var best lookup
	for _, name := range names {
		called := slices.ContainsFunc(words, func(w string) bool {
			return strings.EqualFold(name, w) || strings.EqualFold(name, w+"s")
		})
		keys := match(tables[name], []string{key})
		if keys[key] == "" {
			keys = map[string]string{key: cmp.Or(match(tables[name], []string{partID})[partID])}
		}
		found := match(tables[name], parts)
		if key == partChannel && found[partPlace] == "" { // in a table of channels a name is theirs
			if i := slices.IndexFunc(tables[name], func(c string) bool { return strings.EqualFold(c, "name") }); i >= 0 {
				found[partPlace] = tables[name][i]
			}
		}
		if called && keys[key] != "" && len(found) > len(best.columns) {
			best = lookup{name, keys[key], found}
		}
	}
	return best
}

// tablesOf are a database's tables with their columns, and their names in order.
func tablesOf(ctx context.Context, db *sql.DB) (map[string][]string, []string, error) {
	rows, err := db.QueryContext(ctx, "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	tables := map[string][]string{}
	var names []string
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, nil, err
		}
		if tables[table] == nil {
			names = append(names, table)
		}
		tables[table] = append(tables[table], column)
	}
	return tables, names, rows.Err()
}

// described are the first few tables with their first columns.
func described(tables map[string][]string, names []string) string {
	const few, fewColumns = 8, 12
	if len(names) == 0 {
		return "no tables"
	}
	var told []string
	for _, name := range names[:min(len(names), few)] {
		list := tables[name]
		more := ""
		if len(list) > fewColumns {
			list, more = list[:fewColumns], ", …"
		}
		told = append(told, fmt.Sprintf("%s (%s%s)", name, strings.Join(list, ", "), more))
	}
	if len(names) > few {
		told = append(told, fmt.Sprintf("and %d more", len(names)-few))
	}
	return strings.Join(told, ", ")
}
