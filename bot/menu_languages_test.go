package bot

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Commands are told in all languages, and known by their English names.
func TestCommandsInAllLanguages(t *testing.T) {
	t.Parallel()
	byName := map[string]command{}
	for _, c := range inLanguages(registered()) {
		byName[c.Name] = c
	}
	memory := byName["memory"]
	for language, want := range map[string]string{"de": "gedächtnis", "es-ES": "memoria", "es-419": "memoria", "fr": "mémoire", "ja": "記憶", "zh-TW": "記憶"} {
		if got := memory.NameIn[language]; got != want || memory.DescriptionIn[language] == "" {
			t.Errorf("%s: %q, %q", language, got, memory.DescriptionIn[language])
		}
	}
	if len(memory.NameIn) != 6 || byName["hark"].NameIn != nil {
		t.Errorf("memory has the names %v, hark %v", memory.NameIn, byName["hark"].NameIn)
	}
	sent, err := json.Marshal(byName["hark"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"name":"each member","value":"members","name_localizations":{"de":"jedes Mitglied",`, `{"name":"on","value":"on"}`} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
}

// What changed in one language only is written.
func TestCommandsThatDifferInOneLanguage(t *testing.T) {
	t.Parallel()
	same := func(a, b command) bool { return reflect.DeepEqual(a, b) }
	ours, there := inLanguages(registered()), inLanguages(registered())
	if !sameCommands(there, ours, same) {
		t.Error("the same commands differ")
	}
	there[1].Options[0].DescriptionIn["ja"] += "。"
	if sameCommands(there, ours, same) {
		t.Error("a description in Japanese isn't compared")
	}
}
