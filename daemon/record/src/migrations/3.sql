-- What a hook made of a call's input, and what the rater said of tools that say nothing of themselves.

ALTER TABLE calls ADD COLUMN asked TEXT; -- JSON, cut when it is long; NULL where nothing was rewritten

CREATE TABLE ratings (
    tool_group    TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    digest        TEXT    NOT NULL, -- of the question: another one replaces the answer
    changes       INTEGER NOT NULL,
    reason        TEXT    NOT NULL,
    rated_at      INTEGER NOT NULL,
    PRIMARY KEY (tool_group, tool)
) STRICT, WITHOUT ROWID;
