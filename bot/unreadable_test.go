package bot

import (
	"encoding/json"
	"reflect"
	"testing"

	"hark/memory"
)

// What can't be read leaves nobody with the permissions of before.
func TestUnreadableStructureIsClosed(t *testing.T) {
	t.Parallel()
	noRoles := []memory.Event{memory.RoleGone{Guild: 7, Role: 7}}
	for _, c := range []struct {
		kind, data string
		want       []memory.Event
	}{
		{"GUILD_CREATE", `{"id":"7","roles":[{"id":"7","permissions":"many"}]}`, noRoles},
		{"GUILD_UPDATE", `{"id":"7","roles":[{"id":"7","permissions":"-1"}]}`, noRoles},
		{"GUILD_ROLE_UPDATE", `{"guild_id":"7","role":{"id":"9","permissions":""}}`, noRoles},
		{"GUILD_ROLE_CREATE", `{"role":{"id":"9","permissions":""}}`, nil},
		{"CHANNEL_UPDATE", `{"id":"8","guild_id":"7","permission_overwrites":[{"id":"9","allow":"none"}]}`,
			[]memory.Event{memory.ChannelGone{Guild: 7, Channel: 8}}},
		{"GUILD_CREATE", `{"id":{}}`, nil},
		{"MESSAGE_CREATE", `{"id":"8","channel_id":"x"}`, nil},
	} {
		out, err := newConverter(1, false, sameTime).convert(rawEvent{kind: c.kind, data: json.RawMessage(c.data)})
		if err == nil || !reflect.DeepEqual(out.events, c.want) {
			t.Errorf("%s %s: %v, %v", c.kind, c.data, out.events, err)
		}
	}
}

// Discord will have more permissions than 64 bits hold; the low ones mean what they mean today.
func TestPermissionsOfManyBits(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]permissions{
		`"66560"`:                permissions(memory.ViewChannel | memory.ReadMessageHistory),
		`"18446744073709617152"`: permissions(memory.ReadMessageHistory), // 2^64 beside it
		`"0"`:                    0,
	} {
		var p permissions
		if err := json.Unmarshal([]byte(data), &p); err != nil || p != want {
			t.Errorf("%s is %d, %v", data, p, err)
		}
	}
	var p permissions
	if json.Unmarshal([]byte(`"1e9"`), &p) == nil {
		t.Error("1e9 is a set of permissions")
	}
}
