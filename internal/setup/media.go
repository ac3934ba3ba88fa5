package setup

import (
	"cmp"

	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/media"
)

// NewTeller returns what tells of voice messages and pictures, as configured. It makes no call.
func NewTeller(c config.Config, models *llm.Models) (*media.Teller, error) {
	t := &media.Teller{PerDay: c.Memory.Pictures}
	if v := c.LLM.Transcription; v.Model != "" {
		at := llm.TranscriberConfig{
			Model:   v.Model,
			BaseURL: cmp.Or(v.BaseURL, c.LLM.BaseURL),
			APIKey:  v.APIKey.Reveal(),
			Timeout: 2 * c.LLM.Timeout.Duration,
		}
		if at.BaseURL == c.LLM.BaseURL && !v.APIKey.IsSet() {
			at.APIKey = c.LLM.APIKey.Reveal()
		}
		voice, err := llm.NewTranscriber(at)
		if err != nil {
			return nil, err
		}
		t.Voice = voice
	}
	for _, name := range models.Names() {
		if m := models.ByName(name); m.CanSee() && t.Pictures == nil {
			t.Pictures = m
		}
	}
	return t, nil
}
