package sqlstore

import (
	"fmt"
	"strconv"
	"strings"

	"hark/memory"
)

// textOfTags returns tags as they are stored: a line each, with the id and the name.
func textOfTags(tags []memory.Tag) string {
	var b strings.Builder
	for _, t := range tags {
		name := strings.ReplaceAll(memory.Clean(t.Name), "\n", " ")
		fmt.Fprintf(&b, "%d %s\n", t.ID, name)
	}
	return b.String()
}

// asTags scans a column of tags. It skips lines that aren't tags: without its key, a sealed memory has such.
type asTags struct{ to *[]memory.Tag }

func (a asTags) Scan(from any) error {
	var stored string
	switch from := from.(type) {
	case string:
		stored = from
	case []byte:
		stored = string(from)
	}
	for line := range strings.Lines(stored) {
		number, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := strconv.ParseInt(number, 10, 64)
		if err == nil {
			*a.to = append(*a.to, memory.Tag{ID: memory.TagID(id), Name: name})
		}
	}
	return nil
}

// retitle has a thread's segments embedded again if its title changes: their text begins with it.
func (t *transaction) retitle(no int64, c memory.Channel, name string) {
	before := memory.Channel{ID: c.ID}
	t.row("SELECT kind, name FROM channel WHERE no = ?", no).into(&before.Kind, t.store.vault.channelName(&before, &no))
	after := memory.Channel{Kind: c.Kind, Name: name}
	if memory.TitleOf(&before, nil).Name != memory.TitleOf(&after, nil).Name {
		t.untitle(no)
	}
}

// untitle deletes the vectors of a channel's segments, and has them embedded again.
func (t *transaction) untitle(no int64) {
	segments := listIn(t, func(scan Scanner, id *int64) error { return scan(id) },
		"SELECT DISTINCT segment FROM message WHERE channel = ? AND segment <> 0", no)
	for _, id := range segments {
		t.segment(id, no).invalid = true
	}
}
