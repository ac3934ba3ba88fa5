package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// importable are the ends of the names of files that are taken from a directory, and foreign those of exports in another form,
// which are taken to have said what to do about them. A file that is named itself may be called anything.
var (
	importable = []string{".json", ".jsonl", ".ndjson", ".gz"}
	foreign    = []string{".html", ".htm", ".csv", ".txt"}
)

// filesIn are the files to import: those named, and in the place of a directory those in it, in order of their names. It
// tells of directories that there is nothing in, and reports whether there was one.
func (f *flags) filesIn(names []string) (paths []string, failed bool) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			paths = append(paths, name)
			continue
		}
		found, passed, err := filesBelow(name)
		if err == nil && len(found) == 0 {
			err = errors.New("there is nothing in this directory that can be imported: needed are exports as JSON, or recall sets, whose names end in .json, .jsonl, .ndjson or .gz")
		}
		if err != nil {
			failed = true
			fmt.Fprintf(f.env.stderr, "hark: %s: %v\n", name, err)
			continue
		}
		if passed > 0 {
			fmt.Fprintf(f.env.stderr, "%s: %s passed over, whose names don't end as those of exports do.\n", name, plural(passed, "file"))
		}
		paths = append(paths, found...)
	}
	return paths, failed
}

// filesBelow are the files of a directory, and of those in it, that may be exports, and how many others there are.
func filesBelow(dir string) (found []string, passed int, err error) {
	var others []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && path != dir
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		switch end := strings.ToLower(filepath.Ext(path)); {
		case slices.Contains(importable, end):
			found = append(found, path)
		case slices.Contains(foreign, end):
			others = append(others, path)
		default:
			passed++
		}
		return nil
	})
	if len(found) == 0 && len(others) > 0 {
		return others[:1], passed + len(others) - 1, err
	}
	return found, passed + len(others), err
}
