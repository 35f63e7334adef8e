// Sweeps that are stored part by part, and what goes row by row, are in no
// view: a sweep is there as a whole or not at all.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

const char kStepTo8[] = R"sql(
DROP VIEW trial_results;
DROP VIEW cell_results;
DROP VIEW curves;
DROP VIEW settings;

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
    ON a.cohort = t.cohort AND a.number = coalesce(r.attempt, h.attempts)
WHERE s.removed_at IS NULL;

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
          SELECT DISTINCT CASE g.metric_id WHEN 1 THEN r.validation_loss
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
    count(DISTINCT p.value) AS n,
    count(*) AS planned,
    sum(p.state = 'diverged') AS diverged,
    sum(p.state = 'failed') AS failed,
    total(p.value = 'nan') AS nans,
    total(p.value IN (9e999, -9e999)) AS infinities,
    avg(DISTINCT p.value) AS mean, min(p.value) AS min, max(p.value) AS max
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
      LEFT JOIN result r ON r.trial = t.id
    WHERE s.removed_at IS NULL) p
  GROUP BY p.sweep, p.cell_id, p.metric_id, p.cell, p.depth, p.dataset,
    p.method, p.metric, p.split, p.unit) g;

CREATE VIEW curves AS
SELECT s.text AS sweep, c.text AS cell, t.text AS trial, t.seed,
  m.name AS metric, p.step, p.value
FROM points p
  JOIN metric m ON m.id = p.metric
  JOIN trial t ON t.id = p.trial
  JOIN cell c ON c.id = t.cell
  JOIN sweep s ON s.id = t.sweep
WHERE s.removed_at IS NULL;

CREATE VIEW settings AS
SELECT c.text AS cell, j.key, j.value
FROM sweep s JOIN cell c ON c.sweep = s.id JOIN json_each(c.settings_json) j
WHERE s.removed_at IS NULL;
)sql";

}  // namespace leadline::storage::sqlite
