package main

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

// opus is an Ogg page with the head of an Opus stream.
var opus = append([]byte("OggS\x00\x02"+"\x00\x00\x00\x00\x00\x00\x00\x00"+"\x01\x00\x00\x00"+"\x00\x00\x00\x00"+"\x1d\xc7\x5e\x0e"+"\x01\x13"+
	"OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"), "ogg-canary"...)

func whitePNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 9))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listening is a world with models for voice messages and pictures. The model describes whatever picture it is shown.
func listening(t *testing.T) *world {
	w := newWorld(t, discordtest.WithTime(time.Now())) // what came before it was agreed is told apart by ids
	w.env["HARK_LLM_TRANSCRIPTION_MODEL"], w.env["HARK_MEMORY_PICTURES"], w.env["HARK_LLM_VISION"] = "whisper-1", "2", "true"
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		if strings.HasPrefix(r.Prompt(), "You describe a picture") {
			return llmtest.Say("A picture-canary on a wall. Text: exit")
		}
		return llmtest.Say("Noted", " [1].")
	})
	w.model.Hear(func([]byte) (string, int) { return "the voice-canary is under the bridge", http.StatusOK })
	return w
}

func (w *world) agrees(value string) {
	w.Helper()
	w.use(w.guild.Owner.ID, "hark set", "Voice and pictures", discordtest.Opt{Name: "setting", Value: "media"},
		discordtest.Opt{Name: "value", Value: value}, discordtest.Opt{Name: "server", Value: true})
	w.discord.Advance(time.Minute) // Hark's clock goes on, Discord's doesn't
}

// asked returns how many requests of a kind the model servers got.
func (w *world) askedFor(what string) (n int) {
	for _, r := range w.model.Requests() {
		if strings.HasSuffix(r.Path, what) || strings.Contains(string(r.Body), what) {
			n++
		}
	}
	return n
}

func (w *world) waitAsked(what string, n int) {
	w.Helper()
	w.discord.WaitFor(what, func() bool { return w.askedFor(what) >= n })
}

const (
	transcriptions = "/audio/transcriptions"
	descriptions   = "You describe a picture"
)

// What is said in voice messages and shown in pictures is found as part of its message, only where admins agreed, and
// goes with it. Of the files themselves nothing is kept.
func TestVoiceMessagesAndPictures(t *testing.T) {
	t.Parallel()
	w := listening(t)
	w.start()
	w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithVoice(opus, 4)) // before anybody agreed
	w.settled()
	w.agrees("all")
	voice := w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithVoice(opus, 4))
	shown := w.discord.Say(w.general.ID, w.ana.ID, "see", discordtest.WithData("wall.png", "", "image/png", whitePNG(t)))
	w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithVoice(opus, 1300)) // longer than any of Discord's
	w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithData("fake.png", "", "image/png", []byte("no picture")))
	w.discord.WaitFor("what was told", func() bool { return w.onDisk("voice-canary") && w.onDisk("picture-canary") })
	if voices, pictures := w.askedFor(transcriptions), w.askedFor(descriptions); voices != 1 || pictures != 1 {
		t.Errorf("asked for %d transcripts and %d descriptions", voices, pictures)
	}
	w.keepsNot("ogg-canary")
	w.later()
	w.ask(w.general, w.jane, "what is under the bridge?")
	w.holds(w.prompt(), "🎤 the voice-canary is under the bridge")
	w.ask(w.general, w.jane, "what is the picture on the wall?")
	w.holds(w.prompt(), "[image: wall.png: A picture-canary on a wall. Text: exit]")
	w.use(w.guild.Owner.ID, "hark status", "1 of 2")

	// a budget a day
	more := []discordtest.ID{}
	for range 2 {
		more = append(more, w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithData("more.png", "", "image/png", whitePNG(t))).ID)
	}
	w.waitAsked(descriptions, 2)
	w.discord.Delete(w.general.ID, voice.ID)
	w.discord.Delete(w.general.ID, shown.ID)
	w.discord.BulkDelete(w.general.ID, more...)
	w.settled()
	w.discord.WaitFor("what was told to be erased", func() bool {
		return !w.onDisk("voice-canary") && !w.onDisk("picture-canary")
	})
	if n := w.askedFor(descriptions); n != 2 {
		t.Errorf("%d descriptions, over the budget", n)
	}
	w.agrees("off")
	w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithVoice(opus, 4))
	w.settled()
	w.stopWell()
	if n := w.askedFor(transcriptions); n != 1 {
		t.Errorf("%d transcripts although it was switched off", n)
	}
}

// A server that fails is asked again later, after a restart too. Meanwhile all is logged.
func TestVoiceMessagesWait(t *testing.T) {
	t.Parallel()
	w := listening(t)
	w.model.Hear(func([]byte) (string, int) { return "", http.StatusServiceUnavailable })
	w.start()
	w.agrees("voice")
	said := w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.WithVoice(opus, 4))
	w.discord.Say(w.general.ID, w.ana.ID, "look", discordtest.WithData("wall.png", "", "image/png", whitePNG(t)))
	w.discord.Say(w.general.ID, w.ana.ID, "after-canary")
	w.waitAsked(transcriptions, 1)
	w.settled()
	w.keeps("after-canary")
	w.stopWell()
	w.model.Hear(func([]byte) (string, int) { return "a voice-canary", http.StatusOK })
	w.start()
	w.discord.WaitFor("the transcript", func() bool { return w.onDisk("voice-canary") })
	w.stopWell()
	opened(t, w.env["HARK_DATA"], func(store *sqlite.Store) error {
		m, err := store.Around(t.Context(), memory.ChannelID(w.general.ID), []memory.MessageID{memory.MessageID(said.ID)}, 0, 0)
		if len(m) != 1 || m[0].Text() != "🎤 a voice-canary" {
			t.Errorf("%+v", m)
		}
		return err
	})
	if n := w.askedFor(descriptions); n != 0 {
		t.Errorf("%d pictures were described, though only voice messages were agreed to", n)
	}
}

// A question can be spoken, as a reply to Hark.
func TestSpokenQuestions(t *testing.T) {
	t.Parallel()
	w := listening(t)
	w.start()
	w.agrees("voice")
	w.discord.Say(w.general.ID, w.jane.ID, "The boat leaves from the south pier")
	first := w.ask(w.general, w.ana, "hello")
	w.model.Hear(func([]byte) (string, int) { return "where does the boat leave from?", http.StatusOK })
	q := w.discord.Say(w.general.ID, w.ana.ID, "", discordtest.ReplyTo(first.ID), discordtest.WithVoice(opus, 4))
	w.reply(w.general.ID, q.ID, "Noted")
	w.holds(w.prompt(), "where does the boat leave from?")
}
