-- Times are microseconds since 1970. Words are those of the JSON forms.
-- What is big and never changes is kept apart from what changes often.

CREATE TABLE units (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    kind          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    active_state  TEXT    NOT NULL,
    sub_state     TEXT    NOT NULL,
    result        TEXT    NOT NULL,
    task_state    TEXT,             -- NULL for what is no task
    ended_at      INTEGER,          -- NULL until the unit is at rest
    state         TEXT    NOT NULL, -- JSON, all of the state
    recent_starts TEXT    NOT NULL, -- JSON, an array of times
    counted       TEXT    AS (CASE WHEN kind <> 'task' THEN NULL
                                   WHEN ended_at IS NULL THEN 'tasks_running'
                                   WHEN active_state = 'failed' THEN 'tasks_failed'
                                   ELSE 'tasks_inactive' END) VIRTUAL
) STRICT;
CREATE INDEX units_live ON units (seq) WHERE ended_at IS NULL;
CREATE INDEX units_kind ON units (kind);
CREATE INDEX units_state ON units (active_state);
CREATE INDEX units_kind_state ON units (kind, active_state);
CREATE INDEX units_task_state ON units (task_state) WHERE task_state IS NOT NULL;

CREATE TABLE definitions (
    unit          INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    name          TEXT,
    command       TEXT    NOT NULL,
    spec          TEXT    NOT NULL,
    cwd           TEXT    NOT NULL,
    settings      TEXT    NOT NULL  -- JSON
) STRICT;

CREATE TABLE invocations (
    unit          INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    number        INTEGER NOT NULL, -- from 1, in the order of the starts
    id            TEXT    NOT NULL,
    started_at    INTEGER,
    exit          TEXT,             -- JSON
    PRIMARY KEY (unit, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    parent        TEXT,
    session       TEXT    NOT NULL,
    front         TEXT    NOT NULL,
    tool_group    TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    input         TEXT    NOT NULL, -- JSON, cut when it is long
    state         TEXT    NOT NULL,
    code          TEXT,
    preview       TEXT,
    started_at    INTEGER NOT NULL,
    duration_usec INTEGER
) STRICT;
CREATE INDEX calls_state ON calls (state);
CREATE INDEX calls_session ON calls (session);
CREATE INDEX calls_tool ON calls (tool);
CREATE INDEX calls_parent ON calls (parent) WHERE parent IS NOT NULL;

CREATE TABLE wakes (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    unit          INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    state         TEXT    NOT NULL CHECK (state IN ('held', 'due', 'acked')),
    status        TEXT    NOT NULL,
    exit_code     INTEGER,
    body          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    deliveries    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX wakes_due ON wakes (id) WHERE state = 'due';
CREATE INDEX wakes_held ON wakes (unit) WHERE state = 'held';
CREATE INDEX wakes_unit ON wakes (unit);

CREATE TABLE counters (
    name          TEXT    PRIMARY KEY,
    value         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('tasks_running', 0), ('tasks_inactive', 0), ('tasks_failed', 0), ('wakes_due', 0);

CREATE TRIGGER unit_added AFTER INSERT ON units WHEN new.counted IS NOT NULL BEGIN
    UPDATE counters SET value = value + 1 WHERE name = new.counted;
END;
CREATE TRIGGER unit_moved AFTER UPDATE OF active_state, ended_at ON units WHEN new.counted IS NOT old.counted BEGIN
    UPDATE counters SET value = value - 1 WHERE name = old.counted;
    UPDATE counters SET value = value + 1 WHERE name = new.counted;
END;
CREATE TRIGGER unit_removed AFTER DELETE ON units WHEN old.counted IS NOT NULL BEGIN
    UPDATE counters SET value = value - 1 WHERE name = old.counted;
END;
CREATE TRIGGER wake_added AFTER INSERT ON wakes WHEN new.state = 'due' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'wakes_due';
END;
CREATE TRIGGER wake_moved AFTER UPDATE OF state ON wakes WHEN new.state <> old.state BEGIN
    UPDATE counters SET value = value + (new.state = 'due') - (old.state = 'due') WHERE name = 'wakes_due';
END;
CREATE TRIGGER wake_removed AFTER DELETE ON wakes WHEN old.state = 'due' BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'wakes_due';
END;
