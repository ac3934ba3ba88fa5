package main

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
)

const code = `package a

func f(ok bool) error {
	if ok { // uncovered: it never is
		return nil
	} else {
		println("x")
		return g() // uncovered: nobody can
	}
	if !ok { // uncovered:
		return nil
	}
	return nil
}
`

func TestRun(t *testing.T) {
	t.Parallel()
	source := fstest.MapFS{"a/a.go": {Data: []byte(code)}}
	for _, c := range []struct {
		name, profile string
		least         float64
		out, err      string
	}{
		{"all covered", "hark/a/a.go:3.1,4.8 9 1\nhark/b/b.go:1.1,2.2 3 0", 95,
			"100.0%  a (9 of 9 statements)\n  0.0%  b (0 of 3 statements)\n", ""},
		{"with reasons", "hark/a/a.go:3.1,4.8 97 5\nhark/a/a.go:4.8,6.3 1 0\nhark/a/a.go:6.9,9.3 2 0", 95,
			" 97.0%  a (97 of 100 statements)\n", ""},
		{"too few", "hark/a/a.go:3.1,4.8 97 5\nhark/a/a.go:4.8,6.3 3 0", 98,
			" 97.0%  a (97 of 100 statements)\n        should be at least 98.0%\n", "coverage falls short: 1 complaints"},
		{"a reason that is empty", "hark/a/a.go:3.1,4.8 99 5\nhark/a/a.go:10.9,12.3 1 0", 95,
			" 99.0%  a (99 of 100 statements)\n        a/a.go:10: no test comes here, and no comment \"// uncovered:\" says why\n",
			"coverage falls short: 1 complaints"},
		{"a reason that is the next block's", "hark/a/a.go:3.1,4.8 1 0", 0,
			"  0.0%  a (0 of 1 statements)\n        a/a.go:3: no test comes here, and no comment \"// uncovered:\" says why\n",
			"coverage falls short: 1 complaints"},
		{"counted twice", "hark/a/a.go:3.1,4.8 9 0\nhark/a/a.go:3.1,4.8 9 1\nhark/a/a.go:3.1,4.8 9 0", 95,
			"100.0%  a (9 of 9 statements)\n", ""},
		{"no statements to excuse", "hark/a/a.go:3.1,4.8 9 1\nhark/a/a.go:12.3,12.3 0 0", 95,
			"100.0%  a (9 of 9 statements)\n", ""},
		{"nothing at all", "", 95, "  0.0%  a (0 of 0 statements)\n        should be at least 95.0%\n", "coverage falls short: 1 complaints"},
		{"of another module", "other/a.go:3.1,4.8 9 1", 95, "", `line 2 isn't one of this module's cover profile: "other/a.go:3.1,4.8 9 1"`},
		{"of a file that is gone", "hark/a/gone.go:3.1,4.8 9 0", 0, "  0.0%  a (0 of 9 statements)\n",
			"look for a reason: open a/gone.go: file does not exist"},
		{"of another version", "hark/a/a.go:99.1,99.8 9 0", 0, "  0.0%  a (0 of 9 statements)\n",
			"a/a.go has no line 99: the profile is of another version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := run(strings.NewReader("mode: atomic\n"+c.profile), source, []string{"a"}, c.least, &out)
			if got := out.String(); got != c.out {
				t.Errorf("printed\n%s\nwant\n%s", got, c.out)
			}
			if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("error %v; want %s", err, c.err)
			}
		})
	}
}

func TestRunOnAProfileThatBreaksOff(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if err := run(iotest.ErrReader(broken), fstest.MapFS{}, nil, 95, &strings.Builder{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}
