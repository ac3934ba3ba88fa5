package llamatest_test

import (
	"strings"
	"testing"

	"hark/internal/llamatest"
	"hark/internal/llm"
)

// While the server loads its model, members are told so. Then they are answered.
func TestLlamaLoading(t *testing.T) {
	t.Parallel()
	m := llamatest.NewModel(answers)
	file := m.Write(t)
	load := llamatest.Hold(t, file)
	s := llamatest.Launch(t, file, append(llamatest.Template(t, "chatml"), "-np", "1", "-c", "2048")...)
	s.Loading()
	c := client(s, func(c *llm.Config) { c.Retries = 0 })
	_, err := ask(t, c)
	if err == nil || !strings.Contains(err.Error(), "still being loaded") {
		t.Errorf("got %v", err)
	}
	load()
	s.Ready()
	reply, err := ask(t, c)
	told(t, s, reply, err)
}
