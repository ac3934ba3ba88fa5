package sqlstore

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	cryptorand "crypto/rand"

	"hark/memory"
	"hark/memory/seal"
)

// A sealed memory keeps what people said, what they are called and what was made from it encrypted, under a key for
// each guild: the data key, which is in the table data_key, wrapped by the operator's key. Each value is bound to its
// place, so that none can take another's. sealed.go lists the columns, reseal.go walks them.
//
// Transactions seal with seal, readers open with opened. Both do nothing in a memory without a key.

// Vault has the keys of a sealed memory. A nil one is that of a memory without a key.
type Vault struct {
	secret *seal.Secret
	asText bool    // the database's columns of text hold no other bytes
	read   Querier // the memory
	key    atomic.Pointer[seal.Key]
	whole  atomic.Bool // no value is plain any more

	mu      sync.RWMutex
	lost    map[Place]bool // names that couldn't be read
	keys    map[uint32]*DataKey
	byGuild map[memory.GuildID][]*DataKey
}

// NewVault returns the vault of a memory with the operator's key; nil without one. asText says that the database's
// columns of text hold only text.
func NewVault(secret *seal.Secret, asText bool) *Vault {
	if secret == nil {
		return nil
	}
	return &Vault{secret: secret, asText: asText, lost: map[Place]bool{}, keys: map[uint32]*DataKey{},
		byGuild: map[memory.GuildID][]*DataKey{}}
}

// DataKey seals the values of a guild.
type DataKey struct {
	*seal.Cipher
	guild memory.GuildID
}

// Errors of opening a memory.
var (
	// ErrKeyMissing reports that a memory is sealed, and no key was given.
	ErrKeyMissing = errors.New("the memory is sealed: name the file with its key in memory.key_file or " +
		"HARK_MEMORY_KEY_FILE")
	// ErrWrongKey reports that a memory is sealed with another key.
	ErrWrongKey = errors.New("the memory is sealed with another key than that of the key file: name the right file in " +
		"memory.key_file or HARK_MEMORY_KEY_FILE")
)

// SealKey in meta is how a memory is sealed.
const SealKey = "seal"

// sealing is how a memory is sealed.
type sealing struct {
	Salt        string `json:"salt"`
	Fingerprint string `json:"key"` // of the operator's key
}

// SealingInfo is how a memory is sealed; the zero value if it isn't.
type SealingInfo struct {
	Salt, Fingerprint string // of the operator's key
	Resealing         bool   // whether something is still to be sealed, or sealed anew
	Plain             bool   // whether something may still be plain
	Done              int    // messages that are, if Resealing
}

// ReadSealing returns how a memory is sealed.
func ReadSealing(ctx context.Context, q Querier) (i SealingInfo, err error) {
	state, err := readSealing(ctx, q)
	if err != nil {
		return i, err
	}
	left, err := readResealing(ctx, q)
	if err != nil {
		return i, err
	}
	i = SealingInfo{Salt: state.Salt, Fingerprint: state.Fingerprint, Plain: left.Plain != "", Done: left.Done}
	err = RowOf(ctx, q, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = '"+resealKey+"')").Scan(&i.Resealing)
	return i, err
}

// ParseSealing returns what SealKey in meta says.
func ParseSealing(value string) SealingInfo {
	var state sealing
	_ = json.Unmarshal([]byte(value), &state) // else the zero value
	return SealingInfo{Salt: state.Salt, Fingerprint: state.Fingerprint}
}

// Add adds a data key of a memory that isn't open.
func (v *Vault) Add(sealed SealingInfo, number int64, guild memory.GuildID, wrapped string) error {
	if v == nil {
		return ErrKeyMissing
	}
	if v.key.Load() == nil {
		key := v.secret.Key(sealed.Salt)
		if key.Fingerprint() != sealed.Fingerprint {
			return ErrWrongKey
		}
		v.key.Store(key)
	}
	_, err := v.unwrap(uint32(number), guild, wrapped)
	return err
}

// NoteMeta says what is in meta of a sealed memory that isn't open, which tells whether any value may be plain.
func (v *Vault) NoteMeta(meta map[string]string) {
	if v == nil {
		return
	}
	key := v.key.Load()
	if key == nil {
		key = v.secret.Key(ParseSealing(meta[SealKey]).Salt)
	}
	var left resealing
	_ = json.Unmarshal([]byte(meta[resealKey]), &left) // else no value may
	v.whole.Store(left.Plain != plainMark(key))
}

func readSealing(ctx context.Context, q Querier) (state sealing, err error) {
	_, err = Found(RowOf(ctx, q, "SELECT value FROM meta WHERE key = '"+SealKey+"'").Scan(asJSON{&state}))
	return state, err
}

// unlock reads the keys of a memory. It begins to seal one that is empty, or that Options.Seal says to.
func (s *Store) unlock(ctx context.Context) error {
	state, err := readSealing(ctx, s.engine)
	if err != nil {
		return s.failed(err, "read how the memory is sealed")
	}
	if state.Salt == "" {
		var keys bool
		if err := s.row(ctx, "SELECT EXISTS (SELECT 1 FROM data_key)").Scan(&keys); err != nil {
			return s.failed(err, "read how the memory is sealed")
		}
		if keys {
			return errors.New("the memory is sealed, but no longer says how: restore a backup with \"hark restore FILE\"")
		}
	}
	if s.vault == nil {
		if state.Salt != "" {
			return ErrKeyMissing
		}
		return nil
	}
	if state.Salt == "" {
		if !s.options.Seal {
			var some bool
			if err := s.row(ctx, "SELECT EXISTS (SELECT 1 FROM guild) OR EXISTS (SELECT 1 FROM person)").Scan(&some); some || err != nil {
				s.vault = nil
				return s.failed(err, "read how the memory is sealed")
			}
		}
		if err := s.writing(ctx, (*transaction).beginSealing); err != nil {
			return err
		}
		if state, err = readSealing(ctx, s.engine); err != nil {
			return s.failed(err, "read how the memory is sealed")
		}
	}
	return s.vault.open(ctx, s.engine, state)
}

// open reads the data keys.
func (v *Vault) open(ctx context.Context, q Querier, state sealing) error {
	key := v.secret.Key(state.Salt)
	if key.Fingerprint() != state.Fingerprint {
		return fmt.Errorf("%w (the memory's key is %s, the file's %s)", ErrWrongKey, state.Fingerprint, key.Fingerprint())
	}
	v.key.Store(key)
	return v.refresh(ctx, q)
}

// refresh reads the data keys, and whether any value is plain, again.
func (v *Vault) refresh(ctx context.Context, q Querier) error {
	if v == nil || v.key.Load() == nil {
		return nil
	}
	state, err := readResealing(ctx, q)
	if err != nil {
		return err
	}
	v.whole.Store(state.Plain != plainMark(v.key.Load()))
	if err := v.load(ctx, q, "1 = 1"); err != nil {
		return err
	}
	var left bool
	err = RowOf(ctx, q, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = '"+resealKey+"')").Scan(&left)
	if err != nil || left { // readers may still need keys that are destroyed meanwhile
		return err
	}
	numbers, err := column[int64](ctx, q, "SELECT number FROM data_key")
	if err == nil {
		v.keep(numbers)
	}
	return err
}

// noticeSealing has the vault hold the keys that other processes made, of guilds that they changed.
func (s *Store) noticeSealing(ctx context.Context, q Querier, guilds []memory.GuildID) error {
	if len(guilds) == 0 {
		return nil
	}
	state, err := readSealing(ctx, q)
	if err != nil || state.Salt == "" {
		return err
	}
	if s.vault == nil {
		return ErrKeyMissing
	}
	if key := s.vault.key.Load(); key != nil && key.Fingerprint() != state.Fingerprint {
		return ErrWrongKey
	}
	if slices.Contains(guilds, memory.Everywhere) {
		return s.vault.refresh(ctx, q)
	}
	return s.vault.load(ctx, q, "guild IN (SELECT value FROM json_each(?))", jsonOf(guilds))
}

// load reads the data keys that meet a condition.
func (v *Vault) load(ctx context.Context, q Querier, condition string, args ...any) error {
	return Each(ctx, q, func(scan Scanner) error {
		var number int64
		var guild memory.GuildID
		var wrapped string
		if err := scan(&number, &guild, &wrapped); err != nil {
			return err
		}
		if v.known(uint32(number)) != nil {
			return nil
		}
		_, err := v.unwrap(uint32(number), guild, wrapped)
		return err
	}, "SELECT number, guild, wrapped FROM data_key WHERE "+condition, args...)
}

// unwrap adds a data key.
func (v *Vault) unwrap(number uint32, guild memory.GuildID, wrapped string) (*DataKey, error) {
	data, err := v.key.Load().Unwrap(wrapped, placeOfKey(number, guild))
	if err != nil {
		return nil, changedAt(fmt.Sprintf("table data_key, row %d, column wrapped", number), err)
	}
	return v.add(number, guild, data)
}

func (v *Vault) add(number uint32, guild memory.GuildID, data []byte) (*DataKey, error) {
	c, err := seal.NewCipher(number, data)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if k := v.keys[number]; k != nil {
		return k, nil
	}
	k := &DataKey{c, guild}
	v.hold(k)
	return k, nil
}

// hold adds a key, unless it is there. The caller holds v.mu.
func (v *Vault) hold(k *DataKey) {
	if v.keys[k.Number()] == nil {
		v.keys[k.Number()], v.byGuild[k.guild] = k, append(v.byGuild[k.guild], k)
	}
}

// known returns the key with a number that the vault has; nil if it has none.
func (v *Vault) known(number uint32) *DataKey {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys[number]
}

// dropMade drops the keys that a transaction made, if it wasn't committed; t may be nil.
func (s *Store) dropMade(t *transaction) {
	if t != nil && len(t.made) > 0 {
		s.vault.drop(t.made)
	}
}

// holdMade adds the keys that a committed transaction made again, in case refresh, which couldn't see them, dropped
// them.
func (s *Store) holdMade(t *transaction) {
	if len(t.made) == 0 {
		return
	}
	s.vault.mu.Lock()
	defer s.vault.mu.Unlock()
	for _, k := range t.made {
		s.vault.hold(k)
	}
}

// keep drops all keys but those with the given numbers.
func (v *Vault) keep(numbers []int64) {
	there := make(map[uint32]bool, len(numbers))
	for _, n := range numbers {
		there[uint32(n)] = true
	}
	var gone []*DataKey
	v.mu.RLock()
	for number, k := range v.keys {
		if !there[number] {
			gone = append(gone, k)
		}
	}
	v.mu.RUnlock()
	v.drop(gone)
}

// drop removes keys that were destroyed, or never committed.
func (v *Vault) drop(gone []*DataKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, k := range gone {
		delete(v.keys, k.Number())
		v.byGuild[k.guild] = slices.DeleteFunc(slices.Clone(v.byGuild[k.guild]), func(o *DataKey) bool { return o == k })
	}
}

// of returns the keys that names and terms of a guild may be hashed with; nil stands for plain ones.
func (v *Vault) of(guild memory.GuildID) (keys []*DataKey) {
	if v == nil {
		return []*DataKey{nil}
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	keys = slices.Clone(v.byGuild[max(guild, 0)])
	if !v.whole.Load() {
		keys = append(keys, nil)
	}
	return keys
}

func placeOfKey(number uint32, guild memory.GuildID) string {
	return fmt.Sprintf("data_key %d %d", guild, number)
}

// keyPatience is how long a reader waits for a data key that another process has just made.
const keyPatience = 10 * time.Second

// keyOf returns the key of a sealed value; nil if there is none.
func (v *Vault) keyOf(number uint32) (*DataKey, error) {
	if k := v.known(number); k != nil {
		return k, nil
	}
	if v.read == nil || v.key.Load() == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyPatience)
	defer cancel()
	err := v.load(ctx, v.read, "number = ?", int64(number))
	return v.known(number), err
}

// key returns the data key of a guild, and makes one for a new guild. Direct messages, and what is of no guild, have
// that of guild 0.
func (t *transaction) key(guild memory.GuildID) *DataKey {
	guild = max(guild, 0)
	cached := &t.store.ingest.keys
	if k, ok := (*cached)[guild]; ok {
		return k
	}
	var number int64
	var wrapped string
	v := t.store.vault
	var k *DataKey
	if t.row("SELECT number, wrapped FROM data_key WHERE guild = ? AND retired = 0", guild).into(&number, &wrapped) {
		var err error
		k, err = v.unwrap(uint32(number), guild, wrapped)
		ensure(err)
	} else {
		k = t.newKey(guild)
	}
	if *cached == nil {
		*cached = map[memory.GuildID]*DataKey{}
	}
	(*cached)[guild] = k
	return k
}

func (t *transaction) newKey(guild memory.GuildID) *DataKey {
	data := make([]byte, seal.KeyBytes)
	_, _ = cryptorand.Read(data) // never fails
	v := t.store.vault
	number := rand.Uint32()
	wrapped, err := v.key.Load().Wrap(data, placeOfKey(number, guild))
	ensure(err)
	t.changed.structure[guild] = true // other processes search with it
	t.exec("INSERT INTO data_key (number, guild, retired, wrapped) VALUES (?, ?, 0, ?)", int64(number), guild, wrapped)
	k, err := v.add(number, guild, data)
	ensure(err)
	t.made = append(t.made, k)
	return k
}

// beginSealing notes that a memory is sealed from now on. What is in it is still plain.
func (t *transaction) beginSealing() {
	v := t.store.vault
	if t.meta(SealKey) != "" { // another process was faster
		return
	}
	state := sealing{Salt: seal.NewSalt()}
	key := v.secret.Key(state.Salt)
	state.Fingerprint = key.Fingerprint()
	t.note(SealKey, t.jsonText(state))
	t.changed.structure[memory.Everywhere] = true // processes without the key must stop
	if t.has("SELECT 1 FROM guild LIMIT 1") || t.has("SELECT 1 FROM person LIMIT 1") {
		t.note(resealKey, t.jsonText(resealing{Plain: plainMark(key)}))
	}
}

// keyed returns hashes of terms, separated by spaces, keyed by k; as they are without a key.
func (k *DataKey) keyed(hashes string) string {
	if k == nil || hashes == "" {
		return hashes
	}
	all := make([]uint64, 0, len(hashes)/8)
	for hash := range strings.FieldsSeq(hashes) {
		all = append(all, hashOf(hash))
	}
	k.KeyTerms(all)
	b := make([]byte, 0, len(hashes))
	for i, hash := range all {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendLetters(b, hash)
	}
	return string(b)
}

// token returns what the column token holds for a name: NULL in a memory without a key.
func (t *transaction) token(guild memory.GuildID, channel memory.ChannelID, name string) any {
	if t.store.vault == nil {
		return nil
	}
	return tokenOf(t.key(guild), channel, name)
}

func tokenOf(k *DataKey, channel memory.ChannelID, name string) string {
	return base64.RawStdEncoding.EncodeToString(k.Token(name, binary.BigEndian.AppendUint64(nil, uint64(channel))))
}

// keyIfSealed returns the key that new values are sealed with; nil in a memory without a key.
func (t *transaction) keyIfSealed(guild memory.GuildID) *DataKey {
	if t.store.vault == nil {
		return nil
	}
	return t.key(guild)
}
