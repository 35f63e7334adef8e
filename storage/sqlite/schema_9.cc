// How far a trial's numbers repeat, as its trainer measured before the result.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

// Of results from before nothing is known.
const char kStepTo9[] = R"sql(
ALTER TABLE result ADD COLUMN determinism TEXT NOT NULL DEFAULT 'unknown';

DROP VIEW trial_results;
CREATE VIEW trial_results AS
SELECT s.text AS sweep, c.text AS cell, t.text AS trial, t.seed,
  c.depth, c.dataset_label AS dataset, c.method_label AS method, t.state,
  m.name AS metric, m.split, coalesce(r.unit, c.unit) AS unit,
  CASE m.id WHEN 1 THEN r.validation_loss WHEN 2 THEN r.test_loss
    ELSE r.best_validation_loss END AS value,
  CASE m.id WHEN 3 THEN r.best_step ELSE r.steps END AS step,
  r.steps, r.tokens, r.seconds, h.attempts, a.numerics, a.device,
  r.determinism
FROM sweep s
  JOIN cell c ON c.sweep = s.id
  JOIN trial t ON t.cell = c.id
  JOIN cohort h ON h.id = t.cohort
  JOIN result_metric m
  LEFT JOIN result r ON r.trial = t.id
  LEFT JOIN attempt a
    ON a.cohort = t.cohort AND a.number = coalesce(r.attempt, h.attempts)
WHERE s.removed_at IS NULL;
)sql";

}  // namespace leadline::storage::sqlite
