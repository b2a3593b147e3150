CREATE TABLE IF NOT EXISTS subjects (
    kind TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, digest BLOB NOT NULL,
    row TEXT NOT NULL, source BLOB NOT NULL,
    PRIMARY KEY (kind, position), UNIQUE (kind, id));
CREATE TABLE IF NOT EXISTS askers (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, config TEXT NOT NULL, signature TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS scores (
    asker TEXT NOT NULL, position INTEGER NOT NULL, signature TEXT NOT NULL,
    numbers TEXT NOT NULL, units BLOB NOT NULL, detail BLOB NOT NULL, unfinished INTEGER NOT NULL,
    PRIMARY KEY (asker, position));
CREATE TABLE IF NOT EXISTS failures (
    asker TEXT NOT NULL, position INTEGER NOT NULL,
    error TEXT NOT NULL, message TEXT NOT NULL, transient INTEGER NOT NULL, detail BLOB NOT NULL,
    PRIMARY KEY (asker, position));
CREATE TABLE IF NOT EXISTS prepared (
    asker TEXT NOT NULL, data TEXT NOT NULL, knowledge BLOB NOT NULL,
    PRIMARY KEY (asker, data)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inputs (
    input TEXT PRIMARY KEY, n INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unfinished ON scores (asker, position) WHERE unfinished;
CREATE INDEX IF NOT EXISTS transient ON failures (asker, position) WHERE transient;
CREATE TABLE IF NOT EXISTS vectors (
    identity TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (identity, digest)) WITHOUT ROWID;
