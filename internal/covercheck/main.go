// Command covercheck prints the statement coverage of each package in a cover profile. In the packages it is
// given it wants at least -min percent, and for every statement that no test reached a comment
// "// uncovered: reason", on the first line of its block or on a line of the block itself.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const module = "hark/"

func main() {
	profile := flag.String("profile", "cover.out", "the `file` that go test -coverprofile wrote")
	least := flag.Float64("min", 95, "the least coverage in `percent` of the packages named")
	flag.Parse()
	file, err := os.Open(*profile)
	if err == nil {
		defer file.Close()
		err = run(file, os.DirFS("."), flag.Args(), *least, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads a profile and prints what it says; source is the module's root. The error is for packages that
// fall short.
func run(profile io.Reader, source fs.FS, strict []string, least float64, out io.Writer) error {
	blocks, err := parse(profile)
	if err != nil {
		return err
	}
	packages := map[string]*coverage{}
	for _, name := range strict {
		packages[name] = &coverage{}
	}
	for _, b := range blocks {
		name := path.Dir(b.file)
		if packages[name] == nil {
			packages[name] = &coverage{}
		}
		packages[name].add(b)
	}
	short := 0
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		c := packages[name]
		fmt.Fprintf(out, "%5.1f%%  %s (%d of %d statements)\n", c.percent(), name, c.covered, c.total)
		if !slices.Contains(strict, name) {
			continue
		}
		if c.percent() < least {
			short++
			fmt.Fprintf(out, "        should be at least %.1f%%\n", least)
		}
		unexplained, err := unexplained(c.missed, source)
		if err != nil {
			return err
		}
		for _, b := range unexplained {
			short++
			fmt.Fprintf(out, "        %s:%d: no test comes here, and no comment \"// uncovered:\" says why\n", b.file, b.first)
		}
	}
	if short > 0 {
		return fmt.Errorf("coverage falls short: %d complaints", short)
	}
	return nil
}

// block is a run of statements that are executed together or not at all.
type block struct {
	file        string // within the module
	first, last int    // lines
	statements  int
	covered     bool
}

var line = regexp.MustCompile(`^` + module + `(.+\.go):(\d+)\.\d+,(\d+)\.\d+ (\d+) (\d+)$`)

// parse reads the blocks of a profile, in its order. One that is listed twice, because the tests of several
// packages were counted, is covered if either is.
func parse(profile io.Reader) ([]block, error) {
	var blocks []block
	index := map[string]int{}
	lines := bufio.NewScanner(profile)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if n == 1 && strings.HasPrefix(text, "mode: ") {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("line %d isn't one of this module's cover profile: %q", n, text)
		}
		place := text[:strings.IndexByte(text, ' ')]
		i, twice := index[place]
		if !twice {
			i = len(blocks)
			index[place] = i
			blocks = append(blocks, block{file: m[1], first: number(m[2]), last: number(m[3]), statements: number(m[4])})
		}
		blocks[i].covered = blocks[i].covered || m[5] != "0"
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the cover profile: %w", err)
	}
	return blocks, nil
}

// number is the value of digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the expression has seen that these are digits
	return n
}

// coverage is that of a package.
type coverage struct {
	total, covered int // statements
	missed         []block
}

func (c *coverage) add(b block) {
	c.total += b.statements
	if b.covered {
		c.covered += b.statements
	} else if b.statements > 0 {
		c.missed = append(c.missed, b)
	}
}

func (c *coverage) percent() float64 {
	if c.total == 0 {
		return 0
	}
	return 100 * float64(c.covered) / float64(c.total)
}

var reason = regexp.MustCompile(`// uncovered: *\S`)

// unexplained are the blocks without a comment that says why no test reaches them. On a block's last line,
// where the next one begins, a comment is the next one's.
func unexplained(blocks []block, source fs.FS) ([]block, error) {
	var found []block
	for _, b := range blocks {
		text, err := fs.ReadFile(source, b.file)
		if err != nil {
			return nil, fmt.Errorf("look for a reason: %w", err)
		}
		lines := strings.Split(string(text), "\n")
		if b.first < 1 || b.first > len(lines) {
			return nil, fmt.Errorf("%s has no line %d: the profile is of another version", b.file, b.first)
		}
		within := lines[b.first-1 : max(b.first, min(b.last-1, len(lines)))]
		if !slices.ContainsFunc(within, reason.MatchString) {
			found = append(found, b)
		}
	}
	return found, nil
}
