// Package memory is what was said: messages and the events that change them, the people and the structure of
// the guilds they were written in, the contract of the store that keeps them, and the work that makes segments
// and vectors of them.
//
// The log of messages is the truth. Segments, vectors and full text are made from it, change in the same
// commit as it does or wait in a durable queue, and can be made again: losing them loses only time. What is
// deleted goes from all of them.
package memory
