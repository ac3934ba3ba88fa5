-- +goose Up
-- Values can be sealed.
CREATE TABLE data_key ( -- keys that values are sealed with
  number  bigint PRIMARY KEY, -- values begin with it
  guild   bigint NOT NULL,    -- the id; 0: of what is of no guild, too
  retired bigint NOT NULL,    -- whether it is only left until all of its values are sealed with another
  wrapped text COLLATE "C" NOT NULL -- the key, sealed by the operator's key
);
CREATE INDEX data_key_guild ON data_key (guild);
ALTER TABLE called ADD COLUMN token text COLLATE "C"; -- by which a sealed name is found
CREATE INDEX called_token ON called USING hash (token);
-- A vector is in one of the two columns.
ALTER TABLE embedding ADD COLUMN sealed bytea, ALTER COLUMN "values" DROP NOT NULL;
ALTER TABLE embedding_next ADD COLUMN sealed bytea, ALTER COLUMN "values" DROP NOT NULL;
