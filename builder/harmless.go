package builder

// Harmless is what somebody wrote as it may stand beside a prompt, such as in a tool's outcome: on one line, and made
// harmless as in b's prompts.
func (b *Builder) Harmless(text string) string {
	return string(b.escape.appendSafe(nil, text, inLine))
}
