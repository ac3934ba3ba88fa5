// Package memory defines what Hark remembers: messages and the events that change them, people, the
// structure of guilds, and who may read what. Start with Store, the contract of the database, then Event.
//
// The log of messages is the truth. Everything else (segments, vectors, full text, summaries, traces)
// derives from it, changes in the same commit or through a durable queue, and goes when its source is
// deleted. Segments, vectors and full text can always be rebuilt.
//
// Indexer, which embeds segments, and Janitor, which deletes expired data, work on any Store. The package
// imports internal/text only, and knows neither SQL nor Discord's API.
package memory
