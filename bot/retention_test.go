package bot

import (
	"fmt"
	"testing"

	"hark/memory"
)

// What waits because of its age is shown to admins, who can have it forgotten.
func TestStatusTellsWhatWaitsToBeForgotten(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	guild := memory.GuildID(s.guild.ID)
	waits := memory.SettingChosen{Guild: guild, Key: memory.SettingExpiring,
		Value: fmt.Sprintf("%d 20000 21000", s.discord.Now().UnixMilli()), At: s.discord.Now()}
	s.apply(t, waits)
	s.knowsOwner(t)
	shown := s.use(t, s.guild.Owner, "hark status")
	s.says(t, shown)
	s.says(t, s.discord.Click(shown.Message, s.bo.ID, expires).WaitMessage())
	if e := s.lastSetting(); e != waits {
		t.Errorf("somebody else had it forgotten: %+v", e)
	}
	s.turns(t, s.discord.Click(shown.Message, s.guild.Owner.ID, expires))
	if e := s.lastSetting(); e.Value != memory.AgreeToExpiring(guild, e.At).Value || e.Key != memory.SettingExpiring {
		t.Errorf("logged %+v", e)
	}
}
