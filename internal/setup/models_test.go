package setup

import (
	"encoding/json"
	"fmt"
	"testing"

	"hark/internal/config"
)

// What thinking, extra and at_once say of a model reaches its client.
func TestServersFieldsReachTheirClients(t *testing.T) {
	t.Parallel()
	c, err := loadConfig(`
[llm]
model = "a"
thinking = "low"
at_once = 3
extra = { top_k = 40 }
[[llm.models]]
name = "b"
model = "b"
thinking = "off"
extra = { chat_template_kwargs = { enable_thinking = false } }
`)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(m config.Model) string {
		made := modelConfig(c.LLM, m)
		extra, err := json.Marshal(made.Extra)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprintf("%s %s %d %s", made.Model, made.Thinking, made.AtOnce, extra)
	}
	all := c.LLM.All()
	if got := asked(all[0]); got != `a low 3 {"top_k":40}` {
		t.Errorf("the default: %s", got)
	}
	if got := asked(all[1]); got != `b off 3 {"chat_template_kwargs":{"enable_thinking":false}}` {
		t.Errorf("another: %s", got)
	}
}
