-- Questions to a person, their answers, and the answers that hold for calls to come.

CREATE TABLE approvals (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    digest        TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('pending', 'allowed', 'used', 'rejected', 'expired')),
    expires_at    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    answered_by   TEXT,
    card          TEXT    NOT NULL
) STRICT;
CREATE INDEX approvals_open ON approvals (digest) WHERE state IN ('pending', 'allowed', 'rejected');
CREATE INDEX approvals_pending ON approvals (id) WHERE state = 'pending';
CREATE INDEX approvals_expiry ON approvals (expires_at) WHERE state IN ('pending', 'allowed', 'rejected');

CREATE TABLE standing (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_group    TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    allow         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    answered_by   TEXT    NOT NULL,
    UNIQUE (tool_group, tool, scope)
) STRICT;
