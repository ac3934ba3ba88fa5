package builder

// InstructionTokens is how many tokens the rules take that are told where there is room for all, with the
// modules of these modes. What is common to all modes counts once. The plain layout has no modules.
func (b *Builder) InstructionTokens(modes ...Mode) int {
	common := newInstructions(rules(b.options, "", noTools), b.tally.count).all()
	tokens := common
	for _, m := range modes {
		tokens += b.modes[noTools][m].all() - common
	}
	return tokens
}
