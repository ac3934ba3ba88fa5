package answer

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/golden"
	"hark/internal/text"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// sets is a setting of a channel, or with the channel 0 of the guild.
func sets(channel memory.ChannelID, key memory.Setting, value string) memory.Event {
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: key, Value: value, At: noon}
}

func TestSettingsDecideWhoAnswersAndHow(t *testing.T) {
	t.Parallel()
	small, large := talks("small"), talks("large")
	w := newWorld(t, small)
	var missed, built []string
	builders := map[string]*builder.Builder{}
	for _, language := range builder.Languages() {
		labels, _ := builder.LabelsIn(language, true)
		b, err := builder.New(builder.Options{Citations: true, Labels: labels}, tokenstest.For(""))
		if err != nil {
			t.Fatal(err)
		}
		builders[language] = b
	}
	w.engine = w.over(w.store, small, builder.Options{Citations: true}, Options{
		Persona: "You are Hark.", Language: "en", Models: map[string]Model{"small": small, "large": large},
		Missing: func(model string) { missed = append(missed, model) },
		Builder: func(_ context.Context, model, language string, _ builder.Layout) *builder.Builder {
			built = append(built, model+"/"+language)
			return builders[language]
		},
	})
	w.says(day, harbor, ben, "The lighthouse password is swordfish")
	w.apply(sets(0, memory.SettingPersona, "You are the harbour master."),
		sets(lobby, memory.SettingModel, "large"), sets(lobby, memory.SettingTemperature, "0.25"),
		sets(lobby, memory.SettingLanguage, "de"), sets(lobby, memory.SettingTools, SettingOff), sets(lobby,
			memory.SettingMode, "analysis"), sets(harbor, memory.SettingModel, "gone"),
		sets(harbor, memory.SettingMode, ModeInferred), sets(0, memory.SettingMode, "search"))

	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if a.Text != "I am large" || a.Model != "large" || a.Trace.Model != "large" ||
		a.Trace.Mode != "analysis" || len(large.got) != 1 || len(small.got) != 0 {
		t.Errorf("answered %q by %q, trace %q in mode %q", a.Text, a.Model, a.Trace.Model, a.Trace.Mode)
	}
	sent := large.got[0]
	if sent.Temperature == nil || *sent.Temperature != 0.25 {
		t.Errorf("temperature %v", sent.Temperature)
	}
	has(t, sent.Messages[0].Content, "You are the harbour master.", modeRules[builder.ModeAnalysis])
	hasNot(t, sent.Messages[0].Content, "You are Hark.")
	has(t, sent.Messages[1].Content, builders["de"].Labels().History)
	if !slices.Contains(built, "large/de") {
		t.Errorf("builders asked for: %q", built)
	}

	for range 2 {
		a = w.answer(w.asks(harbor, "hello there"))
		if a.Model != "small" || a.Trace.Mode != "general" {
			t.Errorf("with a model that is gone: %q in mode %q", a.Model, a.Trace.Mode)
		}
	}
	sent = small.got[0]
	if sent.Temperature != nil || !slices.Equal(missed, []string{"gone"}) {
		t.Errorf("temperature %v, missed %q", sent.Temperature, missed)
	}
	has(t, sent.Messages[0].Content, "You are the harbour master.")
	hasNot(t, sent.Messages[1].Content, builders["de"].Labels().History)

	r, err := w.engine.Recall(t.Context(), w.asks(lobby, "hello"))
	if err != nil || r.Settings.Tools || r.Settings.Model != "large" || r.Settings.Language != "de" {
		t.Errorf("settings of the lobby: %+v, %v", r.Settings, err)
	}
	if r, err = w.engine.Recall(t.Context(), w.asks(kiosk, "hello")); err != nil || !r.Settings.Tools ||
		r.Settings.Model != "" || r.Mode.Is != builder.ModeSearch {
		t.Errorf("settings of the kiosk: %+v in mode %s, %v", r.Settings, r.Mode.Is, err)
	}
	dm := w.asks(annsDM, "hello")
	if r, err = w.engine.Recall(t.Context(), dm); err != nil || r.Settings.Persona != "You are Hark." {
		t.Errorf("settings of a direct message: %+v, %v", r.Settings, err)
	}
}

// What was set when the question was asked decides who answers.
func TestSettingsThatChangeWhileAnswering(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &scripted{pieces: []string{"Noted."}, before: func() {
		w.apply(sets(lobby, memory.SettingModel, "other"))
	}}
	w.engine = w.over(w.store, model, builder.Options{},
		Options{Models: map[string]Model{"other": talks("other")}})
	if a := w.answer(w.asks(lobby, "hello")); a.Text != "Noted." || a.Trace.Model != "parrot-1" {
		t.Errorf("%q by %q", a.Text, a.Trace.Model)
	}
	if a := w.answer(w.asks(lobby, "hello")); a.Text != "I am other" || a.Trace.Model != "other" {
		t.Errorf("the next: %q by %q", a.Text, a.Trace.Model)
	}
}

func TestHarksOwnSentencesAreInTheLanguageThatIsSet(t *testing.T) {
	t.Parallel()
	for _, language := range builder.Languages() {
		w := newWorld(t, nil)
		w.apply(sets(0, memory.SettingLanguage, language))
		v := resolvedSettings{Settings: Settings{Language: language}}
		a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
		if want := v.say(foundNone); a.Text != want {
			t.Errorf("%s: %q, want %q", language, a.Text, want)
		}
		if text.OwnWords(a.Text) != "" {
			t.Errorf("%s: %q would be searched for by a follow-up", language, a.Text)
		}
		for _, sentence := range english {
			if translated := v.say(sentence) != sentence; translated != (language != "en") {
				t.Errorf("%s: %q is %q", language, sentence, v.say(sentence))
			}
			if strings.HasPrefix(sentence, "*") != strings.HasPrefix(v.say(sentence), "*") {
				t.Errorf("%s: %q isn't marked as %q is", language, v.say(sentence), sentence)
			}
		}
	}
}

// Where no language is set, Hark's own sentences are in the question's, if that is clear, or in the configured one.
func TestHarksOwnSentencesAreInTheLanguageOfTheQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.engine = w.over(w.store, nil, builder.Options{}, Options{Language: "fr"})
	for i, c := range []struct{ question, set, want string }{
		{"What is the lighthouse password?", "", "en"},
		{"Wie ist das Passwort für den Leuchtturm?", "", "de"},
		{"¿Cuál es la contraseña del faro?", "", "es"},
		{"灯台のパスワードは何ですか？", "", "ja"},
		{"燈塔的密碼是什麼？", "", "zh-TW"},
		{"Leuchtturmpasswort?", "", "fr"},
		{"Wat is het wachtwoord van de vuurtoren?", "", "fr"},
		{"What is the lighthouse password?", "de", "de"},
		{"¿Cuál es la contraseña del faro?", "default", "es"},
	} {
		if c.set != "" {
			w.apply(memory.SettingChosen{Guild: guild, Key: memory.SettingLanguage, Value: strings.TrimPrefix(c.set, "default"),
				At: noon.Add(time.Duration(i) * time.Second)})
		}
		want := resolvedSettings{Settings: Settings{Language: c.want}}.say(foundNone)
		if a := w.answer(w.asks(lobby, c.question)); a.Text != want {
			t.Errorf("%q with %q set: %q, want %q", c.question, c.set, a.Text, want)
		}
		g, err := w.store.Guild(t.Context(), guild)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Choices{Default: w.engine.settings()}).LanguageFor(g, lobby, c.question); got != c.want {
			t.Errorf("%q with %q set: the rest is in %q, want %q", c.question, c.set, got, c.want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	c := Choices{Models: []string{"small", "large"}}
	var refused strings.Builder
	const bad = "\x00" // refused
	for _, tt := range []struct {
		key         memory.Setting
		value, want string
	}{
		{memory.SettingModel, "large", "large"},
		{memory.SettingModel, "LARGE", "large"},
		{memory.SettingModel, "huge", bad},
		{memory.SettingPersona, " You are calm.\n", "You are calm."},
		{memory.SettingPersona, strings.Repeat("ä", MaxPersona), strings.Repeat("ä", MaxPersona)},
		{memory.SettingPersona, strings.Repeat("ä", MaxPersona+1), bad},
		{memory.SettingPersona, " \x00", bad},
		{memory.SettingTemperature, "0,70", "0.7"},
		{memory.SettingTemperature, "2", "2"},
		{memory.SettingTemperature, "0", "0"},
		{memory.SettingTemperature, "2.01", bad},
		{memory.SettingTemperature, "-0.1", bad},
		{memory.SettingTemperature, "NaN", bad},
		{memory.SettingTemperature, "warm", bad},
		{memory.SettingTools, "OFF", "off"},
		{memory.SettingTools, "maybe", bad},
		{memory.SettingMode, "Search", "search"},
		{memory.SettingMode, "auto", "auto"},
		{memory.SettingMode, "Automatic", "auto"},
		{memory.SettingMode, "divination", bad},
		{memory.SettingLanguage, "zh-tw", "zh-TW"},
		{memory.SettingLanguage, "tlh", bad},
		{memory.SettingTimezone, "europe/berlin", "Europe/Berlin"},
		{memory.SettingTimezone, "America/New York", "America/New_York"},
		{memory.SettingTimezone, "US/Pacific", "US/Pacific"}, // an old name
		{memory.SettingTimezone, "Local", bad},
		{memory.SettingTimezone, "../passwd", bad},
		{memory.SettingTimezone, "default", ""},
		{memory.SettingPaused, "ON", "on"},
		{memory.SettingPaused, "off", ""},
		{memory.SettingPaused, "2027-01-31T18:00:00+02:00", "2027-01-31T16:00:00Z"},
		{memory.SettingPaused, "tomorrow", bad},
		{"colour", "blue", bad},
		{memory.SettingPersona, "default", ""},
		{memory.SettingLanguage, "default", ""},
	} {
		got, err := c.Check(tt.key, tt.value)
		if tt.want == bad {
			fmt.Fprintf(&refused, "%s %.20q\n  %v\n", tt.key, tt.value, err)
			if got != "" || err == nil {
				t.Errorf("%s %.20q: %.20q, %v", tt.key, tt.value, got, err)
			}
		} else if got != tt.want || err != nil {
			t.Errorf("%s %.20q: %.20q, %v; want %.20q", tt.key, tt.value, got, err, tt.want)
		}
	}
	golden.Seen(t, refused.String())
	if _, err := (Choices{}).Check(memory.SettingModel, "small"); err == nil {
		t.Error("a model was chosen where there is none")
	}
	for _, key := range memory.Settings() {
		for _, value := range c.Values(key) {
			if got, err := c.Check(key, value); got != value || err != nil {
				t.Errorf("%s can be listed and not set: %q, %v", key, value, err)
			}
		}
	}
	if c.Values("colour") != nil || (Settings{}).Value("colour") != "" {
		t.Error("something is known of what is no setting")
	}
}

func TestSettingsOfAGuild(t *testing.T) {
	t.Parallel()
	base := Settings{Model: "small", Persona: "You are Hark.", Tools: true, Language: "en"}
	g := &memory.Guild{Settings: map[memory.Setting]string{}}
	values := map[memory.Setting]string{memory.SettingModel: "large", memory.SettingPersona: "You are calm.",
		memory.SettingTemperature: "0.5",
		memory.SettingTools:       "off", memory.SettingMode: "search", memory.SettingLanguage: "ja",
		memory.SettingMedia:    "voice",
		memory.SettingBots:     "heard",
		memory.SettingTimezone: "Asia/Tokyo", memory.SettingPrograms: "on", memory.SettingPaused: "2027-01-31T18:00:00Z"}
	for _, key := range memory.Settings() {
		g.Settings = map[memory.Setting]string{key: values[key]}
		got := base.Set(g, lobby)
		for _, other := range memory.Settings() {
			want := base.Value(other)
			if other == key {
				want = values[key]
			}
			if got.Value(other) != want {
				t.Errorf("with %s set, %s is %q, want %q", key, other, got.Value(other), want)
			}
		}
	}
	g.Settings = map[memory.Setting]string{memory.SettingTemperature: "hot", memory.SettingTools: "some of them",
		memory.SettingMode: "divination", memory.SettingLanguage: "tlh", "colour": "blue",
		memory.SettingTimezone: "Mars/Olympus", memory.SettingPaused: "soon",
		memory.SettingPersona: strings.Repeat("x", MaxPersona+1)}
	if got := base.Set(g, lobby); !reflect.DeepEqual(got, base) {
		t.Errorf("what can't be used changed %+v to %+v", base, got)
	}
}

func TestTemperaturesOfModels(t *testing.T) {
	t.Parallel()
	warm, cold := 0.7, 0.1
	c := Choices{Models: []string{"small", "large", "far"},
		Default: Settings{Model: "small",
			Temperature: &warm}, Temperatures: map[string]*float64{"large": &cold, "far": nil}}
	set := map[memory.Setting]string{}
	g := &memory.Guild{Settings: set}
	for _, tt := range []struct{ model, temperature, want string }{
		{"", "", "0.7"}, {"large", "", "0.1"}, {"far", "", ""}, {"gone", "", "0.7"}, {"large", "1",
			"1"}, {"large", "hot", "0.7"},
	} {
		set[memory.SettingModel], set[memory.SettingTemperature] = tt.model, tt.temperature
		if got := c.In(g, lobby).Value(memory.SettingTemperature); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestZonesExist(t *testing.T) {
	t.Parallel()
	names := Zones()
	if !slices.IsSorted(names) || len(names) < 400 || !slices.Contains(names, "UTC") {
		t.Errorf("%d zones, in order: %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		if z := zoneCalled(name); z == nil || z.String() != name {
			t.Errorf("%s is the zone %v", name, z)
		}
		if got, err := checkZone(strings.ToLower(strings.ReplaceAll(name, "_", " "))); got != name || err != nil {
			t.Errorf("%s written otherwise is %q, %v", name, got, err)
		}
	}
	if got, err := checkZone(""); got != "" || err != nil {
		t.Errorf("nothing is %q, %v", got, err)
	}
}

// The guild's zone decides how times are told, and which day "yesterday" is.
func TestTimesAreInTheGuildsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tokyo := zoneCalled("Asia/Tokyo")
	w.apply(sets(0, memory.SettingTimezone, "Asia/Tokyo"))
	// on the 15th in Tokyo, on the 14th in UTC
	late := w.says(20*time.Hour+30*time.Minute, harbor, ben, "The lighthouse password is swordfish")
	q := w.asks(lobby, "What is the lighthouse password?")
	w.engine = w.over(w.store, nil, builder.Options{Citations: true}, Options{Zone: time.FixedZone("", 5*3600)})
	a := w.answer(q)
	if at := a.Sources[0].Time; at.Location() != tokyo || !at.Equal(late.Time()) {
		t.Errorf("source at %v", at)
	}
	has(t, a.Text, late.Time().In(tokyo).Format("2 Jan 2006 15:04"))
	has(t, w.prompt(q), q.Now.In(tokyo).Format("[2006-01-02 15:04]"))
	spy := w.spied()
	w.prompt(q)
	if now := spy.asked[0].Now; now.Location() != tokyo || !now.Equal(q.Now) { // by which it tells what "yesterday" is
		t.Errorf("searched as of %v", now)
	}
	model := &scripted{pieces: []string{"- There is a password [1]"}}
	for _, m := range []Model{nil, model} {
		w.engine = w.over(w.store, m, builder.Options{}, Options{Zone: time.FixedZone("", 5*3600)})
		if c := w.missed(harbor, noon.Add(-day)); len(c.Sources) != 1 || c.Sources[0].Time.Location() != tokyo {
			t.Errorf("caught up with %+v", c)
		}
	}
	has(t, model.got[1].Content, late.Time().In(tokyo).Format("[01-02 15:04]"))
}

func TestPausesEnd(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": false, "on": true, "2024-06-15T12:00:01Z": true,
		"2024-06-15T12:00:00Z": false, "soon": false} {
		until, paused := Settings{Paused: value}.PausedAt(noon)
		if paused != want || until.IsZero() != (value == "" || value == "on" || value == "soon") {
			t.Errorf("%q at noon: %v, until %v", value, paused, until)
		}
	}
}
