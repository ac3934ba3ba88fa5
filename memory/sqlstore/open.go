package sqlstore

import (
	"cmp"
	"context"

	"hark/memory"
	"hark/memory/seal"
	"hark/memory/vectors"
)

// New returns a store over e, to be opened with Open. Its Close closes e.
func New(e Engine, o Options) *Store {
	s := &Store{
		engine:  e,
		options: o,
		wake:    make(chan struct{}, 1),
		ingest: ingest{
			channels: map[memory.ChannelID]*channel{},
			guildNos: map[memory.GuildID]int64{},
			guildIDs: map[int64]memory.GuildID{},
			segments: map[int64]int64{},
		},
	}
	s.space.Store(&o.Space)
	s.index = vectors.New(source{s}, o.Index)
	e.Watch(s.invalidateCaches)
	return s
}

// Open reads what the store caches. A sealed memory needs its key.
func Open(ctx context.Context, s *Store) error {
	if s.options.Moving == MovesTo {
		if err := s.empty(ctx); err != nil {
			return err
		}
	}
	if err := s.unlock(ctx); err != nil {
		return err
	}
	if err := s.notice(ctx); err != nil {
		return err
	}
	if moving, err := s.meta(ctx, movingKey); moving != "" || err != nil {
		return cmp.Or(err, ErrMoving)
	}
	if s.options.Moving != NotMoving {
		return nil
	}
	if err := s.engine.Latest(ctx, func(q Querier) error { return s.refreshVectors(ctx, q) }); err != nil {
		return err
	}
	return s.useSpace(ctx)
}

// unlock reads the data key of the memory. It seals an empty memory if there is a key.
func (s *Store) unlock(ctx context.Context) error {
	sealing, err := ReadSealing(ctx, s.engine)
	if err == nil && !sealing.IsSealed() && s.options.Secret != nil {
		err = s.writing(ctx, (*transaction).beginSealing)
		if err == nil {
			sealing, err = ReadSealing(ctx, s.engine)
		}
		s.missed.Add(1) // the caches hold what was read without the data key
	}
	if err != nil {
		return s.failed(err, "read how the memory is sealed")
	}
	s.vault, err = sealing.Unlock(s.options.Secret, s.options.TextOnly)
	return err
}

// beginSealing seals a memory if it is empty.
func (t *transaction) beginSealing() {
	empty, err := isEmpty(t.ctx, t)
	ensure(err)
	if t.meta(SealKey) != "" || !empty { // another process may have been faster
		return
	}
	begun, err := newSealing(seal.NewDataKey(), t.store.options.Secret)
	ensure(err)
	t.note(SealKey, t.jsonText(begun))
	t.changed.structure[memory.Everywhere] = true // processes without the key must stop
}

// useSpace activates the store's space if the database has no vectors of another. Else the shadow set is filled
// with it.
func (s *Store) useSpace(ctx context.Context) error {
	use, next, err := readSpaces(ctx, s.engine)
	if err != nil {
		return err
	}
	own := *s.space.Load()
	if own == (memory.Space{}) {
		s.space.Store(new(parseSpace(use)))
		return nil
	}
	if name := nameOfSpace(own); name == use && next == "" || name == next {
		return nil
	}
	return s.writing(ctx, (*transaction).useSpace)
}

// UseSpace changes the space of new vectors, as Options.Space chooses it. Vectors of the space before must not be
// stored any more: end what makes them first.
func (s *Store) UseSpace(ctx context.Context, space memory.Space) error {
	before := s.space.Swap(&space)
	err := s.useSpace(ctx)
	if err != nil {
		s.space.Store(before)
	}
	return err
}
