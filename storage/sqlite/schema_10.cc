// What is done to a sweep in several transactions, to be gone on with.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

// A cell's number, or 0 for all: NULLs would never be found to be the same.
const char kStepTo10[] = R"sql(
CREATE TABLE errand (
  id INTEGER PRIMARY KEY,
  sweep INTEGER NOT NULL REFERENCES sweep (id),
  cell INTEGER NOT NULL,
  kind TEXT NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  UNIQUE (sweep, cell, kind)
);
)sql";

}  // namespace leadline::storage::sqlite
