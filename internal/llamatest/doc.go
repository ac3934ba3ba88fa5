// Package llamatest starts a real llama-server for tests, with a tiny model that writes what the test wants. It differs
// from internal/llmtest, a fake: the server's templates, parsers, grammars, slots and windows are real, and only the
// words aren't. A Model is written as a file in the form GGUF. No weights are needed, and a server is ready in a tenth
// of a second. Begin with NewModel and Start.
package llamatest
