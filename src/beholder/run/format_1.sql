CREATE TEMP VIEW subjects AS
    SELECT 'item' AS kind, position, id, digest, row, source FROM main.items;
CREATE TEMP VIEW askers AS SELECT name, 'item' AS kind, config, signature FROM main.metrics;
CREATE TEMP VIEW scores AS
    SELECT metric AS asker, position, signature, numbers, units, detail, 0 AS unfinished
    FROM main.scores;
CREATE TEMP VIEW failures AS
    SELECT metric AS asker, position, error, message, transient, x'' AS detail FROM main.failures;
