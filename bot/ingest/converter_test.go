package ingest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"hark/bot/discord"
	"hark/internal/golden"
	"hark/memory"
)

const self = 500

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

// ana is what a message tells of its author.
const ana = `"author":{"id":"10","username":"ana","global_name":"Ana"},` +
	`"member":{"nick":"Ana of the Garden","roles":["31","32"]}`

// TestEvents holds what events become against testdata/events.txtar.
func TestEvents(t *testing.T) {
	t.Parallel()
	const file = "testdata/events.txtar"
	all, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	short := strings.NewReplacer("ANA", ana, "HERE", `"id":"100","channel_id":"2","guild_id":"1"`,
		"US", `{"id":"500","username":"hark","bot":true}`)
	for i, f := range all.Files {
		var told strings.Builder
		c := newConverter(self, false, sameTime)
		for line := range strings.Lines(string(f.Data)) {
			event, is := strings.CutPrefix(line, "$ ")
			if !is {
				continue
			}
			event, c.logBots = strings.CutPrefix(event, "bots ")
			event, heard := strings.CutPrefix(event, "heard ")
			c.bots = func(_ memory.GuildID, _ memory.ChannelID, otherwise memory.Bots) memory.Bots {
				if heard {
					return memory.BotsHeard
				}
				return otherwise
			}
			kind, payload, _ := strings.Cut(event, " ")
			out, err := c.convert(rawEvent{kind: kind, data: json.RawMessage(short.Replace(payload))})
			told.WriteString(line)
			for _, e := range out.events {
				fmt.Fprintf(&told, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", e), "memory."),
					filled(reflect.ValueOf(e)))
			}
			if out.ask != nil {
				fmt.Fprintf(&told, "asks %s\n", filled(reflect.ValueOf(out.ask)))
			}
			if err != nil {
				fmt.Fprintf(&told, "error: %v\n", err)
			}
		}
		all.Files[i].Data = []byte(told.String())
	}
	golden.File(t, file, string(txtar.Format(all)))
}

// filled is what isn't zero of a value.
func filled(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return filled(v.Elem())
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, filled(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		if at, is := reflect.TypeAssert[time.Time](v); is {
			return at.Format(time.RFC3339Nano)
		}
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				parts = append(parts, v.Type().Field(i).Name+":"+filled(v.Field(i)))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v)
}

// The log may have forgotten somebody meanwhile: they are told of again after a while.
func TestConvertTellsAgainOfThoseWhoMayBeForgotten(t *testing.T) {
	t.Parallel()
	now := sameTime()
	c := newConverter(self, false, func() time.Time { return now })
	if !c.news(1, "ana") || c.news(1, "ana") {
		t.Error("somebody isn't told of once")
	}
	if now = now.Add(reportedFor); !c.news(1, "ana") {
		t.Error("somebody who may have been forgotten isn't told of again")
	}
}

// Discord wouldn't send this. What was said is kept all the same.
func TestConvertTakesJSONThatIsSloppy(t *testing.T) {
	t.Parallel()
	out, err := newConverter(self, false, sameTime).convert(rawEvent{kind: "MESSAGE_CREATE", data: json.RawMessage(
		`{"id":"77","id":"78","channel_id":"2","guild_id":"1","type":0,` + ana + `,"content":"caf` + "\xe9" + ` \ud800"}`)})
	if err != nil || len(out.events) != 2 {
		t.Fatalf("%v, %v", out.events, err)
	}
	if m := out.events[1].(memory.Posted).Message; m.ID != 78 || m.Content != "caf\ufffd \ufffd" {
		t.Errorf("%+v", m)
	}
}

func TestConvertSurvivesAPanic(t *testing.T) {
	t.Parallel()
	c := newConverter(self, false, sameTime)
	c.reported = nil // so that telling of anybody panics
	out, err := c.convert(rawEvent{kind: "MESSAGE_CREATE", data: json.RawMessage(
		`{"id":"77","channel_id":"2","guild_id":"1","type":0,` + ana + `,"content":"a secret"}`)})
	if err == nil || !strings.Contains(err.Error(), "MESSAGE_CREATE 77") ||
		strings.Contains(err.Error(), "secret") || len(out.events) != 0 {
		t.Errorf("%v, %v", out.events, err)
	}
}

func TestMergeKeepsChannels(t *testing.T) {
	t.Parallel()
	out, err := newConverter(self, false, sameTime).convert(rawEvent{kind: "GUILD_UPDATE", data: json.RawMessage(
		`{"id":"1","name":"New","owner_id":"11","roles":[{"id":"1","name":"@everyone","permissions":"8"}]}`)})
	if err != nil || out.merge == nil || len(out.events) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	got := withChannelsOf(*out.merge, &memory.Guild{ID: 1, Owner: 10,
		Channels: []memory.Channel{{ID: 2}, {ID: 3, Unplaced: true}}})
	want := memory.Guild{ID: 1, Name: "New", Owner: 11,
		Roles:    []memory.Role{{ID: 1, Name: "@everyone", Permissions: 8}},
		Channels: []memory.Channel{{ID: 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzConvert(f *testing.F) {
	for kind := range readers {
		for _, p := range []string{`{}`, `null`, `[]`,
			`{"id":"1","guild_id":null,"author":null,"member":null,"content":"x","type":0,"mentions":[null],"attachments":[]}`,
			`{"id":1,"channels":[null],"roles":[null],"threads":[null],"members":[null,{"user":null}]}`, `{"ids":["1",null],"channel_id":""}`,
			`{"id":"1","content":"","author":{"id":"2"},"message_snapshots":[{"message":{"message_snapshots":[{}]}}],"poll":{}}`} {
			f.Add(kind, []byte(p))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		out, err := newConverter(self, true, sameTime).convert(rawEvent{kind: kind, data: data})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
		for _, e := range out.events {
			if p, ok := e.(memory.Posted); ok &&
				(p.Message.ID == 0 || p.Message.Content != memory.Clean(p.Message.Content)) {
				t.Fatalf("logs %+v", p.Message)
			}
		}
	})
}

// sameTime is the clock of converters whose tests aren't about time.
func sameTime() time.Time { return at("2026-01-02T03:04:05Z") }

// Discord will have more permissions than 64 bits hold; the low ones mean what they mean today.
func TestPermissionsOfManyBits(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]discord.Permissions{
		`"66560"`:                discord.Permissions(memory.ViewChannel | memory.ReadMessageHistory),
		`"18446744073709617152"`: discord.Permissions(memory.ReadMessageHistory), // 2^64 beside it
		`"0"`:                    0,
	} {
		var p discord.Permissions
		if err := json.Unmarshal([]byte(data), &p); err != nil || p != want {
			t.Errorf("%s is %d, %v", data, p, err)
		}
	}
	var p discord.Permissions
	if json.Unmarshal([]byte(`"1e9"`), &p) == nil {
		t.Error("1e9 is a set of permissions")
	}
}
