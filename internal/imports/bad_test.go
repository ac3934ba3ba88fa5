package imports

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"hark/internal/golden"
)

func TestBadFilesAreToldWhatToDo(t *testing.T) {
	t.Parallel()
	export := exportHead + exportMessages
	long := strings.Repeat("long ", maxItem/4)
	packed := zip(manyLines(50))
	flipped := []byte(packed)
	flipped[len(flipped)-6] ^= 1
	broken := []byte(zip(export))
	for i := 60; i < 80; i++ {
		broken[i] ^= 0x55
	}
	for name, c := range map[string]struct {
		file  string
		least int // messages kept
	}{
		"empty":               {"", 0},
		"blank":               {" \n\uFEFF\n", 0},
		"empty gzip":          {zip(""), 0},
		"text":                {"hello there\n", 0},
		"binary":              {"PK\x03\x04\x00\x00", 0},
		"HTML":                {"<!DOCTYPE html>\n<html>", 0},
		"CSV":                 {"AuthorID,Author,Date,Content,Attachments,Reactions\n\"1\",\"a\"", 0},
		"CSV with quotes":     {"\"AuthorID\",\"Author\",\"Date\",\"Content\"\n", 0},
		"plain text export":   {"==============\nGuild: Harbour\nChannel: dock\n", 0},
		"UTF-16":              {"\xFF\xFE{\x00", 0},
		"array":               {`[{"id":"1"}]`, 0},
		"array of numbers":    {`[1,2]`, 0},
		"zip":                 {"PK\x03\x04\x14\x00", 0},
		"slack channels":      {`[{"id":"C1","name":"dock","created":1600000000,"members":["U1"]}]`, 0},
		"slack day":           {`[{"type":"message","user":"U1","text":"hi","ts":"1600000000.000100"}]`, 0},
		"slack users":         {`[{"id":"U1","team_id":"T1","name":"ada","profile":{}}]`, 0},
		"data package":        {`[{"ID":1000000000000000001,"Timestamp":"2022-07-22 11:22:59","Contents":"hi","Attachments":""}]`, 0},
		"older data package":  {"ID,Timestamp,Contents,Attachments\n", 0},
		"other object":        {`{"name":"x","type":"personal_chat","messages":[]}`, 0},
		"other keys":          {`{"a":{"b":[1,{}]},"c":2}`, 0},
		"endless other":       {`{"a":"` + long[:peekSize] + `"}`, 0},
		"broken object":       {`{"a":}`, 0},
		"broken key":          {`{a:1}`, 0},
		"broken rest":         {`{"a":[1,}`, 0},
		"broken end":          {`{"a":1]`, 0},
		"cut at once":         {`{"ch`, 0},
		"gzip header cut":     {packed[:5], 0},
		"gzip header only":    {packed[:10], 0},
		"gzip of nothing":     {"\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0},
		"gzip cut":            {packed[:len(packed)-9], 40},
		"gzip sum wrong":      {string(flipped), 50},
		"gzip broken":         {string(broken), 0},
		"set cut":             {line(nil) + line(nil)[:40], 1},
		"set cut at a line":   {line(nil) + line(nil)[:40] + "\r\n\n", 1},
		"set broken at end":   {line(nil) + "{oops}\n", 1},
		"set broken":          {line(nil) + "{oops}\n" + line(nil), 1},
		"set with NUL":        {line(nil) + "{\"type\":\x00}\n", 1},
		"long line":           {line(nil) + line(map[string]any{"text": long}), 1},
		"export cut at line":  {export[:len(export)-200] + "\n", 1},
		"cut at once at line": {`{"ch` + "\n", 0},
		"export cut in head":  {export[:150], 0},
		"export cut at colon": {`{"guild":{"id":"1"},"channel":`, 0},
		"export cut in item":  {export[:len(export)-200], 1},
		"export cut in list":  {exportHead + `{"id":"1000000000000000001"},`, 1},
		"export cut at end":   {strings.TrimSpace(export)[:len(strings.TrimSpace(export))-1], 2},
		"export cut in rest":  {`{"guild":{"id":"1"},"date":[{"a"`, 0},
		"export damaged":      {exportHead + `{"id":"1000000000000000001"},{"id" "2"}]}`, 1},
		"export with NUL":     {exportHead + "{\"id\":\"1000000000000000001\"},\x00]}", 1},
		"export with more":    {export + export, 2},
		"export with rubbish": {export + "}", 2},
		"no guild":            {`{"channel":{"id":"1"},"messages":[]}`, 0},
		"no ids":              {`{"guild":{"name":"x"},"channel":{"id":"1"},"messages":[]}`, 0},
		"messages no list":    {`{"guild":{"id":"1"},"channel":{"id":"1"},"messages":{}}`, 0},
		"messages cut":        {`{"guild":{"id":"1"},"channel":{"id":"1"},"messages":`, 0},
		"long export message": {exportHead + `{"id":"1000000000000000001"},{"id":"2","content":"` + long + `"}]}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			sum, err := Read(t.Context(), strings.NewReader(c.file), s, s.apply, nil)
			if err == nil {
				t.Fatalf("no error; %+v", sum)
			}
			golden.Seen(t, err.Error())
			if sum.Messages < c.least {
				t.Errorf("kept %d messages, want %d", sum.Messages, c.least)
			}
		})
	}
}

func TestDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	s := newShelf()
	if _, err := Read(t.Context(), dir, s, s.apply, nil); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
}

func TestAFailingDiskIsNamed(t *testing.T) {
	t.Parallel()
	disk := errors.New("the disk is gone")
	for _, before := range []string{"", set, exportHead} {
		s := newShelf()
		_, err := Read(t.Context(), io.MultiReader(strings.NewReader(before), iotest.ErrReader(disk)), s, s.apply, nil)
		if !errors.Is(err, disk) {
			t.Errorf("after %d bytes: %v", len(before), err)
		}
	}
}
