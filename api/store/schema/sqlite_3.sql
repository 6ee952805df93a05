-- Version 3: slices of a number of operations, and ramps. What is measured so makes series of
-- its own, whose case_key says so; all older series are of neither. A slice of operations has
-- the length 0 in the table of scores.
ALTER TABLE series ADD COLUMN operations INTEGER NOT NULL DEFAULT 0; -- of each lane in a slice; 0 means a time
ALTER TABLE series ADD COLUMN ramp       INTEGER NOT NULL DEFAULT 0; -- lanes that begin at a time; 0 means all at once
