-- Version 1 of the store in SQLite. Times are microseconds since 1970 UTC; a JSON column is
-- text. "seq" is a run's time of creation, made unique, so that newest first is the order
-- of the key and a page is a seek and a short walk, on the first page and on the last.
CREATE TABLE runs (
    seq             INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    state           TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    spec            TEXT    NOT NULL,
    timeout         INTEGER NOT NULL,           -- microseconds, of the spec
    hosts           TEXT    NOT NULL,           -- JSON list of names
    selector        TEXT    NOT NULL,           -- JSON of the spec's hosts, the same text for the same wish
    waiting         INTEGER NOT NULL,           -- 1 while no host was found
    created         INTEGER NOT NULL,
    started         INTEGER,
    finished        INTEGER,
    deadline        INTEGER,                    -- started + timeout, while it can still pass
    cancel_reason   TEXT    NOT NULL,
    done            INTEGER NOT NULL,           -- trials in a final state
    total           INTEGER NOT NULL,
    version         INTEGER NOT NULL,           -- grows with every change of the run or a trial
    idempotency_key TEXT    UNIQUE,
    body_hash       BLOB
);
CREATE INDEX runs_state    ON runs (state, seq);
CREATE INDEX runs_waiting  ON runs (selector, seq) WHERE waiting = 1;
CREATE INDEX runs_deadline ON runs (deadline)      WHERE deadline IS NOT NULL;

CREATE TABLE trials (
    run        INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,                -- place in the run, from 0
    id         TEXT    NOT NULL UNIQUE,
    host       TEXT    NOT NULL,                -- empty while none was found
    kernel     TEXT    NOT NULL,
    params     TEXT    NOT NULL,                -- JSON object of strings
    state      TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,                -- the number of the last start that was reported
    least      INTEGER NOT NULL,                -- reports of an attempt below it are refused
    instance   TEXT    NOT NULL,                -- the worker process of the last start
    dispatched INTEGER,                         -- when its order went to the queue
    started    INTEGER,
    finished   INTEGER,
    error      TEXT,                            -- JSON of a bench.TrialError
    PRIMARY KEY (run, ordinal)
) WITHOUT ROWID;
-- Each of the collector's questions has an index that holds the few rows of its answer only.
CREATE INDEX trials_queued ON trials (host, run, ordinal) WHERE state = 'queued' AND dispatched IS NULL AND host <> '';
CREATE INDEX trials_sent   ON trials (run, ordinal)       WHERE dispatched IS NOT NULL AND started IS NULL AND finished IS NULL;
CREATE INDEX trials_active ON trials (run, ordinal)       WHERE state IN ('running', 'canceling');

CREATE TABLE results (
    run     INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    body    BLOB    NOT NULL,                   -- zstd of the JSON of a measurement
    PRIMARY KEY (run, ordinal),
    FOREIGN KEY (run, ordinal) REFERENCES trials (run, ordinal) ON DELETE CASCADE
);

-- What a run can be found by: its hosts, its kernels and their families, its suite, its labels.
-- All of it follows from the run, so that nothing else has to find a run's tags.
CREATE TABLE tags (
    kind  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    run   INTEGER NOT NULL,
    PRIMARY KEY (kind, value, run)
) WITHOUT ROWID;

CREATE TABLE hosts (
    name TEXT PRIMARY KEY,
    body TEXT NOT NULL                          -- JSON of a bench.Host
) WITHOUT ROWID;

-- How many runs and trials are in each state, kept in the transaction that changes a state,
-- since counting millions of rows for every look at the metrics would be too slow.
CREATE TABLE tally (
    what  TEXT    NOT NULL,                     -- 'run' or 'trial'
    state TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (what, state)
) WITHOUT ROWID;

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
