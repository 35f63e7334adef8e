#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

// Losses equal to the last bit count once, as analysis::Summarise has it.
const char kStepTo2[] = R"sql(
DROP VIEW cell_results;

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
      LEFT JOIN result r ON r.trial = t.id) p
  GROUP BY p.sweep, p.cell_id, p.metric_id, p.cell, p.depth, p.dataset,
    p.method, p.metric, p.split, p.unit) g;
)sql";

}  // namespace leadline::storage::sqlite
