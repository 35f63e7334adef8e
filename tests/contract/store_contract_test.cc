#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

storage::StorePair OpenSqlite(const std::filesystem::path& folder) {
  auto pair = storage::OpenSqliteStore(folder / "leadline.db");
  EXPECT_TRUE(pair.ok()) << pair.status();
  return pair.ok() ? *std::move(pair) : storage::StorePair();
}

storage::StorePair OpenMemory(const std::filesystem::path& folder) {
  static_cast<void>(folder);
  return storage::MakeMemoryStore();
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    ::testing::Values(StoreKind{"Memory", OpenMemory, false},
                      StoreKind{"Sqlite", OpenSqlite, true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace leadline
