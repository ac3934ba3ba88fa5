package imports

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

const (
	// maxItem bounds a line, or a message of an export. Discord's own limit is 4,000 characters.
	maxItem = 16 << 20
	// peekSize is how far a file is looked into to see what it is.
	peekSize = 1 << 20
	// readAhead is how much is read at once, so that what is buffered beyond an item stays small.
	readAhead = 64 << 10
)

// kept ends the sentence about a file that breaks off.
const kept = "what was read so far is kept; import the file again when it is whole"

// source is the file's text, unzipped and without byte order mark.
type source struct {
	*bufio.Reader
	raw  *counter // below gzip
	text *counter
}

// item begins a line or a message of at most maxItem bytes.
func (s *source) item() { s.text.end = s.text.n + maxItem }

// counter counts bytes read and stops at an optional end.
type counter struct {
	r   io.Reader
	n   int64
	end int64 // reading beyond it is an error; 0: no end
}

// errTooLong says that something was longer than maxItem.
var errTooLong = fmt.Errorf("longer than %d MiB", maxItem>>20)

func (c *counter) Read(p []byte) (int, error) {
	if c.end > 0 && c.n >= c.end {
		return 0, errTooLong
	}
	n, err := c.r.Read(p[:min(len(p), readAhead)])
	c.n += int64(n)
	return n, err
}

func open(r io.Reader) (*source, error) {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, errors.New("this is a directory: name the files in it")
		}
	}
	raw := &counter{r: r}
	packed := bufio.NewReaderSize(raw, 64<<10)
	var plain io.Reader = packed
	if magic, _ := packed.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzip, err := gzip.NewReader(packed)
		if err != nil {
			return nil, damaged(err, "at its very start")
		}
		plain = unzip
	}
	text := &counter{r: &unended{r: plain}}
	src := &source{
		Reader: bufio.NewReaderSize(text, peekSize),
		raw:    raw,
		text:   text,
	}
	return src, src.skipMark()
}

// unended leaves out the white space at a text's end: a file that is cut off often got a line feed since.
type unended struct {
	r    io.Reader
	held []byte // white space that something may follow
	next []byte // to be read before all else
	err  error  // once next is read
}

// heldSpace is how much white space is held back; where there is more it isn't the end of a line.
const heldSpace = 1 << 10

func (u *unended) Read(p []byte) (int, error) {
	for len(u.next) == 0 && u.err == nil {
		buf := make([]byte, readAhead)
		n, err := u.r.Read(buf)
		text := append(u.held, buf[:n]...)
		end := len(bytes.TrimRight(text, " \t\r\n"))
		if len(text)-end > heldSpace || err != nil && !errors.Is(err, io.EOF) {
			end = len(text)
		}
		u.next = text[:end:end]
		u.held = text[end:]
		u.err = err
	}
	n := copy(p, u.next)
	u.next = u.next[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, u.err
}

// skipMark passes over a byte order mark and refuses those of encodings other than UTF-8.
func (s *source) skipMark() error {
	head, err := s.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return damaged(err, "at its very start")
	}
	switch {
	case bytes.Equal(head, []byte{0xEF, 0xBB, 0xBF}):
		_, err := s.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return errors.New("the file is in UTF-16: save it as UTF-8 and import it again")
	}
	return nil
}

// damaged says where a file breaks off or is broken, and what to do.
func damaged(err error, where string) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("the file is cut off %s: %s", where, kept)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), corrupt:
		return fmt.Errorf("the gzip file is damaged %s: fetch or compress it again; %s", where, kept)
	case errors.Is(err, errTooLong):
		return fmt.Errorf("what stands %s is %w, which no conversation has: correct it; %s", where, err, kept)
	}
	return fmt.Errorf("reading the file %s: %w; %s", where, err, kept)
}
