#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {
namespace {

// Not STRICT, and no function of the optional maths extension: the file opens
// in the SQLite of old distributions too, and there STRICT makes it unreadable.
//
// `text` is the id people see. Other tables refer by integer, so that a point
// takes some twenty bytes. Numbers that may be NaN have no type: SQLite would
// turn NaN into NULL, so it is stored as the text 'nan', infinities as REAL.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  user TEXT NOT NULL,
  source TEXT NOT NULL,
  canonical_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  parallel_limit INTEGER,
  failure_limit INTEGER
);
CREATE INDEX sweep_by_name ON sweep (name, canonical_hash);
CREATE INDEX sweep_unfinished ON sweep (id) WHERE state IN ('active', 'paused');

CREATE TABLE cell (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  sweep INTEGER NOT NULL REFERENCES sweep (id),
  number INTEGER NOT NULL,
  hash TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  axes_json TEXT NOT NULL,
  depth INTEGER NOT NULL,
  dataset_label TEXT NOT NULL,
  method_label TEXT NOT NULL,
  dataset_name TEXT NOT NULL,
  dataset_path TEXT NOT NULL,
  dataset_hash TEXT NOT NULL,
  tokenizer TEXT NOT NULL,
  train_fraction NOT NULL,
  validation_fraction NOT NULL,
  test_fraction NOT NULL,
  vocabulary INTEGER,
  unit TEXT NOT NULL,
  validation_floor,
  test_floor,
  steps INTEGER NOT NULL,
  UNIQUE (sweep, number)
);

CREATE TABLE cohort (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  cell INTEGER NOT NULL REFERENCES cell (id),
  number INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  UNIQUE (cell, number)
);

CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  sweep INTEGER NOT NULL REFERENCES sweep (id),
  cell INTEGER NOT NULL REFERENCES cell (id),
  cohort INTEGER NOT NULL REFERENCES cohort (id),
  seed_index INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (cell, seed_index)
);
CREATE INDEX trial_by_state ON trial (sweep, state);
CREATE INDEX trial_by_cohort ON trial (cohort, seed_index);

CREATE TABLE attempt (
  cohort INTEGER NOT NULL REFERENCES cohort (id),
  number INTEGER NOT NULL,
  node TEXT NOT NULL,
  instance TEXT NOT NULL,
  device TEXT NOT NULL,
  devices TEXT NOT NULL,
  numerics TEXT NOT NULL,
  version TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  libraries TEXT NOT NULL,
  dataset_path TEXT NOT NULL,
  threads INTEGER NOT NULL,
  parameters INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT NOT NULL,
  kind TEXT,
  message TEXT NOT NULL,
  PRIMARY KEY (cohort, number)
) WITHOUT ROWID;

CREATE TABLE result_metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  split TEXT NOT NULL
);
INSERT INTO result_metric VALUES
  (1, 'validation_loss', 'validation'),
  (2, 'test_loss', 'test'),
  (3, 'best_validation_loss', 'validation');

CREATE TABLE result (
  trial INTEGER PRIMARY KEY REFERENCES trial (id),
  attempt INTEGER NOT NULL,
  validation_loss NOT NULL,
  test_loss,
  best_validation_loss,
  best_step INTEGER,
  unit TEXT NOT NULL,
  steps INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  seconds NOT NULL,
  peak_bytes INTEGER NOT NULL,
  parameters INTEGER NOT NULL
);

CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

CREATE TABLE points (
  trial INTEGER NOT NULL REFERENCES trial (id),
  metric INTEGER NOT NULL REFERENCES metric (id),
  step INTEGER NOT NULL,
  value NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (trial, metric, step)
) WITHOUT ROWID;

CREATE TABLE source_list (
  id INTEGER PRIMARY KEY,
  names TEXT NOT NULL UNIQUE
);

CREATE TABLE source (
  list INTEGER NOT NULL REFERENCES source_list (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (list, position)
) WITHOUT ROWID;

CREATE TABLE routing_step (
  trial INTEGER NOT NULL REFERENCES trial (id),
  step INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (trial, step)
) WITHOUT ROWID;

CREATE TABLE router_map (
  trial INTEGER NOT NULL,
  step INTEGER NOT NULL,
  router INTEGER NOT NULL,
  sources INTEGER NOT NULL REFERENCES source_list (id),
  weights TEXT NOT NULL,
  PRIMARY KEY (trial, step, router),
  FOREIGN KEY (trial, step) REFERENCES routing_step (trial, step)
) WITHOUT ROWID;

CREATE TABLE router_statistic (
  trial INTEGER NOT NULL,
  step INTEGER NOT NULL,
  metric INTEGER NOT NULL REFERENCES metric (id),
  numbers TEXT NOT NULL,
  PRIMARY KEY (trial, step, metric),
  FOREIGN KEY (trial, step) REFERENCES routing_step (trial, step)
) WITHOUT ROWID;

CREATE TABLE window_losses (
  trial INTEGER NOT NULL REFERENCES trial (id),
  split TEXT NOT NULL,
  step INTEGER NOT NULL,
  losses TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (trial, split, step)
) WITHOUT ROWID;

CREATE TABLE orphan (
  cohort INTEGER NOT NULL,
  number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (cohort, number, sequence),
  FOREIGN KEY (cohort, number) REFERENCES attempt (cohort, number)
) WITHOUT ROWID;

CREATE TABLE answer (
  request TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE VIEW sweeps AS
SELECT s.text AS sweep, s.name, s.state,
  strftime('%Y-%m-%dT%H:%M:%SZ', s.submitted_at / 1000000, 'unixepoch')
    AS submitted_at,
  s.user,
  (SELECT count(*) FROM cell WHERE sweep = s.id) AS cells,
  (SELECT count(*) FROM trial WHERE sweep = s.id) AS trials,
  (SELECT count(*) FROM trial WHERE sweep = s.id AND state = 'succeeded')
    AS succeeded,
  (SELECT count(*) FROM trial WHERE sweep = s.id AND state = 'diverged')
    AS diverged,
  (SELECT count(*) FROM trial WHERE sweep = s.id AND state = 'failed')
    AS failed,
  (SELECT count(*) FROM trial WHERE sweep = s.id AND state = 'cancelled')
    AS cancelled
FROM sweep s;

CREATE VIEW trial_results AS
SELECT s.text AS sweep, c.text AS cell, t.text AS trial, t.seed,
  c.depth, c.dataset_label AS dataset, c.method_label AS method, t.state,
  m.name AS metric, m.split, coalesce(r.unit, c.unit) AS unit,
  CASE m.id WHEN 1 THEN r.validation_loss WHEN 2 THEN r.test_loss
    ELSE r.best_validation_loss END AS value,
  CASE m.id WHEN 3 THEN r.best_step ELSE r.steps END AS step,
  r.steps, r.tokens, r.seconds, h.attempts, a.numerics, a.device
FROM sweep s
  JOIN cell c ON c.sweep = s.id
  JOIN trial t ON t.cell = c.id
  JOIN cohort h ON h.id = t.cohort
  JOIN result_metric m
  LEFT JOIN result r ON r.trial = t.id
  LEFT JOIN attempt a
    ON a.cohort = t.cohort AND a.number = coalesce(r.attempt, h.attempts);

CREATE VIEW cell_results AS
SELECT g.sweep, g.cell, g.depth, g.dataset, g.method, g.metric, g.split, g.unit,
  g.n, g.planned, g.diverged, g.failed,
  CASE WHEN g.n = 0 THEN NULL WHEN g.nans > 0 THEN 'nan'
    ELSE coalesce(g.mean, 'nan') END AS mean,
  CASE WHEN g.n < 2 THEN NULL WHEN g.nans + g.infinities > 0 THEN 'nan' ELSE
    -- Newton's square root of the variance about the mean, over n - 1.
    (WITH RECURSIVE
      variance (v) AS (
        SELECT sum((x.value - g.mean) * (x.value - g.mean)) / (g.n - 1)
        FROM (
          SELECT CASE g.metric_id WHEN 1 THEN r.validation_loss
              WHEN 2 THEN r.test_loss ELSE r.best_validation_loss END AS value
          FROM trial t JOIN result r ON r.trial = t.id
          WHERE t.cell = g.cell_id AND t.state = 'succeeded') x),
      root (x, next, v) AS (
        SELECT max(v, 1.0), (max(v, 1.0) + v / max(v, 1.0)) / 2, v
          FROM variance
        UNION ALL
        SELECT next, (next + v / next) / 2, v FROM root WHERE next < x)
      SELECT min(next) FROM root) END AS sd,
  CASE WHEN g.nans > 0 THEN 'nan' ELSE g.min END AS min,
  CASE WHEN g.nans > 0 THEN 'nan' ELSE g.max END AS max
FROM (
  SELECT p.sweep, p.cell, p.depth, p.dataset, p.method, p.metric, p.split,
    p.unit, p.cell_id, p.metric_id,
    count(p.value) AS n,
    count(*) AS planned,
    sum(p.state = 'diverged') AS diverged,
    sum(p.state = 'failed') AS failed,
    total(p.value = 'nan') AS nans,
    total(p.value IN (9e999, -9e999)) AS infinities,
    avg(p.value) AS mean, min(p.value) AS min, max(p.value) AS max
  FROM (
    SELECT s.text AS sweep, c.text AS cell, c.depth,
      c.dataset_label AS dataset, c.method_label AS method, m.name AS metric,
      m.split, c.unit, c.id AS cell_id, m.id AS metric_id, t.state,
      CASE WHEN t.state <> 'succeeded' THEN NULL
        WHEN m.id = 1 THEN r.validation_loss
        WHEN m.id = 2 THEN r.test_loss
        ELSE r.best_validation_loss END AS value
    FROM sweep s
      JOIN cell c ON c.sweep = s.id
      JOIN trial t ON t.cell = c.id
      JOIN result_metric m
      LEFT JOIN result r ON r.trial = t.id) p
  GROUP BY p.sweep, p.cell_id, p.metric_id, p.cell, p.depth, p.dataset,
    p.method, p.metric, p.split, p.unit) g;

CREATE VIEW curves AS
SELECT s.text AS sweep, c.text AS cell, t.text AS trial, t.seed,
  m.name AS metric, p.step, p.value
FROM points p
  JOIN metric m ON m.id = p.metric
  JOIN trial t ON t.id = p.trial
  JOIN cell c ON c.id = t.cell
  JOIN sweep s ON s.id = t.sweep;

CREATE VIEW routing AS
SELECT t.text AS trial, p.step, p.router, p.router AS sublayer,
  n.name AS source, w.value AS weight
FROM router_map p
  JOIN trial t ON t.id = p.trial
  JOIN json_each(p.weights) w
  JOIN source n ON n.list = p.sources AND n.position = w.key;

CREATE VIEW routing_stats AS
SELECT t.text AS trial, p.step, v.key AS router, m.name, v.value
FROM router_statistic p
  JOIN trial t ON t.id = p.trial
  JOIN metric m ON m.id = p.metric
  JOIN json_each(p.numbers) v;

CREATE VIEW attempts AS
SELECT t.text AS trial, h.text AS cohort, t.text || '@' || a.number AS attempt,
  a.node, a.device,
  strftime('%Y-%m-%dT%H:%M:%SZ', a.started_at / 1000000, 'unixepoch')
    AS started_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', a.ended_at / 1000000, 'unixepoch')
    AS ended_at,
  a.outcome, a.kind, a.message
FROM attempt a
  JOIN cohort h ON h.id = a.cohort
  JOIN trial t ON t.cohort = a.cohort;

CREATE VIEW settings AS
SELECT c.text AS cell, j.key, j.value
FROM cell c JOIN json_each(c.settings_json) j;
)sql";

}  // namespace

const std::array<const char*, 10> kSchemaSteps = {
    kVersion1, kStepTo2, kStepTo3, kStepTo4, kStepTo5,
    kStepTo6,  kStepTo7, kStepTo8, kStepTo9, kStepTo10};

}  // namespace leadline::storage::sqlite
