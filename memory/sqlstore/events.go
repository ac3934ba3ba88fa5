package sqlstore

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"hark/internal/text"
	"hark/memory"
)

// event is an event with what is computed before taking the write lock.
type event struct {
	memory.Event
	message memory.Message // of Posted: cleaned, with its tokens
	terms   string         // of Posted: its full-text entry
	live    bool           // of Posted
	record  preparedRecord // of Called
}

// prepare checks and cleans events, so that applying them can only fail with the database.
func (s *Store) prepare(events []memory.Event) ([]event, error) {
	prepared := make([]event, len(events))
	return prepared, inHalves(len(events), func(from, to int) error {
		return s.prepareSome(events[from:to], prepared[from:to])
	})
}

// parallelFrom is the number of events from which two goroutines prepare faster than one.
const parallelFrom = 64

// inHalves runs f on the halves of n things, in parallel if they are many, and returns the earlier half's
// error first.
func inHalves(n int, f func(from, to int) error) error {
	if n < parallelFrom {
		return f(0, n)
	}
	var second error
	var wg sync.WaitGroup
	wg.Go(func() { second = f(n/2, n) })
	first := f(0, n/2)
	wg.Wait()
	return cmp.Or(first, second)
}

func (s *Store) prepareSome(events []memory.Event, prepared []event) error {
	var terms text.Batch
	for i, e := range events {
		to := &prepared[i]
		to.Event = e
		doing, err := "", error(nil)
		switch e := e.(type) {
		case memory.Posted:
			if doing = "log a message"; e.Message.ID == 0 || e.Message.Channel == 0 {
				err = errors.New("it has no id or no channel")
			}
			to.message, to.live = s.clean(e.Message), e.Live
			to.terms = indexTerms(&terms, to.message)
		case memory.Edited:
			e.Content = memory.Clean(e.Content)
			to.Event = e
		case memory.Told:
			e.Text = memory.Clean(e.Text)
			to.Event = e
		case memory.Answered:
			if doing = "keep a trace"; e.Trace.Answer == 0 || e.Trace.Channel == 0 {
				err = errors.New("its answer has no id or no channel")
			}
		case memory.LoreTold:
			doing = "keep lore"
			e.Lore, err = e.Lore.Checked()
			to.Event = e
		case memory.Called:
			doing = "keep a record"
			to.record, err = s.prepareRecord(e.Record)
		case memory.Summarised:
			doing = "keep a summary"
			to.Event, err = checkSummary(e)
		case memory.SessionCondensed:
			doing = "keep what a session was condensed to"
			e.Condensed, err = e.Condensed.Checked()
			to.Event = e
		case memory.Forgetting:
			if doing = "begin to forget"; e.At.IsZero() {
				err = errors.New("when that was ordered isn't known")
			}
		case memory.SettingChosen:
			e.Key, e.Value = memory.Setting(memory.Clean(string(e.Key))), memory.Clean(e.Value)
			to.Event = e
		case memory.LimitChosen:
			doing, err = "keep a limit", e.Check()
		case memory.Spent:
			if doing = "keep what a question took"; e.Question == 0 || e.Tokens < 0 {
				err = errors.New("it has no id, or less than none")
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", doing, err, memory.ErrRefused)
		}
	}
	return nil
}

func (s *Store) clean(m memory.Message) memory.Message {
	m.Content, m.Starred = memory.Clean(m.Content), false
	if len(m.Files) > 0 {
		files := make([]memory.File, len(m.Files))
		for i, f := range m.Files {
			f.Name, f.Description, f.Told = memory.Clean(f.Name), memory.Clean(f.Description), memory.Clean(f.Told)
			files[i] = f
		}
		m.Files = files
	}
	if len(m.Links) > 0 {
		links := make([]memory.Link, len(m.Links))
		for i, l := range m.Links {
			links[i] = memory.Link{Title: memory.Clean(l.Title), Description: memory.Clean(l.Description)}
		}
		m.Links = memory.JoinLinks(links, nil)
	}
	m.Tokens = s.options.Tokens(m.Text())
	return m
}

func indexTerms(batch *text.Batch, m memory.Message) string {
	if !m.Kind.Recalled() {
		return ""
	}
	return Hashes(batch.Terms(m.Text()))
}

func Hashes(terms []string) string {
	var b []byte
	for i, term := range terms {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendHash(b, term)
	}
	return string(b)
}

// appendHash appends 40 bits of a term's FNV-1a hash in letters and digits, which are always one token.
func appendHash(b []byte, term string) []byte {
	sum := uint64(14695981039346656037)
	for i := range len(term) {
		sum = (sum ^ uint64(term[i])) * 1099511628211
	}
	return appendLetters(b, sum^sum>>32)
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// appendLetters appends the lowest 40 bits of a hash.
func appendLetters(b []byte, sum uint64) []byte {
	for shift := 35; shift >= 0; shift -= 5 {
		b = append(b, alphabet[sum>>shift&31])
	}
	return b
}

// hashOf returns the bits of which appendLetters made letters.
func hashOf(letters string) (n uint64) {
	for _, c := range []byte(letters) {
		if c >= 'a' {
			n = n<<5 | uint64(c-'a')
		} else {
			n = n<<5 | uint64(c-'2'+26)
		}
	}
	return n
}
