package main

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// synonyms writes a static model for which "car" and "automobile" mean the same.
func synonyms(t testing.TB, dir string) {
	t.Helper()
	pieces := []string{"[UNK]", "car", "automobile", "sold", "rain"}
	rows := []int8{0, 0, 9, 1, 9, 1, 3, 3, -1, 9}
	var vocabulary []string
	for id, piece := range pieces {
		vocabulary = append(vocabulary, fmt.Sprintf("%q: %d", piece, id))
	}
	header := fmt.Sprintf(`{"embeddings":{"dtype":"I8","shape":[%d,2],"data_offsets":[0,%d]}}`, len(pieces), len(rows))
	table := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for _, x := range rows {
		table = append(table, byte(x))
	}
	put(t, filepath.Join(dir, "model.safetensors"), string(table))
	put(t, filepath.Join(dir, "tokenizer.json"), `{"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
		"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {`+strings.Join(vocabulary, ", ")+`}}}`)
}

// A static model finds what the built-in embedder doesn't, takes over by "hark reindex", and is compared before.
func TestStaticModel(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "synonyms")
	synonyms(t, dir)
	d := dataDir{t, t.TempDir()}
	var set strings.Builder
	chat := posted("a", "m", "ana", "I sold the car")
	for i := range 30 {
		chat += posted("a", fmt.Sprint(i), "ben", fmt.Sprintf("The rain goes on, day %d", i))
	}
	set.WriteString(chat)
	set.WriteString(`{"type":"question","channel":"a","id":"q","text":"Whose automobile?","time":"2026-06-01T00:00:00Z","evidence":["m"]}` + "\n")
	d.write("set.jsonl", set.String())
	if out := d.hark(0, "eval", "--embedding-path", dir, d.path("set.jsonl")); !strings.Contains(out, "static synonyms against hark-hash") ||
		!strings.Contains(out, "It makes recall better: any@5 +0.0, any@10 +100.0, recall@10 +100.0 points.") {
		t.Error(out)
	}
	d.hark(1, "eval", "--embedding-path", d.dir, d.path("set.jsonl"))
	d.hark(1, "eval", "--embedding-path", dir, "--embedding", "built-in", d.path("set.jsonl"))

	d.write("chat.jsonl", chat)
	d.hark(0, "import", d.path("chat.jsonl"))
	with := func(args ...string) string {
		both := &buffer{}
		env := environmentWith(map[string]string{"HARK_EMBEDDING_PATH": dir}, "", both, both)
		run(t.Context(), env, append(args, "--data", d.path("data")))
		return both.String()
	}
	const old = "the stored vectors are those of hark-hash"
	if out := with("doctor"); !strings.Contains(out, "embedder: static synonyms gives 2 dimensions") || !strings.Contains(out, old) {
		t.Errorf("before reindex: %s", out)
	}
	with("reindex")
	if out := with("doctor"); strings.Contains(out, old) {
		t.Errorf("after reindex: %s", out)
	}
}
