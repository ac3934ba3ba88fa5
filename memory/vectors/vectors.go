// Package vectors finds the vectors nearest to a question's, in memory. It knows numbered rows that have a vector in
// 8 bits a number and lie in a channel of a guild, and no database: a Source reads them.
//
// A guild is loaded when it is first asked about. chromem-go (https://github.com/philippgille/chromem-go) holds and
// ranks its vectors, in a collection for each channel. A search queries only the collections of channels that may be
// read, so its result is exact. A guild whose vectors take more than half of Options.Limit has only sketches in memory:
// they choose a shortlist, whose vectors are read, and chromem-go ranks those. Guilds that weren't asked about for
// longest leave memory.
//
// Begin reading at Index.Search. loading.go loads guilds and drops them, guild.go applies changes, table.go holds rows,
// exact.go and sketches.go the two forms of their vectors.
package vectors

import (
	"cmp"
	"context"
	"slices"

	"hark/memory"
)

// Row is a vector, and what a search asks of it.
//
// ID may number anything in its guild: segments today, or single messages, which are about five times as many. In 384
// numbers, a million rows take 1.7 GB in memory while their guild is exact, and a search 0.7 s. They take 250 MB as
// sketches, and 0.6 GB in the database. So with a limit of 64 MiB, no guild of a million rows would be exact, and its
// sketches would push out all others. Whoever adds a vector for each message should choose candidates by other means,
// and rank them by vectors read from the database: 500 take about 2.5 ms.
type Row struct {
	ID          int64
	Channel     uint32           // number in the guild
	First, Last memory.MessageID // its messages lie between them
	Steps       []byte           // see Encode
	Sketch      []byte           // see Encode
}

// Change is what a commit changed in a guild, and the guild's version after it.
type Change struct {
	Version int64
	Rows    []Row // in the order of the changes; one without Steps was deleted
	Many    bool  // too many rows changed to list them: the guild must be loaded again
}

// Source reads rows from a database.
type Source interface {
	// Load reads a guild's rows in a space, as they are at one moment. It calls begin with about how many there are.
	// The answer says what put gets of each: its Steps if exact, else its Sketch. Both are valid during the call only.
	// Load returns the guild's version at that moment.
	Load(ctx context.Context, guild int64, space memory.Space, begin func(rows int) (exact bool),
		put func(Row) error) (version int64, err error)
	// Steps calls put with the Steps of rows, in any order. It leaves out those that are gone.
	Steps(ctx context.Context, guild int64, space memory.Space, ids []int64,
		put func(id int64, steps []byte) error) error
}

// Scope is what a search may find in a guild.
type Scope struct {
	Guild        int64
	Channels     []uint32         // numbers in the guild
	Since, Until memory.MessageID // only rows whose messages may lie in [Since, Until); see Always
}

const minID, maxID = memory.MessageID(-1 << 63), memory.MessageID(1<<63 - 1)

// Always is the beginning and the end of a Scope that time doesn't restrict.
func Always() (since, until memory.MessageID) { return minID, maxID }

func (s *Scope) hasTimes() bool { return s.Since != minID || s.Until != maxID }

// Found is a row that a search found.
type Found struct {
	Guild      int64
	ID         int64
	Similarity float32 // the cosine of the angle to the question
}

// sortFound sorts by similarity. Of equals, the highest numbers come first.
func sortFound(found []Found) {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(b.Guild, a.Guild), cmp.Compare(b.ID, a.ID))
	})
}
