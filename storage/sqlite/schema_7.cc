// The processes of attempts: where each rank runs, on what, under which process
// id.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

// Attempts from before had one rank; its process id was not kept.
const char kStepTo7[] = R"sql(
CREATE TABLE attempt_rank (
  cohort INTEGER NOT NULL,
  number INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  node TEXT NOT NULL,
  devices TEXT NOT NULL,
  pid INTEGER NOT NULL,
  PRIMARY KEY (cohort, number, rank),
  FOREIGN KEY (cohort, number) REFERENCES attempt (cohort, number)
) WITHOUT ROWID;
INSERT INTO attempt_rank
  SELECT cohort, number, 0, node, devices, 0 FROM attempt;

CREATE VIEW attempt_ranks AS
SELECT t.text AS trial, h.text AS cohort, t.text || '@' || r.number AS attempt,
  r.rank, r.node,
  (SELECT group_concat(d.value, '+') FROM json_each(r.devices) d) AS device,
  nullif(r.pid, 0) AS pid
FROM attempt_rank r
  JOIN cohort h ON h.id = r.cohort
  JOIN trial t ON t.cohort = r.cohort;
)sql";

}  // namespace leadline::storage::sqlite
