-- +goose Up
-- Traces can be listed by asker and model without reading their bodies.
ALTER TABLE trace ADD COLUMN asker bigint NOT NULL DEFAULT 0; -- as in body
ALTER TABLE trace ADD COLUMN model text COLLATE "C" NOT NULL DEFAULT ''; -- as in body; '' without one
UPDATE trace SET asker = (body::json ->> 'asker')::bigint, model = coalesce(body::json ->> 'model', '');
DROP INDEX trace_answer;
CREATE INDEX trace_answer ON trace (answer, channel, guild, asker, model);
