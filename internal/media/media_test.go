package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/memory"
)

// scribe writes down whatever it gets.
type scribe struct {
	heard [][]byte
	text  string
	err   error
}

func (*scribe) Name() string { return "scribe" }

func (s *scribe) Transcribe(_ context.Context, ogg []byte) (string, error) {
	s.heard = append(s.heard, ogg)
	return s.text, s.err
}

// painter describes whatever it is shown.
type painter struct {
	shown []chat.Request
	text  string
	err   error
}

func (*painter) Name() string { return "painter" }

func (p *painter) Chat(_ context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	p.shown = append(p.shown, r)
	delta(p.text)
	return chat.Reply{Text: p.text, PromptTokens: 900, CompletionTokens: 12}, p.err
}

func picture(encode func(*bytes.Buffer, image.Image) error) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 8, 6))
	m.Set(2, 3, color.White)
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var (
	aPNG  = picture(func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	aJPEG = picture(func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) })
	aGIF  = picture(func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) })
	anOgg = append([]byte("OggS\x00\x02"), make([]byte, 200)...)
)

// bomb is a PNG that says to be of a size.
func bomb(width, height uint32) []byte {
	b := bytes.Clone(aPNG)
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestWhatIsToldOfFiles(t *testing.T) {
	t.Parallel()
	s, p := &scribe{text: " Meet me\n at \x00noon "}, &painter{text: "A cat.\nText: FREE"}
	teller := &Teller{Voice: s, Pictures: p, PerDay: 5}
	for _, c := range []struct {
		kind memory.FileKind
		data []byte
		want string
	}{
		{memory.VoiceFile, anOgg, "Meet me at noon"}, {memory.ImageFile, aPNG, "A cat. Text: FREE"},
		{memory.ImageFile, aJPEG, "A cat. Text: FREE"}, {memory.ImageFile, aGIF, "A cat. Text: FREE"},
		{memory.ImageFile, []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "A cat. Text: FREE"},
	} {
		told, err := teller.Tell(t.Context(), c.kind, c.data)
		if err != nil || told.Text != c.want || (told.Tokens == 912) != (c.kind == memory.ImageFile) {
			t.Errorf("%s %.8q: %+v, %v", c.kind, c.data, told, err)
		}
	}
	if shown := p.shown[0].Messages[1].Images; len(shown) != 1 || shown[0].Type != "image/png" || !bytes.Equal(shown[0].Data, aPNG) {
		t.Errorf("the model was shown %v", p.shown)
	}
	s.text, p.text = strings.Repeat("word ", 10_000), strings.Repeat("cat ", 10_000)
	for kind, most := range map[memory.FileKind]int{memory.VoiceFile: maxTranscript, memory.ImageFile: maxDescribed} {
		told, err := teller.Tell(t.Context(), kind, map[memory.FileKind][]byte{memory.VoiceFile: anOgg, memory.ImageFile: aPNG}[kind])
		if err != nil || len(told.Text) > most+10 {
			t.Errorf("%s: %d bytes, %v", kind, len(told.Text), err)
		}
	}
}

// refused is a server's word that it can't use what it was given.
type refused struct{ error }

func (refused) OfText() bool { return true }

// Of what is no voice message or picture nothing is told, and no model is asked.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	s, p := &scribe{text: "said"}, &painter{text: "shown"}
	teller := &Teller{Voice: s, Pictures: p, PerDay: 5}
	files := map[string][]byte{
		"nothing": nil, "a byte": {0}, "zeros": make([]byte, 1000), "text": []byte("hello"), "a page": []byte("<!DOCTYPE html><html>"),
		"a script": []byte("#!/bin/sh\nrm -rf /"), "SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"a PDF": []byte("%PDF-1.7"), "a ZIP": []byte("PK\x03\x04"), "gzip": []byte("\x1f\x8b\x08\x00"), "ELF": []byte("\x7fELF"),
		"MP3": []byte("ID3\x03"), "WAV": []byte("RIFF\x00\x00\x00\x00WAVEfmt "), "MP4": []byte("\x00\x00\x00\x18ftypmp42"),
		"BMP": []byte("BM\x00\x00"), "TIFF": []byte("II*\x00"), "an icon": []byte("\x00\x00\x01\x00"),
		"a PNG's head": aPNG[:8], "a PNG cut in its header": aPNG[:20], "a PNG with a wrong header": append(bytes.Clone(aPNG[:12]), "XXXX"...),
		"a JPEG's head": aJPEG[:4], "a JPEG cut": aJPEG[:20], "a GIF's head": aGIF[:6],
		"a bomb": bomb(60_000, 60_000), "a wide bomb": bomb(1<<31-1, 1), "a tall bomb": bomb(1, 1<<31-1), "no pixels": bomb(0, 0),
		"a negative size": bomb(1<<31, 1<<31), "an Ogg's head": []byte("Ogg"), "a late Ogg": append([]byte{0}, anOgg...),
		"too large a picture": append(bytes.Clone(aPNG), make([]byte, maxImageBytes)...),
		"too long a message":  append(bytes.Clone(anOgg), make([]byte, maxVoiceBytes)...),
	}
	if len(files) < 30 {
		t.Fatalf("%d files", len(files))
	}
	for name, data := range files {
		for _, kind := range []memory.FileKind{memory.VoiceFile, memory.ImageFile, "", "video"} {
			if told, err := teller.Tell(t.Context(), kind, data); !errors.Is(err, ErrFile) {
				t.Errorf("%s as %s: %+v, %v", name, kind, told, err)
			}
		}
	}
	if len(s.heard)+len(p.shown) > 0 {
		t.Errorf("models were asked: %d, %d", len(s.heard), len(p.shown))
	}
}

// A server that can't be asked is asked again, a file that it can't use isn't.
func TestFailures(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for _, c := range []struct {
		err  error
		text string
		file bool
	}{{away, "", false}, {refused{away}, "", true}, {fmt.Errorf("asked: %w", refused{away}), "", true}, {nil, " \n", true}} {
		teller := &Teller{Voice: &scribe{text: c.text, err: c.err}, Pictures: &painter{text: c.text, err: c.err}, PerDay: 5}
		for kind, data := range map[memory.FileKind][]byte{memory.VoiceFile: anOgg, memory.ImageFile: aPNG} {
			if _, err := teller.Tell(t.Context(), kind, data); err == nil || errors.Is(err, ErrFile) != c.file {
				t.Errorf("%s, %v: %v", kind, c.err, err)
			}
		}
	}
	for _, none := range []*Teller{nil, {}, {PerDay: 5}, {Pictures: &painter{}}} {
		if none.Can(memory.VoiceFile) || none.Can(memory.ImageFile) {
			t.Errorf("%+v can tell", none)
		}
	}
}
