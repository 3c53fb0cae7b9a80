-- What the scripts of units did by the command `tools`.

CREATE TABLE reports (
    unit          INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    calls         INTEGER NOT NULL, -- so many were made, those that only read included
    report        TEXT    NOT NULL  -- JSON
) STRICT;
