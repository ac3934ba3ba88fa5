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
