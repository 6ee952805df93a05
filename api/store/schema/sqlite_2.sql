-- Version 2: several trials of one case in a run, and the scores of all runs in tables of
-- their own, where a history, a leaderboard or a noise
-- floor is found without unpacking results.
ALTER TABLE runs   ADD COLUMN repeat INTEGER NOT NULL DEFAULT 1;     -- trials of each case, of the spec
ALTER TABLE runs   ADD COLUMN label_commit TEXT NOT NULL DEFAULT ''; -- the label "commit", which points of a history show
ALTER TABLE trials ADD COLUMN repeat INTEGER NOT NULL DEFAULT 1;     -- which of the case's trials on its host, from 1

UPDATE runs SET label_commit = tags.value FROM tags WHERE tags.kind = 'label commit' AND tags.run = runs.seq;

-- A series is what can be followed over time: one case on one host in one placement, in one
-- unit. A round trip free and the same pinned are two series, since placement moves it several-fold.
CREATE TABLE series (
    id        INTEGER PRIMARY KEY,
    host      TEXT    NOT NULL,
    kernel    TEXT    NOT NULL,
    case_key  TEXT    NOT NULL,                 -- bench.Case.Key()
    params    TEXT    NOT NULL,                 -- JSON object of strings
    pin       TEXT    NOT NULL,
    awake     INTEGER NOT NULL,
    metric    TEXT    NOT NULL,
    unit      TEXT    NOT NULL,
    better    TEXT    NOT NULL,
    latest    INTEGER NOT NULL,                 -- when its newest score was finished
    UNIQUE (host, case_key, pin, awake, metric, unit, better)
);
CREATE INDEX series_kernel ON series (kernel, latest);
CREATE INDEX series_latest ON series (latest);

-- One row for each trial that succeeded with a score, written with its end.
CREATE TABLE scores (
    run         INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    series      INTEGER NOT NULL REFERENCES series (id),
    repeat      INTEGER NOT NULL,
    repeats     INTEGER NOT NULL,               -- of the run: more than 1 in a calibration
    value       DOUBLE PRECISION NOT NULL,
    low         DOUBLE PRECISION,
    high        DOUBLE PRECISION,
    confidence  DOUBLE PRECISION NOT NULL,
    n           INTEGER NOT NULL,
    valid       INTEGER NOT NULL,
    fingerprint TEXT    NOT NULL,
    slice       INTEGER NOT NULL,               -- microseconds, of the plan
    warmup      INTEGER NOT NULL,               -- microseconds; -1 where the samples ended it
    finished    INTEGER NOT NULL,
    forks       TEXT    NOT NULL,               -- JSON list: the median of each fork's samples
    PRIMARY KEY (run, ordinal),
    FOREIGN KEY (run, ordinal) REFERENCES trials (run, ordinal) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX scores_history    ON scores (series, finished);
CREATE INDEX scores_best       ON scores (series, valid, value);
CREATE INDEX scores_past       ON scores (series, fingerprint, finished);
CREATE INDEX scores_calibrated ON scores (series, fingerprint, finished) WHERE repeats > 1;
