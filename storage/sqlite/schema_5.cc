// Who may come in, and who did what.

#include "storage/sqlite/schema.h"

namespace leadline::storage::sqlite {

const char kStepTo5[] = R"sql(
CREATE TABLE token (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
);

CREATE TABLE audit_entry (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  call TEXT NOT NULL,
  target TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  count INTEGER NOT NULL
);

CREATE VIEW tokens AS
SELECT 't' || id AS token, name, role,
  strftime('%Y-%m-%dT%H:%M:%SZ', created_at / 1000000, 'unixepoch')
    AS created_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', expires_at / 1000000, 'unixepoch')
    AS expires_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', revoked_at / 1000000, 'unixepoch')
    AS revoked_at
FROM token;

CREATE VIEW audit AS
SELECT id AS entry,
  strftime('%Y-%m-%dT%H:%M:%SZ', at / 1000000, 'unixepoch') AS at,
  who, call, target, outcome, message, count
FROM audit_entry;
)sql";

}  // namespace leadline::storage::sqlite
