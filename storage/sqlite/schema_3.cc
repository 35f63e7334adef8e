// What the policy of failures decides by. Until now all failures of a cohort
// counted as one row.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

const char kStepTo3[] = R"sql(
ALTER TABLE sweep ADD COLUMN failure_row_limit INTEGER;
ALTER TABLE sweep ADD COLUMN on_failures TEXT NOT NULL DEFAULT 'stop';
ALTER TABLE sweep ADD COLUMN failures_in_row INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sweep ADD COLUMN stopped_because TEXT NOT NULL DEFAULT '';

ALTER TABLE cohort ADD COLUMN failures_in_row INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cohort ADD COLUMN furthest_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cohort ADD COLUMN spared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cohort ADD COLUMN free_restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cohort ADD COLUMN memory_tried INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cohort ADD COLUMN waits_after TEXT;
ALTER TABLE cohort ADD COLUMN failed_nodes TEXT NOT NULL DEFAULT '[]';
UPDATE cohort SET failures_in_row = failures;

ALTER TABLE attempt ADD COLUMN step INTEGER NOT NULL DEFAULT 0;

CREATE TABLE node (
  name TEXT PRIMARY KEY,
  failures TEXT NOT NULL,
  quarantined INTEGER NOT NULL,
  reason TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  canary TEXT,
  failed_canaries INTEGER NOT NULL,
  undecided INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace leadline::storage::sqlite
