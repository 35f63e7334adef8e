// Attempts that are asked to stop, and a way to those that failed in one way.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

const char kStepTo4[] = R"sql(
ALTER TABLE attempt ADD COLUMN stop_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX attempt_by_kind ON attempt (kind) WHERE kind IS NOT NULL;
)sql";

}  // namespace leadline::storage::sqlite
