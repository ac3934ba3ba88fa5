package command

// when is a text if something holds; "" otherwise.
func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
