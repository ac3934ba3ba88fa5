package vectors

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// exact holds all vectors, in collections of chromem-go's. Its callers let nobody read while somebody changes it:
// chromem-go's Delete looks at a collection before it locks it, and a query fails if a deletion leaves fewer documents
// than it asks for.
type exact struct {
	dimensions int
	db         *chromem.DB
	channels   map[uint32]*chromem.Collection // without empty ones: a collection keeps room for what it had
	arena      arena
}

// perDocument is the measured size in bytes of a document of chromem-go's, without its vector, and of the vector's
// place in the arena.
const perDocument = 135

func newExact(dimensions int) *exact {
	return &exact{
		dimensions: dimensions,
		db:         chromem.NewDB(),
		channels:   map[uint32]*chromem.Collection{},
		arena:      arena{dimensions: dimensions},
	}
}

func (e *exact) reserve(n int) { e.arena.grow(n) }

func (e *exact) bytes(rows int) int64 { return int64(rows) * int64(perDocument+4*e.dimensions) }

func (e *exact) put(slot, channel uint32, r Row) error {
	vector := e.arena.at(slot)
	err := unpackUnit(r.Steps, vector)
	if err == nil {
		err = e.add(slot, channel, vector)
	}
	if err != nil {
		clear(vector)
	}
	return err
}

func (e *exact) add(slot, channel uint32, vector []float32) error {
	c, ok := e.channels[channel]
	if !ok {
		var err error
		c, err = newCollection(e.db, strconv.Itoa(int(channel)))
		if err != nil {
			return err
		}
	}
	if err := addDocument(c, slot, vector); err != nil {
		return err
	}
	e.channels[channel] = c
	return nil
}

func (e *exact) remove(slot, channel uint32) {
	clear(e.arena.at(slot))
	c := e.channels[channel]
	_ = c.Delete(context.Background(), nil, nil, nameOf(slot)) // fails only without an id
	if c.Count() > 0 {
		return
	}
	delete(e.channels, channel)
	_ = e.db.DeleteCollection(c.Name) // fails only on a disk
}

func (e *exact) wipe() {
	e.arena.wipe()
	e.channels = nil
	e.db = nil
}

// nearest returns the limit nearest rows that scope allows, and whether it allows more.
func (e *exact) nearest(ctx context.Context, t *table, vector []float32, scope *Scope,
	limit int) (found []Found, more bool, err error) {
	collections := make([]*chromem.Collection, 0, len(scope.Channels))
	for _, channel := range scope.Channels {
		if c, ok := e.channels[channel]; ok {
			collections = append(collections, c)
		}
	}
	if scope.hasTimes() {
		c, err := e.collect(t.allowed(scope))
		if err != nil {
			return nil, false, err
		}
		collections = []*chromem.Collection{c}
	}
	allowed := 0
	for _, c := range collections {
		allowed += c.Count()
		results, err := query(ctx, c, vector, limit)
		if err != nil {
			return nil, false, err
		}
		for _, r := range results {
			slot := slotOf(r.ID)
			found = append(found, Found{scope.Guild, t.ids[slot], r.Similarity})
		}
	}
	sortFound(found)
	return found[:min(limit, len(found))], allowed > limit, nil
}

// collect returns a collection of the vectors of slots, to be thrown away after a query.
func (e *exact) collect(slots []uint32) (*chromem.Collection, error) {
	c, err := newCollection(chromem.NewDB(), "allowed")
	if err != nil {
		return nil, err
	}
	for _, slot := range slots {
		if err := addDocument(c, slot, e.arena.at(slot)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newCollection returns an empty collection. Without a function for texts, chromem-go would ask OpenAI.
func newCollection(db *chromem.DB, name string) (*chromem.Collection, error) {
	return db.CreateCollection(name, nil, func(context.Context, string) ([]float32, error) {
		return nil, errors.New("vectors are never made of texts here")
	})
}

func addDocument(c *chromem.Collection, slot uint32, vector []float32) error {
	return c.AddDocument(context.Background(), chromem.Document{ID: nameOf(slot), Embedding: vector})
}

// query returns at least the limit nearest documents of a collection, and all that are as near as the last of these:
// of equals, chromem-go returns any.
func query(ctx context.Context, c *chromem.Collection, vector []float32, limit int) ([]chromem.Result, error) {
	count := c.Count()
	if count == 0 || limit <= 0 {
		return nil, nil
	}
	for wanted := limit + 1; ; wanted *= 2 {
		wanted = min(wanted, count)
		results, err := c.QueryEmbedding(ctx, vector, wanted, nil, nil)
		if err == nil {
			err = ctx.Err() // a cancelled query returns too few documents, and no error
		}
		if err != nil {
			return nil, err
		}
		if wanted == count || results[wanted-1].Similarity < results[limit-1].Similarity {
			return results, nil
		}
	}
}

// nameOf returns the name of the document of a slot, in 4 bytes.
func nameOf(slot uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], slot)
	return string(b[:])
}

func slotOf(name string) uint32 { return binary.BigEndian.Uint32([]byte(name)) }
