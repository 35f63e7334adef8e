// A point is the same trial whatever door it came in by, and a setting the same
// value wherever it is read again: sweep file, plan, record, order to an agent.

#include <bit>
#include <cstdint>
#include <future>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"
#include "model/spec/identity.h"

namespace leadline {
namespace {

std::vector<storage::CellRecord> CellsOf(CoordinatorWorld& world,
                                         int64_t sweep) {
  const auto rows =
      *world.reader().ListCells(SweepId{sweep}, "validation_loss", 0, 1000);
  std::vector<storage::CellRecord> cells;
  for (const storage::CellValues& row : rows) {
    cells.push_back(row.cell);
  }
  return cells;
}

spec::Settings FromOrder(const v1::StartAttempt& order) {
  spec::GivenSettings values;
  for (const auto& [key, value] : order.settings()) {
    switch (value.value_case()) {
      case v1::SettingValue::kInteger:
        values[key] = int64_t{value.integer()};
        break;
      case v1::SettingValue::kNumber:
        values[key] = value.number();
        break;
      default:
        values[key] = value.word();
    }
  }
  return spec::Settings(std::move(values));
}

TEST(SameTrial, OnePointByHandIsTheCellOfTheGridThatHoldsIt) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  const auto submit = [&](const std::string& text, const std::string& id) {
    const grpc::Status status = world.Submit(world.Request(text, id), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
  };
  submit(
      "leadline: 1\nname: by hand\nseeds: [1]\nsettings: {steps: 10, lr: 1E-03,"
      " n_heads: 2, d_model: 32, method: {name: wav, rho: 2.0}, depth: 4,"
      " dataset: iid27}\n",
      "hand");
  submit(
      "leadline: 1\nname: grid\nseeds: 3\naxes:\n  dataset: [iid27]\n"
      "  rho: [2, 4]\n  lr: [.001, 2e-3]\n  depth: [4, 8]\n  method: [wav]\n"
      "settings: {d_model: 32, n_heads: 2, steps: 10}\n",
      "grid");
  submit(
      "{\"axes\": {\"depth\": [8, 4], \"rho\": [4.0, 2e0]}, \"settings\": "
      "{\"method\": \"wav\", \"steps\": 10, \"dataset\": \"iid27\", \"lr\": "
      "0.001, \"d_model\": 32, \"n_heads\": 2}, \"seeds\": 1, \"name\": "
      "\"json\", \"leadline\": 1}",
      "json");
  const std::string by_hand = CellsOf(world, 1).at(0).hash;
  for (const int64_t sweep : {2, 3}) {
    std::set<std::string> hashes;
    for (const auto& cell : CellsOf(world, sweep)) hashes.insert(cell.hash);
    EXPECT_THAT(hashes, testing::Contains(by_hand)) << sweep;
    EXPECT_EQ(hashes.size(), sweep == 2 ? 8u : 4u);
  }
}

TEST(SameTrial, ValuesArriveAtTheTrainerAsTheFileMeantThem) {
  CoordinatorWorld world;
  std::promise<v1::StartAttempt> given;
  FakeAgent agent(
      world.Channel(), RegisterMessage("n", 1),
      [&](FakeAgent::Stream&, const v1::CoordinatorMessage& message) {
        if (message.has_start()) given.set_value(message.start());
      });
  v1::SubmitReply reply;
  const grpc::Status status = world.Submit(
      world.Request("leadline: 1\nname: odd\nseeds: [9007199254740993]\n"
                    "settings: {depth: 4, dataset: iid27, d_model: 32, "
                    "n_heads: 2, data_seed: 9007199254740993, lr: 7, "
                    "lr_min: 0, dropout: -0.0, weight_decay: 1e-45, "
                    "method: {name: wav, rho: 4.0, detail_bias: -0.0}}\n"),
      &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const v1::StartAttempt order = given.get_future().get();
  const storage::CellRecord cell = CellsOf(world, 1).at(0);
  const spec::Settings arrived = FromOrder(order);
  EXPECT_EQ(spec::SettingsJson(arrived), cell.settings_json);
  EXPECT_EQ(arrived, std::get<spec::Settings>(
                         spec::ReadSettingsJson(cell.settings_json)));
  const spec::Dataset data{.name = cell.dataset.name,
                           .path = "",
                           .content_hash = cell.dataset.content_hash,
                           .tokenizer = cell.dataset.tokenizer,
                           .split = cell.dataset.split};
  EXPECT_EQ(spec::CellHash(arrived, data), cell.hash);
  EXPECT_EQ(order.seeds(0), 9007199254740993);
  EXPECT_EQ(arrived.Integer("data_seed"), 9007199254740993);
  EXPECT_EQ(arrived.Number("rho"), 4.0);
  EXPECT_EQ(arrived.Number("lr"), 7.0) << "a number, though it had no point";
  EXPECT_EQ(arrived.Number("weight_decay"), 1e-45);
  EXPECT_EQ(std::bit_cast<uint64_t>(arrived.Number("detail_bias")),
            std::bit_cast<uint64_t>(-0.0));
}

TEST(SameTrial, TrueIsNotOne) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  std::string text(kSmallSweep);
  text.replace(text.find("steps: 10"), 9, "steps: true");
  EXPECT_EQ(world.Submit(world.Request(text), &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace leadline
