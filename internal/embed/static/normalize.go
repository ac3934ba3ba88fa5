package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// Parts of parts, and parts of one, that are read at most: real tokenizers have two levels and some forty parts.
const maxDepth, maxParts = 4, 200

// newStep reads a normalizer, which lies depth levels deep.
func newStep(body json.RawMessage, depth int) (step, error) {
	var p struct {
		Type    string
		Parts   []json.RawMessage `json:"normalizers"`
		Pattern struct{ String, Regex string }
		Content string
		Prepend string
		Left    bool   `json:"strip_left"`
		Right   bool   `json:"strip_right"`
		Clean   bool   `json:"clean_text"`
		Chinese bool   `json:"handle_chinese_chars"`
		Accents *bool  `json:"strip_accents"`
		Lower   bool   `json:"lowercase"`
		Map     []byte `json:"precompiled_charsmap"`
	}
	if len(body) > 0 && json.Unmarshal(body, &p) != nil {
		return nil, unread("normalizer", string(body[:min(len(body), 40)]))
	}
	switch p.Type {
	case "":
		return func(text string) string { return text }, nil
	case "BertNormalizer":
		strip := p.Lower
		if p.Accents != nil {
			strip = *p.Accents
		}
		return func(text string) string {
			if p.Clean || p.Chinese {
				text = clean(text, p.Clean, p.Chinese)
			}
			if strip {
				text = withoutAccents(norm.NFD.String(text))
			}
			if p.Lower {
				text = strings.ToLower(text)
			}
			return text
		}, nil
	case "Lowercase":
		return strings.ToLower, nil
	case "StripAccents":
		return withoutAccents, nil
	case "NFC", "NFD", "NFKC", "NFKD":
		forms := map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}
		return forms[p.Type].String, nil
	case "Prepend":
		return func(text string) string {
			if text == "" {
				return ""
			}
			return p.Prepend + text
		}, nil
	case "Strip":
		return func(text string) string {
			if p.Left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if p.Right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}, nil
	case "Replace":
		if len(p.Content) > maxReplaced || p.Pattern.Regex == "" && p.Pattern.String == "" {
			return nil, errors.New("its normalizer replaces nothing, or with too much")
		}
		if p.Pattern.Regex == "" {
			return func(text string) string { return strings.ReplaceAll(text, p.Pattern.String, p.Content) }, nil
		}
		pattern, err := regexp.Compile(p.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf("its normalizer has a pattern that Hark can't read: %w", err)
		}
		return func(text string) string { return pattern.ReplaceAllLiteralString(text, p.Content) }, nil
	case "Precompiled":
		m, err := newCharacterMap(p.Map)
		return m.apply, err
	case "Sequence":
		if depth >= maxDepth || len(p.Parts) > maxParts {
			return nil, errors.New("its normalizer has too many parts")
		}
		var steps []step
		for _, part := range p.Parts {
			s, err := newStep(part, depth+1)
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		}
		return func(text string) string {
			for _, s := range steps {
				text = s(text)
				if len(text) > maxText {
					text = strings.ToValidUTF8(text[:maxText], "")
				}
			}
			return text
		}, nil
	}
	return nil, unread("normalizer", p.Type)
}

// maxReplaced is how long what is put into a text may be, in bytes.
const maxReplaced = 64

// clean drops control characters, makes all white space spaces, and puts spaces around ideographs, as BERT does.
func clean(text string, control, chinese bool) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		switch {
		case r > ' ' && r < 0x7f:
			b.WriteByte(byte(r))
		case control && unicode.IsSpace(r):
			b.WriteByte(' ')
		case control && (r == 0 || r == utf8.RuneError || unicode.Is(unicode.C, r)):
		case chinese && isIdeograph(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isIdeograph reports whether BERT takes a character for a word of its own.
// https://github.com/google-research/bert/blob/master/multilingual.md#tokenization
func isIdeograph(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2ceaf || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

func withoutAccents(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x300 && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// characterMap replaces characters as SentencePiece does: a trie in a double array (darts-clone) leads to where a
// character's replacement begins, which ends with a zero byte.
// https://github.com/google/sentencepiece/blob/master/doc/normalization.md
type characterMap struct {
	nodes []uint32
	texts string
}

func newCharacterMap(body []byte) (characterMap, error) {
	if len(body) < 4 {
		return characterMap{}, fmt.Errorf("its precompiled_charsmap is cut off")
	}
	n := binary.LittleEndian.Uint32(body)
	body = body[4:]
	if uint64(n) > uint64(len(body)) || n%4 != 0 {
		return characterMap{}, fmt.Errorf("its precompiled_charsmap is cut off")
	}
	m := characterMap{nodes: make([]uint32, n/4), texts: string(body[n:])}
	for i := range m.nodes {
		m.nodes[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return m, nil
}

// shortCluster is below how many bytes a cluster of characters is looked up as a whole.
const shortCluster = 6

func (m characterMap) apply(text string) string {
	var b strings.Builder
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if whole, is := m.find(cluster); is && len(cluster) < shortCluster {
			b.WriteString(whole)
			continue
		}
		for _, r := range cluster {
			if one, is := m.find(string(r)); is {
				b.WriteString(one)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// find returns what the shortest beginning of key that is in the map is replaced with.
func (m characterMap) find(key string) (string, bool) {
	at := uint32(0)
	next := func(by uint32) bool {
		at ^= by
		return uint64(at) < uint64(len(m.nodes))
	}
	children := func(node uint32) uint32 { return node >> 10 << (node & (1 << 9) >> 6) }
	if len(m.nodes) == 0 {
		return "", false
	}
	at = children(m.nodes[0])
	for i := range len(key) {
		if key[i] == 0 || !next(uint32(key[i])) {
			return "", false
		}
		node := m.nodes[at]
		if node&(1<<31|0xff) != uint32(key[i]) || !next(children(node)) {
			return "", false
		}
		if node>>8&1 == 1 {
			from := uint64(m.nodes[at] &^ (1 << 31))
			if from > uint64(len(m.texts)) {
				return "", false
			}
			replacement, _, _ := strings.Cut(m.texts[from:], "\x00")
			return replacement, true
		}
	}
	return "", false
}
