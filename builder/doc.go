// Package builder lays out what was recalled as a prompt within a budget.
//
// It has no clock, does no I/O and knows no context: the same input gives the same bytes. It promises:
//
//   - A prompt is never longer than its budget, as the tokenizer counts it.
//   - Items are left out whole, by priority, and reported. A larger budget never loses an item that a smaller one
//     held. It shows less of an item only if it shows more items.
//   - Text is cut between graphemes, with a mark.
//   - Instructions come before data. Nothing that members wrote is in the system message, begins a section, speaks
//     as somebody else, or looks like the prompt's own words. A prompt can be parsed back into its input.
package builder
