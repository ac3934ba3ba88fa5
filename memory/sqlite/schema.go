package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring an empty file to the current schema, one version each. Never change a released one; add
// a new one.
var migrations = []string{schema}

// schema is version 1. Rows of messages are numbered guild << 48 | channel << 28 | sequence, segments guild
// << 40 | sequence. guild and channel are small numbers of the file's own. So a guild or a channel is one
// range, which full text searches without reading anything else.
//
// Every table about what was said has a column guild, its id in Discord, since the store's statements name it: see
// docs/decisions/0032-guild-in-every-key.md. It is in a key only where a statement says ON CONFLICT with it: a second
// index would hold it again.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE guild (
  no      INTEGER PRIMARY KEY,
  id      INTEGER NOT NULL UNIQUE,
  name    TEXT NOT NULL DEFAULT '',
  owner   INTEGER NOT NULL DEFAULT 0,
  choice  INTEGER NOT NULL DEFAULT 0,
  chosen  INTEGER NOT NULL DEFAULT 0, -- when, in milliseconds
  chooser INTEGER NOT NULL DEFAULT 0, -- who; 0 if unknown or forgotten
  asked   INTEGER NOT NULL DEFAULT 0,
  since   INTEGER NOT NULL DEFAULT 0, -- an id: nothing up to it counts as missing
  self    INTEGER NOT NULL DEFAULT 0, -- Hark's id
  gone    INTEGER NOT NULL DEFAULT 0  -- when Hark was removed, in milliseconds; 0 while it is there
);
CREATE TABLE role (
  guild       INTEGER NOT NULL,
  id          INTEGER NOT NULL,
  name        TEXT NOT NULL,
  permissions INTEGER NOT NULL,
  bot         INTEGER NOT NULL,
  PRIMARY KEY (guild, id)
) WITHOUT ROWID;
CREATE TABLE channel (
  guild       INTEGER NOT NULL,
  no          INTEGER PRIMARY KEY, -- guild.no << 20 | number in the guild
  id          INTEGER NOT NULL UNIQUE,
  parent      INTEGER NOT NULL,
  kind        INTEGER NOT NULL,
  name        TEXT NOT NULL,
  tags        TEXT NOT NULL DEFAULT '', -- a line each: id and name
  owner       INTEGER NOT NULL DEFAULT 0, -- who made a thread
  age_limited INTEGER NOT NULL,
  unplaced    INTEGER NOT NULL,
  shut        INTEGER NOT NULL DEFAULT 0, -- whether Hark couldn't read it and hasn't compared it since
  overwrites  TEXT NOT NULL,
  messages    INTEGER NOT NULL DEFAULT 0, -- that full text holds
  choice      INTEGER NOT NULL DEFAULT 0,
  chosen      INTEGER NOT NULL DEFAULT 0,
  chooser     INTEGER NOT NULL DEFAULT 0,
  heard       INTEGER NOT NULL DEFAULT 0, -- id of the newest message told of live; 0 if none
  learned     INTEGER NOT NULL DEFAULT 0, -- id: what was said up to it was looked at for facts
  summarised  INTEGER NOT NULL DEFAULT 0  -- id: what was said up to it was looked at for summaries
);
CREATE TABLE person (
  guild    INTEGER NOT NULL,
  id       INTEGER NOT NULL,
  username TEXT NOT NULL,
  name     TEXT NOT NULL,
  nick     TEXT NOT NULL,
  bot      INTEGER NOT NULL,
  roles    TEXT, -- NULL while unknown
  PRIMARY KEY (guild, id)
) WITHOUT ROWID;

CREATE TABLE message (
  guild    INTEGER NOT NULL,
  row      INTEGER PRIMARY KEY,
  channel  INTEGER NOT NULL, -- channel.no
  id       INTEGER NOT NULL,
  author   INTEGER NOT NULL,
  kind     INTEGER NOT NULL,
  reply_to INTEGER NOT NULL,
  edited   INTEGER NOT NULL, -- the text, in milliseconds; 0 if never
  whole    INTEGER NOT NULL, -- the same of the newest version that told more than the text
  starred  INTEGER NOT NULL,
  tokens   INTEGER NOT NULL,
  segment  INTEGER NOT NULL, -- 0 if in none
  content  TEXT NOT NULL,
  extra    TEXT             -- files and mentions
);
CREATE UNIQUE INDEX message_id ON message (channel, id);
CREATE INDEX message_starred ON message (channel, id) WHERE starred = 1;
CREATE TABLE early_edit ( -- of messages that haven't come yet
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  edited  INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
CREATE TABLE tombstone ( -- of messages that were deleted
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
CREATE TABLE external_id ( -- ids of messages outside Discord, such as in the file that they were imported from
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  name    TEXT NOT NULL,
  token   TEXT,             -- by which a sealed name is found
  PRIMARY KEY (channel, id)
) WITHOUT ROWID;
CREATE INDEX external_id_name ON external_id (channel, name);
CREATE INDEX external_id_token ON external_id (channel, token) WHERE token IS NOT NULL;
CREATE TABLE presence (
  guild    INTEGER NOT NULL,
  channel  INTEGER NOT NULL, -- channel.no
  author   INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  last     INTEGER NOT NULL, -- id of the last message
  PRIMARY KEY (channel, author, guild)
) WITHOUT ROWID;

-- Terms are hashes, so that only message holds words. The text isn't stored again. Positions are kept although
-- nobody asks for them: without them FTS5 would count terms in message.content, where it finds no hashes.
CREATE VIRTUAL TABLE fulltext USING fts5 (content, content='message', content_rowid='row',
  tokenize='ascii');
INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 1);

CREATE TABLE segment (
  guild   INTEGER NOT NULL,
  id      INTEGER PRIMARY KEY, -- guild.no << 40 | sequence
  channel INTEGER NOT NULL,    -- channel.no
  first   INTEGER NOT NULL,    -- its messages lie in [first, last]
  last    INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  version INTEGER NOT NULL,
  pending INTEGER NOT NULL,    -- 1 while its vector is missing or out of date; 2 if it has none, since nothing in it can be embedded
  next    INTEGER NOT NULL DEFAULT 0 -- the same of its vector in vector_next
);
CREATE INDEX segment_pending ON segment (id) WHERE pending = 1;
CREATE INDEX segment_next ON segment (id) WHERE next = 1;
CREATE TABLE vector (
  guild   INTEGER NOT NULL,
  segment INTEGER PRIMARY KEY,
  sketch  BLOB NOT NULL, -- some bits of it, by which it is chosen to be compared: see sketch.go
  steps   BLOB NOT NULL  -- int8 a dimension, or a bit a dimension and an int8 for each that isn't 0
);
CREATE TABLE vector_next ( -- of another space than vector, whose place it takes once it is complete
  guild   INTEGER NOT NULL,
  segment INTEGER PRIMARY KEY,
  sketch  BLOB NOT NULL,
  steps   BLOB NOT NULL
);
CREATE TABLE vector_version ( -- counts what changes a guild's vectors in use
  guild   INTEGER PRIMARY KEY, -- guild.no; rows stay, since numbers are given out again
  version INTEGER NOT NULL
);

CREATE TABLE trace (
  guild    INTEGER NOT NULL,
  channel  INTEGER NOT NULL, -- the id
  answer   INTEGER NOT NULL,
  question INTEGER NOT NULL, -- these three as in body; 0 without one
  asker    INTEGER NOT NULL,
  model    TEXT NOT NULL,    -- '' without one
  parts    TEXT NOT NULL,    -- the answer's further messages, as JSON
  body     TEXT NOT NULL,    -- the last column: what is before it is read without it
  PRIMARY KEY (channel, answer, guild)
) WITHOUT ROWID;
CREATE INDEX trace_answer ON trace (answer, asker, model); -- lists traces without their bodies
CREATE INDEX trace_parts ON trace (channel, answer) WHERE parts <> '[]';

CREATE TABLE opted (
  guild INTEGER NOT NULL,
  user  INTEGER NOT NULL,
  out   INTEGER NOT NULL,
  at    INTEGER NOT NULL, -- milliseconds
  PRIMARY KEY (guild, user)
) WITHOUT ROWID;
CREATE TABLE fact (
  guild   INTEGER NOT NULL,
  id      INTEGER NOT NULL,
  user    INTEGER NOT NULL,
  alias   INTEGER NOT NULL,
  by      INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- id of where it was said or told; 0 if for all of the guild
  message INTEGER NOT NULL,
  text    TEXT,             -- NULL once it is gone
  PRIMARY KEY (guild, id)
) WITHOUT ROWID;
CREATE INDEX fact_user ON fact (guild, user) WHERE text IS NOT NULL;

CREATE TABLE star ( -- message.starred has what it says of messages that are there
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  starred INTEGER NOT NULL,
  at      INTEGER NOT NULL, -- milliseconds
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;

CREATE TABLE question ( -- asked and not answered yet
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
CREATE TABLE gap (
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  until   INTEGER NOT NULL,
  after   INTEGER NOT NULL,
  past    INTEGER NOT NULL,
  sweep   INTEGER NOT NULL,
  fetched INTEGER NOT NULL,
  PRIMARY KEY (channel, sweep, until, guild)
) WITHOUT ROWID;
CREATE INDEX gap_sweep ON gap (guild, until) WHERE sweep;

CREATE TABLE forgetting (
  id      INTEGER PRIMARY KEY,
  guild   INTEGER NOT NULL, -- -1: everywhere
  channel INTEGER NOT NULL, -- id; 0: all
  user    INTEGER NOT NULL, -- 0: everybody
  before  INTEGER NOT NULL, -- id of a message: those smaller are forgotten
  why     TEXT NOT NULL,
  at      INTEGER NOT NULL, -- milliseconds
  done    INTEGER NOT NULL,
  receipt TEXT NOT NULL,    -- so far, as JSON: numbers only
  whole   INTEGER NOT NULL DEFAULT 0, -- whether nothing but the beginning ends it
  begun   INTEGER NOT NULL DEFAULT 0 -- 1: its messages are to be listed in pending_deletion; 2: they are
);
CREATE TABLE withdrawn ( -- messages of Hark's that Discord still shows
  guild   INTEGER NOT NULL,
  no      INTEGER PRIMARY KEY,
  channel INTEGER NOT NULL,
  message INTEGER NOT NULL,
  first   INTEGER NOT NULL,
  unasked INTEGER NOT NULL DEFAULT 0, -- whether its question was deleted
  UNIQUE (channel, message, guild)
);

CREATE TABLE learn ( -- whether facts may be learned
  guild INTEGER NOT NULL,
  user  INTEGER NOT NULL, -- 0: what the guild says
  allow INTEGER NOT NULL,
  at    INTEGER NOT NULL, -- milliseconds
  PRIMARY KEY (guild, user)
) WITHOUT ROWID;
CREATE TABLE connection ( -- by which members' own programs read what they may read
  guild INTEGER NOT NULL,
  user  INTEGER NOT NULL,
  hash  TEXT NOT NULL,    -- '' once it was taken back
  at    INTEGER NOT NULL, -- milliseconds
  uses  INTEGER NOT NULL,
  used  INTEGER NOT NULL, -- milliseconds; 0 if never
  PRIMARY KEY (guild, user)
) WITHOUT ROWID;
CREATE TABLE pending_deletion ( -- forgotten messages, of which only their rows and their full text are left
  guild      INTEGER NOT NULL,
  row        INTEGER PRIMARY KEY,
  forgetting INTEGER NOT NULL
);
-- If nothing is pending deletion, the view costs one look-up.
CREATE VIEW said AS SELECT * FROM message
  WHERE NOT EXISTS (SELECT 1 FROM pending_deletion) OR row NOT IN (SELECT row FROM pending_deletion);

CREATE TABLE lore (
  guild   INTEGER NOT NULL,
  id      INTEGER NOT NULL,
  by      INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- id of where it was told; 0 if for the whole guild
  at      INTEGER NOT NULL, -- the first id that a message of that moment can have
  name    TEXT NOT NULL,
  own     TEXT NOT NULL,    -- aliases given by hand, as JSON
  text    TEXT,             -- NULL once it is gone
  scheduled INTEGER NOT NULL DEFAULT 0, -- whether it is an event in Discord's calendar
  PRIMARY KEY (guild, id)
) WITHOUT ROWID;
CREATE INDEX lore_id ON lore (id);
CREATE TABLE summary (
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL, -- of the last message summed up
  after   INTEGER NOT NULL, -- of the last one before the first
  made    INTEGER NOT NULL, -- milliseconds
  model   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  topics  TEXT NOT NULL,    -- as JSON
  text    TEXT,             -- NULL while it is gone and to be made again
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
CREATE INDEX summary_again ON summary (channel, id) WHERE text IS NULL;
CREATE TABLE prompt ( -- what models were sent, for a time
  guild   INTEGER NOT NULL,
  no      INTEGER PRIMARY KEY,
  channel INTEGER NOT NULL, -- the answer's, its id
  answer  INTEGER NOT NULL,
  built   INTEGER NOT NULL, -- milliseconds
  body    TEXT NOT NULL,
  UNIQUE (channel, answer)
);
CREATE INDEX prompt_built ON prompt (built);

CREATE TABLE setting ( -- of answers, in a guild or a channel
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id; 0: of the whole guild
  key     TEXT NOT NULL,
  value   TEXT NOT NULL,    -- '' if it was taken back
  at      INTEGER NOT NULL, -- milliseconds
  chooser INTEGER NOT NULL DEFAULT 0, -- as in guild
  PRIMARY KEY (guild, channel, key)
) WITHOUT ROWID;

CREATE TABLE role_limit ( -- how much may be asked
  guild    INTEGER NOT NULL,
  role     INTEGER NOT NULL, -- 0: the whole guild's; the guild's id: each member's
  messages INTEGER NOT NULL, -- a minute; 0: without limit; -1: as configured
  tokens   INTEGER NOT NULL, -- a day; the same
  at       INTEGER NOT NULL, -- milliseconds
  chooser  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (guild, role)
) WITHOUT ROWID;
CREATE TABLE spent ( -- tokens, by question, for a day or two
  guild    INTEGER NOT NULL,
  question INTEGER NOT NULL, -- id
  user     INTEGER NOT NULL, -- who asked; 0 once they are forgotten
  tokens   INTEGER NOT NULL,
  PRIMARY KEY (guild, question)
) WITHOUT ROWID;

CREATE TABLE record ( -- of calls
  guild    INTEGER NOT NULL,
  no       INTEGER PRIMARY KEY,
  call     TEXT NOT NULL UNIQUE,
  channel  INTEGER NOT NULL, -- the id
  asker    INTEGER NOT NULL,
  at       INTEGER NOT NULL, -- milliseconds
  speaker  TEXT NOT NULL,
  method   TEXT NOT NULL,
  tokens   INTEGER NOT NULL, -- of body
  body     TEXT NOT NULL
);
CREATE INDEX record_channel ON record (channel, at, tokens);
CREATE INDEX record_at ON record (at);

CREATE TABLE condensed ( -- what the older parts of sessions that go on were condensed to
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  until   INTEGER NOT NULL,    -- the last message that it tells of
  made    INTEGER NOT NULL,    -- milliseconds
  model   TEXT NOT NULL,
  text    TEXT NOT NULL,
  PRIMARY KEY (channel, guild)
) WITHOUT ROWID;
CREATE TABLE derived ( -- what was made from what people said: see sqlstore/derived.go
  guild   INTEGER NOT NULL,
  no      INTEGER PRIMARY KEY,
  kind    INTEGER NOT NULL,
  place   INTEGER NOT NULL, -- the id of the guild or channel in which id is given once
  id      INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id of where it may be told; 0 if in the whole guild
  author  INTEGER NOT NULL,
  at      INTEGER NOT NULL, -- if not 0, it is forgotten as a message of author's with that id would be
  UNIQUE (kind, place, id)
);
CREATE TABLE source ( -- what they were made from
  guild   INTEGER NOT NULL,
  kind    INTEGER NOT NULL, -- 0: a message
  place   INTEGER NOT NULL, -- the id of a fact's guild, of a message's or a summary's channel, or 0 for lore
  id      INTEGER NOT NULL,
  derived INTEGER NOT NULL, -- derived.no
  version INTEGER NOT NULL, -- see memory.Source
  repeats INTEGER NOT NULL,
  PRIMARY KEY (kind, place, id, derived)
) WITHOUT ROWID;
CREATE INDEX source_derived ON source (derived);
CREATE TABLE named ( -- whom they are about
  guild   INTEGER NOT NULL,
  user    INTEGER NOT NULL,
  derived INTEGER NOT NULL,
  PRIMARY KEY (user, derived)
) WITHOUT ROWID;
CREATE INDEX named_derived ON named (derived);

CREATE TABLE shown ( -- messages of answers that Hark keeps no more and Discord shows still
  guild    INTEGER NOT NULL,
  channel  INTEGER NOT NULL, -- the id
  id       INTEGER NOT NULL,
  derived  INTEGER NOT NULL, -- derived.no, of which the id is that of the first of them
  question INTEGER NOT NULL,
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
CREATE INDEX shown_derived ON shown (derived);

CREATE TABLE taken ( -- messages of Hark's that are in tombstone since something that they were made from went
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;

CREATE TABLE rewritten ( -- messages of Hark's that were written anew
  guild   INTEGER NOT NULL,
  channel INTEGER NOT NULL, -- the id
  id      INTEGER NOT NULL,
  edited  INTEGER,          -- milliseconds: versions from before are gone; NULL: none is known to be there yet
  PRIMARY KEY (channel, id, guild)
) WITHOUT ROWID;
`

func migrate(ctx context.Context, db *sql.Conn, migrations []string) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return newerVersion(version)
	}
	for ; version < len(migrations); version++ {
		if err := migrateOne(ctx, db, migrations, version); err != nil {
			return fmt.Errorf("migrate the database to version %d: %w", version+1, err)
		}
	}
	return nil
}

func migrateOne(ctx context.Context, db *sql.Conn, migrations []string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Another process may have migrated while this one waited for the lock.
	var now int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&now); err != nil || now > version {
		return err
	}
	if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
		return err
	}
	return tx.Commit()
}

func newerVersion(version int) error {
	return fmt.Errorf("the database is of version %d, made by a newer Hark than this one, which knows %d: "+
		"use the newer Hark", version, len(migrations))
}
