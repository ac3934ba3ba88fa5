package memorytest

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hark/memory"
)

// bugEnv names the bug that the naive store is to have in a process that is expected to fail.
const bugEnv = "MEMORYTEST_BUG"

func TestNaiveStorePasses(t *testing.T) {
	t.Parallel()
	bug := os.Getenv(bugEnv)
	Run(t, func(testing.TB) memory.Store { return newNaive(bug, nil) })
	var mu sync.Mutex
	states := map[string]*naiveState{}
	Reopen(t, func(_ testing.TB, dir string) memory.Store {
		mu.Lock()
		defer mu.Unlock()
		s := newNaive(bug, states[dir])
		states[dir] = s.naiveState
		return s
	})
}

func FuzzNaiveStore(f *testing.F) {
	Fuzz(f, func(testing.TB) memory.Store { return newNaive("", nil) })
}

// bugs are what a store could get wrong, each with a part of the name of a test that must catch it.
var bugs = map[string]string{
	"brings the deleted back":                  "a delete that overtakes its message wins",
	"forgets deletes of what isn't there":      "a delete that overtakes its message wins",
	"lets the last version win":                "an older version never replaces a newer",
	"takes an edit for a whole version":        "an edit of the text leaves the rest",
	"loses early edits":                        "an edit that overtakes its message waits for it",
	"forgets files":                            "a message comes back as it was logged",
	"applies half a batch":                     "a batch is applied wholly or not at all",
	"shows half a batch":                       "readers see whole batches only",
	"looks one too far back":                   "a stretch of a channel",
	"keeps names of the deleted":               "a deleted message has no name and gets none",
	"renames messages":                         "of two names or two messages the first given stays",
	"keeps answers without sources":            "an answer is deleted with any of its sources",
	"keeps answers made from older texts":      "an answer whose source was edited while it was written",
	"lets imports change channels":             "an import changes nothing of a channel that was seen",
	"adds to a guild's roles":                  "a guild seen again replaces roles",
	"forgets names":                            "what is learned of a person adds to what was known",
	"counts the whole guild's presence":        "presence is of the scope's channels only",
	"counts frequencies everywhere":            "frequencies are of the scope's channels only",
	"ignores Until":                            "a scope begins at Since and ends before Until",
	"begins after Since":                       "a scope begins at Since and ends before Until",
	"finds anybody's stars":                    "what is starred is found in scope",
	"finds anybody's":                          "a scope may be of some authors only",
	"leaks another channel":                    "full text finds the messages in scope",
	"wants all terms":                          "full text finds the messages in scope",
	"gives one version":                        "the version changes with everything that is written",
	"gives worst first":                        "random operations", // with reopenings or without: a few tries may miss it in one of them
	"ignores the limit":                        "full text finds the messages in scope",
	"gives segments whole":                     "the nearest segments are in scope",
	"gives segments without a message":         "the nearest segments are in scope",
	"gives farthest first":                     "the nearest segment is the one that speaks of it",
	"keeps vectors of the deleted":             "a vector that a deleted text went into goes with it",
	"takes stale vectors":                      "a vector of a segment that has changed meanwhile is dropped",
	"forgets to embed changes":                 "a segment is pending from the commit that changed it",
	"never wakes":                              "a segment is pending from the commit that changed it",
	"loses a message":                          "every message lies in exactly one segment",
	"forgets deletes when closed":              "what was applied is there after closing and opening",
	"learns by the last told":                  "the last that was said of learning holds",
	"fetches the past first":                   "gaps that were missed come before",
	"finds gaps anew":                          "a gap is found once",
	"begins a page at its beginning":           "the log comes in pages",
	"mixes spaces":                             "vectors of another space are compared with none",
	"hears only what it logs":                  "the newest message told of live is heard",
	"misses what was dropped":                  "what is dropped counts as heard",
	"chooses by the last told":                 "the last choice by time holds",
	"lets a guild seen forget its choices":     "the last choice by time holds",
	"keeps the roles of who left":              "who has left has neither roles",
	"brings facts back":                        "facts are told, changed and taken away",
	"brings lore back":                         "lore is told, changed and taken away for good",
	"tells lore by the last told":              "lore is told, changed and taken away for good",
	"takes any lore":                           "lore that can't be is refused",
	"keeps lore without its sources":           "lore goes with any of its sources",
	"keeps the lore of the forgotten":          "lore is forgotten as a message would be",
	"takes any summary":                        "a summary that can't be is refused",
	"brings summaries back":                    "an answer is deleted with a summary that is taken away",
	"sums up by the last told":                 "summaries are kept by channel, of each the last version",
	"never makes room for summaries":           "summaries are kept by channel, of each the last version",
	"sums up backwards":                        "what was said since is to be summed up",
	"keeps summaries of older texts":           "a summary isn't kept if a source has changed",
	"keeps summaries without their sources":    "a summary goes with any of its sources",
	"keeps the summaries of the forgotten":     "summaries are forgotten with their sources",
	"takes anything condensed":                 "what a session can't be condensed to is refused",
	"condenses by the last told":               "what a session was condensed to is kept by channel",
	"keeps condensed what changes":             "what a session was condensed to is kept by channel",
	"keeps condensed what is gone":             "what a session was condensed to goes with any source",
	"keeps sessions that are over":             "what a session was condensed to goes with any source",
	"keeps condensed what is forgotten":        "what sessions were condensed to is forgotten with its sources",
	"never sums up again":                      "a summary goes with any of its sources",
	"keeps facts without their source":         "a fact goes with the message that told it",
	"logs who opted out":                       "nothing is kept of somebody who has opted out",
	"opts by the last told":                    "nothing is kept of somebody who has opted out",
	"stars by the last told":                   "the last star by time holds",
	"lets messages star themselves":            "the last star by time holds",
	"takes @everyone for a role that goes":     "the overwrites that name a role go with it",
	"keeps what was said in deleted channels":  "what was said in a channel that is deleted",
	"forgets a channel without its threads":    "a channel is forgotten with its threads",
	"keeps answers made from the forgotten":    "answers made from what is forgotten go",
	"keeps what is known of the forgotten":     "what somebody said in a guild is forgotten",
	"keeps facts whose source is forgotten":    "a channel is forgotten with its threads",
	"lets the forgotten come back":             "what is forgotten doesn't come back",
	"lets late messages of the forgotten in":   "nothing that was said before comes into",
	"forgets opt-outs with the guild":          "a guild is forgotten with its people",
	"withdraws nothing":                        "answers made from what is forgotten go",
	"knows no trace of a further part":         "a trace is found by any message of its answer",
	"keeps what repeats the rewritten":         "what was made from an answer goes",
	"takes the rewritten for what it was":      "an answer that was being made from one",
	"keeps parts that aren't rewritten":        "parts of an answer that aren't written anew",
	"keeps the records of the rewritten":       "the records of calls that came to an answer",
	"loses how what is left came about":        "what is left of an answer goes with its sources",
	"writes nothing anew":                      "an answer that went with a source is written anew",
	"writes the deleted anew":                  "an answer that was deleted isn't written anew",
	"withdraws what was marked":                "answers made from what is forgotten go",
	"forgets everybody in a channel":           "only that is forgotten for which all holds",
	"forgets in one guild only":                "what somebody said is forgotten everywhere",
	"forgets what was said after the end":      "what was said before a time is forgotten",
	"counts what isn't to be forgotten":        "how much a forgetting would take",
	"hides nothing until it is gone":           "who begins to read after a forgetting has begun",
	"loses sight of what is unfinished":        "what was said in a channel that is deleted",
	"gives up what was broken off":             "a forgetting that was broken off",
	"embeds what is being forgotten":           "nothing that is being forgotten is to be embedded",
	"forgets forgettings when closed":          "what was applied is there after closing and opening",
	"forgets opt-outs when closed":             "what was applied is there after closing and opening",
	"forgets vectors when closed":              "what was applied is there after closing and opening",
	"keeps prompts with the forgotten in them": "a prompt goes with all of somebody in it in the guild",
	"keeps prompts with people who opted out":  "a prompt isn't kept of whoever went",
	"keeps prompts of answers that have grown": "a prompt goes when an answer of Hark's in it grows",
	"forgets prompts of that very moment":      "prompts are kept for a time",
	"gives the first traces":                   "the last traces are given",
	"takes the setting last told":              "the last setting by time holds",
	"keeps settings by channel only":           "the last setting by time holds",
	"sets what was forgotten again":            "settings go with all of their channel",
	"keeps settings of the forgotten":          "settings go with all of their channel",
	"takes the limit last told":                "the last limit by time holds",
	"takes any limit":                          "what can't be a limit",
	"adds up what is told twice":               "what is spent is counted by day",
	"counts days by the clock of who asks":     "what is spent is counted by day",
	"forgets what was spent that very day":     "what is spent is counted by day",
	"keeps on whom something was spent":        "on whom something was spent is forgotten",
	"forgets what was spent when closed":       "what was applied is there after closing and opening",
	"takes any record":                         "a record that can't be is refused",
	"loses what newer records hold":            "records come back as they were told",
	"takes the last record of a name":          "of two records with one name",
	"records who opted out":                    "nothing is recorded of who has opted out",
	"lets records of what is gone in":          "a record goes with its question",
	"keeps records without their questions":    "a record goes with its question",
	"keeps records of other questions":         "a record goes when its question changes",
	"keeps the records of the forgotten":       "a record goes with whoever asked",
	"finds anybody's records":                  "records are found by where",
	"finds records of everywhere":              "records are found by where",
	"forgets records of that very moment":      "records are kept for a time",
	"keeps one record too few":                 "records are kept for a time",
	"makes keys anew":                          "the key of fingerprints stays",
}

func TestEveryBugIsCaught(t *testing.T) {
	t.Parallel()
	if os.Getenv(bugEnv) != "" {
		t.Skip("this is the process with the bug")
	}
	for bug, name := range bugs {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			named := strings.ReplaceAll(name, " ", "_")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNaiveStorePasses$/^"+regexp.QuoteMeta(named), "-rapid.checks=40", "-rapid.shrinktime=1ns", "-rapid.nofailfile")
			cmd.Env = append(os.Environ(), bugEnv+"="+bug)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the suite passed a store that %s: %v", bug, err)
			}
			if !strings.Contains(string(out), "--- FAIL: TestNaiveStorePasses/"+named) {
				t.Errorf("%q didn't fail:\n%s", name, out)
			}
		})
	}
}

func TestEmbedderRanks(t *testing.T) {
	t.Parallel()
	vectors, err := Embedder{}.Embed(t.Context(), memory.ForSearch, append([]string{"when does the ferry leave the harbour?", "?!", ""}, topics...))
	if err != nil || len(vectors) != len(topics)+3 || vectors[1] != nil || vectors[2] != nil {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	question := vectors[0]
	if len(question) != (Embedder{}).Space().Dimensions || math.Abs(cosine(question, question)-1) > 1e-6 {
		t.Errorf("%d dimensions, length %f", len(question), cosine(question, question))
	}
	for i := range topics[1:] {
		if near, far := cosine(question, vectors[3]), cosine(question, vectors[4+i]); near < far+0.2 {
			t.Errorf("%q is at %.2f, %q at %.2f", topics[0], near, topics[i+1], far)
		}
	}
}
