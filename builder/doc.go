// Package builder lays out what was recalled as a prompt within a budget.
//
// It has no clock, does no I/O and knows no context: the same input gives the same bytes. It promises that
//
//   - a prompt is never longer than its budget, as the tokenizer counts it;
//   - what is left out is left out whole, by priority, and reported, and a larger budget never loses an item
//     that a smaller one held, nor shows less of it unless it shows more items;
//   - text is cut between graphemes, with a mark;
//   - instructions come before data, and nothing that members wrote is in the system message, begins a
//     section, speaks as somebody else, or looks like any other of the prompt's own words. A prompt can be read
//     back into what was put in.
package builder
