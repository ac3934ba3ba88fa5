package builder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/memory"
)

const goldenMark = "\n-- prompt --\n"

// example is the first half of a golden file.
type example struct {
	Options  Options
	Language string // of the labels, if not English
	NoEmoji  bool
	Zone     string // for the time, which JSON gives an offset only
	Input    Input
	Crowd    struct{ People, Hits, Turns int } // that many more of each
}

// crowd adds what would be too long to write down.
func (g *example) crowd() {
	in := &g.Input
	for i := range g.Crowd.People {
		in.Participants = append(in.Participants, Participant{
			ID: memory.UserID(1000 + i), Name: fmt.Sprintf("Member %d",
				i), LastActive: in.Now.Add(-time.Duration(i*i) * time.Minute),
			Data: fmt.Sprintf("Number %d of the choir, and brings cake on every %d. day of the month.", i, 1+i%28),
		})
	}
	for i := range g.Crowd.Hits {
		in.History = append(in.History, Item{Relevance: float64(i*7919%10_000) / 10_000, Lines: []Line{{
			Message: memory.MessageID(1 + i), Author: memory.UserID(1000 +
				i%max(1, g.Crowd.People)), Time: in.Now.Add(-time.Duration(i) * time.Hour),
			Content: fmt.Sprintf("Message %d says that the rehearsal is in room %d.", i, i%17),
		}}})
	}
	for i := range g.Crowd.Turns {
		in.Session = append(in.Session, Turn{
			Author: memory.UserID(1000 + i%3), Speaker: fmt.Sprintf("Member %d",
				i%3), Time: in.Now.Add(-time.Duration(g.Crowd.Turns-i) * time.Minute),
			Content: fmt.Sprintf("Turn %d: and what about the programme?", i),
		})
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			checkGolden(t, file)
		})
	}
}

func checkGolden(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	input, _, found := strings.Cut(string(data), goldenMark)
	if !found {
		t.Fatalf("%s has no line %q", file, strings.TrimSpace(goldenMark))
	}
	g := readGolden(t, input)
	prompt := newBuilder(t, g.Options).Build(g.Input)
	holds(t, g.Options, prompt)
	golden.File(t, file, input+goldenMark+prompt.String()+"\n")
}

func readGolden(t *testing.T, input string) (g example) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&g); err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation(g.Zone)
	if err != nil {
		t.Fatal(err)
	}
	g.Input.Now = g.Input.Now.In(zone)
	g.crowd()
	if g.Language != "" || g.NoEmoji {
		found := false
		if g.Options.Labels, found = LabelsIn(cmp.Or(g.Language, "en"), !g.NoEmoji); !found {
			t.Fatalf("no labels in %q", g.Language)
		}
	}
	return g
}
