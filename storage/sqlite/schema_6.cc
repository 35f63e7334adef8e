// What people say of sweeps (notes, tags, the archive), and sweeps and
// measurements that are removed: out of sight at once, row by row later.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

// `thinned`: retention has been over an archived sweep.
const char kStepTo6[] = R"sql(
ALTER TABLE sweep ADD COLUMN archived_at INTEGER;
ALTER TABLE sweep ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE sweep ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sweep ADD COLUMN removed_at INTEGER;
ALTER TABLE sweep ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sweep_removed ON sweep (id) WHERE removed_at IS NOT NULL;

CREATE TABLE dropped_trial (
  trial INTEGER PRIMARY KEY REFERENCES trial (id)
);

CREATE TABLE retired_sweep (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  trials INTEGER NOT NULL,
  removed_at INTEGER NOT NULL
);

CREATE INDEX answer_by_age ON answer (at);

DROP VIEW sweeps;
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
FROM sweep s WHERE s.removed_at IS NULL;

CREATE VIEW sweep_notes AS
SELECT text AS sweep,
  strftime('%Y-%m-%dT%H:%M:%SZ', archived_at / 1000000, 'unixepoch')
    AS archived_at,
  note, tags
FROM sweep WHERE removed_at IS NULL;

CREATE VIEW removed_sweeps AS
SELECT 's' || id AS sweep, name, trials,
  strftime('%Y-%m-%dT%H:%M:%SZ', removed_at / 1000000, 'unixepoch')
    AS removed_at
FROM retired_sweep;
)sql";

}  // namespace leadline::storage::sqlite
