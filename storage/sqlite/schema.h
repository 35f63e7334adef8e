// The schema of the database, version by version. Views are the contract with
// the outside (docs/sql_schema.md), tables are not.

#pragma once

#include <array>
#include <cstdint>

namespace leadline::storage::sqlite {

/// "LEAD", in the header of every database of ours.
inline constexpr int32_t kApplicationId = 0x4C454144;

/// Steps that have a file of their own.
extern const char kStepTo2[];
extern const char kStepTo3[];
extern const char kStepTo4[];
extern const char kStepTo5[];
extern const char kStepTo6[];
extern const char kStepTo7[];
extern const char kStepTo8[];
extern const char kStepTo9[];
extern const char kStepTo10[];

/// SQL that brings a database of version i to version i + 1.
extern const std::array<const char*, 10> kSchemaSteps;

/// The version this program writes.
inline constexpr int32_t kSchemaVersion = 10;

}  // namespace leadline::storage::sqlite
