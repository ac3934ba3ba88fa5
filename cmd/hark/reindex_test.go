package main

import (
	"testing"

	"hark/internal/llmtest"
)

// TestReindexWithoutTheEmbedder makes words while the embedder is away, and the vectors once it is back.
func TestReindexWithoutTheEmbedder(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data, "HARK_EMBEDDING_MODEL": "test-embedder", "HARK_EMBEDDING_BASE_URL": model.URL()}}
	c.run(0, "import", writeFile(t, `{"type":"message","channel":"a","id":"1","author":"Ana","time":"2024-05-31T12:00:00Z","text":"the zebra is here"}`))
	c.env["HARK_EMBEDDING_BASE_URL"] = nobody
	c.run(1, "reindex")
	c.sees()
	c.run(0, "search", "zebra")
	c.sees()
	c.env["HARK_EMBEDDING_BASE_URL"] = model.URL()
	asked := len(model.Requests())
	c.run(0, "reindex")
	c.sees()
	c.run(0, "reindex")
	c.sees()
	if n := len(model.Requests()) - asked; n != 2 {
		t.Errorf("the embedder was asked %d times", n)
	}
}
