// Package golden compares what people see with files beside the tests. "go test -update" writes them.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write golden files")

// Updating reports whether golden files are written rather than compared.
func Updating() bool { return *update }

// File compares got with a file, or writes it there with -update.
func File(tb testing.TB, path, got string) {
	tb.Helper()
	if *update {
		write(tb, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s differs (-want +got; -update writes it):\n%s", path, diff)
	}
}

const seen = "testdata/seen.txtar"

var entries struct {
	sync.Mutex
	read  bool
	text  map[string]string
	count map[string]int // by test
}

// Seen compares what somebody sees with its entry in testdata/seen.txtar, named after the test and numbered
// by the order of its calls. With -update it writes the entry; a run of all tests of the package also drops
// those left over.
func Seen(tb testing.TB, got string) {
	tb.Helper()
	entries.Lock()
	defer entries.Unlock()
	if !entries.read {
		read(tb)
	}
	test := tb.Name()
	if entries.count[test] == 0 {
		tb.Cleanup(func() { // it may run again, by -count
			entries.Lock()
			defer entries.Unlock()
			delete(entries.count, test)
		})
	}
	entries.count[test]++
	name := fmt.Sprintf("%s %02d", test, entries.count[test])
	got = strings.TrimRight(got, "\n") + "\n"
	if !*update {
		if diff := cmp.Diff(entries.text[name], got); diff != "" {
			tb.Errorf("%q in %s differs (-want +got; -update writes it):\n%s", name, seen, diff)
		}
		return
	}
	entries.text[name] = got
	var all txtar.Archive
	for name, text := range entries.text {
		all.Files = append(all.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	slices.SortFunc(all.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	write(tb, seen, txtar.Format(&all))
}

// read needs the lock.
func read(tb testing.TB) {
	tb.Helper()
	entries.read, entries.text, entries.count = true, map[string]string{}, map[string]int{}
	if *update && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		return
	}
	archive, err := txtar.ParseFile(seen)
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	if archive == nil {
		return
	}
	for _, f := range archive.Files {
		entries.text[f.Name] = string(f.Data)
	}
}

func write(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}
