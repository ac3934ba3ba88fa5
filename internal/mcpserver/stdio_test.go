package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/internal/mcpserver"
)

// A line that is no message is answered with an error, and costs only itself.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	h, closes := newHouse(t, t.TempDir())
	defer closes()
	in, program := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := mcpserver.Serve(t.Context(), mcpserver.Config{Engine: h.engine}, in, out)
		out.Close()
		ended <- err
	}()
	said := bufio.NewReader(answers)
	var told strings.Builder
	says := func(line string, due int) {
		t.Helper()
		if _, err := io.WriteString(program, line+"\n"); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&told, "%.80s\n", line)
		for range due {
			answer, err := said.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&told, "    %.130s\n", strings.TrimSuffix(answer, "\n"))
		}
	}
	const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
	says("hello", 1)
	says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
		`"clientInfo":{"name":"x","version":"1"}}}`, 1)
	says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0)
	for _, line := range []string{`{"jsonrpc":"2.0","id":5,"method":"pi`, `{"id":7,"method":"ping"}`,
		`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "42", "null", "[]", "\xff",
		strings.Repeat("[", 20_000), strings.Repeat(" ", 2<<20) + "{"} {
		says(line, 1)
	}
	says("", 0)
	says("  \t\r", 0)
	says(`[1,`+ping+`]`, 2)
	says(`{"jsonrpc":"2.0","id":99,"result":{}}`, 0) // which nobody asked for
	says(ping+"\r", 1)
	program.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	golden.Seen(t, told.String())
}
