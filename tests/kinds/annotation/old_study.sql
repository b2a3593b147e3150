-- A study of steps as beholder of November 2026 stored it, before records were typed.
BEGIN TRANSACTION;
CREATE TABLE beholder_acts (
  id INTEGER NOT NULL,
  study VARCHAR(64) NOT NULL,
  annotator VARCHAR(200) NOT NULL,
  unit INTEGER NOT NULL,
  client VARCHAR(64) NOT NULL,
  number INTEGER NOT NULL,
  part VARCHAR(64),
  value TEXT,
  saved_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (study, annotator, client, number)
);
INSERT INTO "beholder_acts" VALUES(1,'00000000000000000000000000000000','anna',0,'test-anna-0',1,'1','{"rating": 2, "breaks": ["place", "people"]}','2026-11-23 06:04:14');
INSERT INTO "beholder_acts" VALUES(2,'00000000000000000000000000000000','anna',0,'test-anna-0',2,'0','{"breaks": [], "rating": 7}','2026-11-23 06:04:14');
INSERT INTO "beholder_acts" VALUES(3,'00000000000000000000000000000000','anna',0,'test-anna-0',3,'done','true','2026-11-23 06:04:14');
INSERT INTO "beholder_acts" VALUES(4,'00000000000000000000000000000000','ben',0,'test-ben-0',1,'1','{"rating": 2, "breaks": ["place", "people"]}','2026-11-23 06:04:14');
INSERT INTO "beholder_acts" VALUES(5,'00000000000000000000000000000000','ben',0,'test-ben-0',2,'0','{"breaks": [], "rating": 7}','2026-11-23 06:04:14');
INSERT INTO "beholder_acts" VALUES(6,'00000000000000000000000000000000','ben',0,'test-ben-0',3,'done','true','2026-11-23 06:04:14');
CREATE TABLE beholder_annotators (
  study VARCHAR(64) NOT NULL,
  annotator VARCHAR(200) NOT NULL,
  place INTEGER NOT NULL,
  token VARCHAR(64) NOT NULL,
  PRIMARY KEY (study, annotator),
  UNIQUE (token)
);
INSERT INTO "beholder_annotators" VALUES('00000000000000000000000000000000','anna',0,'anna');
INSERT INTO "beholder_annotators" VALUES('00000000000000000000000000000000','ben',1,'ben');
CREATE TABLE beholder_assignments (
  study VARCHAR(64) NOT NULL,
  annotator VARCHAR(200) NOT NULL,
  place INTEGER NOT NULL,
  unit INTEGER NOT NULL,
  PRIMARY KEY (study, annotator, place)
);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','anna',0,0);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','anna',1,1);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','anna',2,2);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','ben',0,0);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','ben',1,1);
INSERT INTO "beholder_assignments" VALUES('00000000000000000000000000000000','ben',2,2);
CREATE TABLE beholder_studies (
  id VARCHAR(64) NOT NULL,
  task VARCHAR(32) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  settings TEXT NOT NULL,
  secret VARCHAR(64) NOT NULL,
  token VARCHAR(64) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (token)
);
INSERT INTO "beholder_studies" VALUES('00000000000000000000000000000000','steps','74ccdeecacf67a25c2161ac3924566d693699ebc00a93889b91eb6952375b65b','{"annotators": ["anna", "ben"], "overlap": null, "seed": 0, "n_seen_twice": 0}','abababababababababababababababababababababababababababababababab','owner');
CREATE TABLE beholder_units (
  study VARCHAR(64) NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (study, position)
);
INSERT INTO "beholder_units" VALUES('00000000000000000000000000000000',0,'"walk"','{"id": "walk", "source": ["walk"], "texts": [], "pictures": [{"image": "walk0.png", "caption": "1928-03-01"}, {"image": "walk1.png", "caption": "1928-03-02"}, {"image": "walk2.png", "caption": "1928-03-03"}], "row": {"id": "walk", "source": "human", "frames": [{"id": "walk0", "image": "walk0.png", "date": "1928-03-01"}, {"id": "walk1", "image": "walk1.png", "date": "1928-03-02"}, {"id": "walk2", "image": "walk2.png", "date": "1928-03-03"}]}, "prefill": {}}');
INSERT INTO "beholder_units" VALUES('00000000000000000000000000000000',1,'"trip"','{"id": "trip", "source": ["trip"], "texts": [], "pictures": [{"image": "trip0.png", "caption": "1929-03-01"}, {"image": "trip1.png", "caption": "1929-03-02"}, {"image": "trip2.png", "caption": "1929-03-03"}], "row": {"id": "trip", "source": "human", "frames": [{"id": "trip0", "image": "trip0.png", "date": "1929-03-01"}, {"id": "trip1", "image": "trip1.png", "date": "1929-03-02"}, {"id": "trip2", "image": "trip2.png", "date": "1929-03-03"}]}, "prefill": {}}');
INSERT INTO "beholder_units" VALUES('00000000000000000000000000000000',2,'"mix"','{"id": "mix", "source": ["mix"], "texts": [], "pictures": [{"image": "mix0.png", "caption": "1930-03-01"}, {"image": "mix1.png", "caption": "1930-03-02"}, {"image": "mix2.png", "caption": "1930-03-03"}], "row": {"id": "mix", "source": "random", "frames": [{"id": "mix0", "image": "mix0.png", "date": "1930-03-01"}, {"id": "mix1", "image": "mix1.png", "date": "1930-03-02"}, {"id": "mix2", "image": "mix2.png", "date": "1930-03-03"}]}, "prefill": {}}');
CREATE INDEX beholder_acts_of_unit ON beholder_acts (study, annotator, unit, id);
COMMIT;
