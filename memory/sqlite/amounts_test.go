package sqlite

import (
	"context"
	"testing"

	"hark/memory"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	if a, err := open(t, emptyDir(t)).Amounts(bg); err != nil || a.Bytes <= 0 || a.Traces+a.Prompts+a.Records+a.Lore != 0 {
		t.Errorf("of nothing: %+v, %v", a, err)
	}
	s := recording(t, dir, "canary")
	apply(t, s, memory.LoreTold{Lore: memory.Lore{ID: 9, Guild: guild, Name: "Oak", Text: "is old", At: id(1).Time()}})
	a, err := s.Amounts(bg)
	if err != nil || a.Traces != 1 || a.Records == 0 || a.Lore != 1 || a.Bytes < 4096 {
		t.Errorf("%+v, %v", a, err)
	}
	apply(t, s, memory.LoreGone{Guild: guild, ID: 9})
	if a, err := s.Amounts(bg); err != nil || a.Lore != 0 {
		t.Errorf("with lore that is gone: %+v, %v", a, err)
	}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if _, err := s.Amounts(ended); err == nil {
		t.Error("counted for somebody who is gone")
	}
}
