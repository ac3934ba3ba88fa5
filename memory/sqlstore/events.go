package sqlstore

import (
	"fmt"

	"hark/internal/text"
	"hark/memory"
)

// event is an event with what can be worked out before its turn to be written.
type event struct {
	memory.Event
	message memory.Message // of Posted: cleaned, with its tokens
	terms   string         // of Posted: what full text holds of it
	live    bool           // of Posted
	record  preparedRecord // of Called
}

// prepare checks and cleans events, so that only the file itself can make applying them fail.
func (s *Store) prepare(events []memory.Event) ([]event, error) {
	prepared := make([]event, len(events))
	return prepared, inHalves(len(events), func(from, to int) error {
		return s.prepareSome(events[from:to], prepared[from:to])
	})
}

func (s *Store) prepareSome(events []memory.Event, prepared []event) error {
	var terms text.Batch
	for i, e := range events {
		prepared[i].Event = e
		switch e := e.(type) {
		case memory.Posted:
			if e.Message.ID == 0 || e.Message.Channel == 0 {
				return fmt.Errorf("log a message: it has no id or no channel: %w", memory.ErrRefused)
			}
			prepared[i].message, prepared[i].live = s.clean(e.Message), e.Live
			prepared[i].terms = indexTerms(&terms, prepared[i].message)
		case memory.Edited:
			e.Content = memory.Clean(e.Content)
			prepared[i].Event = e
		case memory.Answered:
			if e.Trace.Answer == 0 || e.Trace.Channel == 0 {
				return fmt.Errorf("keep a trace: its answer has no id or no channel: %w", memory.ErrRefused)
			}
		case memory.LoreTold:
			lore, err := e.Lore.Checked()
			if err != nil {
				return fmt.Errorf("keep lore: %w: %w", err, memory.ErrRefused)
			}
			prepared[i].Event = memory.LoreTold{Lore: lore}
		case memory.Called:
			var err error
			if prepared[i].record, err = s.prepareRecord(e.Record); err != nil {
				return fmt.Errorf("keep a record: %w: %w", err, memory.ErrRefused)
			}
		case memory.Summarised:
			var err error
			if prepared[i].Event, err = checkSummary(e); err != nil {
				return fmt.Errorf("keep a summary: %w: %w", err, memory.ErrRefused)
			}
		case memory.SessionCondensed:
			c, err := e.Condensed.Checked()
			if err != nil {
				return fmt.Errorf("keep what a session was condensed to: %w: %w", err, memory.ErrRefused)
			}
			prepared[i].Event = memory.SessionCondensed{Condensed: c}
		case memory.Deleted, memory.Rewritten, memory.Named, memory.Starred, memory.Heard, memory.GuildSeen,
			memory.GuildNamed, memory.GuildLeft, memory.ChannelSeen, memory.ChannelGone,
			memory.ChannelDeleted, memory.RoleSeen, memory.RoleGone, memory.PersonSeen, memory.PersonLeft, memory.FactTold, memory.FactGone,
			memory.Learn, memory.Learned, memory.Chose, memory.Asked, memory.Opted, memory.GapFound, memory.GapFilled, memory.Absent, memory.ShutOut, memory.QuestionOpened, memory.QuestionClosed, memory.Marked,
			memory.LoreGone, memory.CondensedGone:
		case memory.Forgetting:
			if e.At.IsZero() {
				return fmt.Errorf("begin to forget: when that was ordered isn't known: %w", memory.ErrRefused)
			}
		case memory.SettingChosen:
			e.Key, e.Value = memory.Setting(memory.Clean(string(e.Key))), memory.Clean(e.Value)
			prepared[i].Event = e
		case memory.LimitChosen:
			if err := e.Check(); err != nil {
				return fmt.Errorf("keep a limit: %w: %w", err, memory.ErrRefused)
			}
		case memory.Spent:
			if e.Question == 0 || e.Tokens < 0 {
				return fmt.Errorf("keep what a question took: it has no id, or less than none: %w", memory.ErrRefused)
			}
			prepared[i].Event = e
		default:
			return fmt.Errorf("apply an event of the unknown type %T: %w", e, memory.ErrRefused)
		}
	}
	return nil
}

func (s *Store) clean(m memory.Message) memory.Message {
	m.Content, m.Starred = memory.Clean(m.Content), false
	if len(m.Files) > 0 {
		files := make([]memory.File, len(m.Files))
		for i, f := range m.Files {
			files[i] = memory.File{Name: memory.Clean(f.Name), Description: memory.Clean(f.Description)}
		}
		m.Files = files
	}
	m.Tokens = s.options.Tokens(m.Text())
	return m
}

// indexTerms is what full text holds of m: a hash of each term, separated by spaces.
func indexTerms(batch *text.Batch, m memory.Message) string {
	if !m.Kind.Recalled() {
		return ""
	}
	return Hashes(batch.Terms(m.Text()))
}

// Hashes are those of terms, with spaces between.
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

// appendHash appends 40 bits of a term's FNV-1a hash in letters and digits: short, the same on every machine,
// and one token whatever the term is made of.
func appendHash(b []byte, term string) []byte {
	const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
	sum := uint64(14695981039346656037)
	for i := range len(term) {
		sum = (sum ^ uint64(term[i])) * 1099511628211
	}
	sum ^= sum >> 32
	for shift := 35; shift >= 0; shift -= 5 {
		b = append(b, alphabet[sum>>shift&31])
	}
	return b
}
