package doctor

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
)

// What a program wrote before it ended is shown.
func TestToolsOfProgramThatFails(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	d := &Doctor{}
	d.Config.Tools.MCP = []config.MCP{{Name: "garden", Command: "sh", Args: config.Words{"-c", "echo no key >&2"},
		Timeout: config.Duration{Duration: time.Minute}}}
	if got := d.tools(t.Context(), "garden").For("tools").String(); !strings.Contains(got, `it wrote "no key"`) {
		t.Error(got)
	}
}
