#include "coordinator/rpc/file_weighing.h"

#include <future>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::rpc {
namespace {

using control::SessionId;
using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::HasSubstr;

constexpr std::chrono::minutes kLong{10};

class FileWeighingTest : public ::testing::Test {
 protected:
  std::shared_ptr<FileWeighing> Ask(std::map<SessionId, std::string> nodes,
                                    std::chrono::milliseconds patience = kLong,
                                    std::vector<NodeKept> known = {}) {
    auto weighing = std::make_shared<FileWeighing>(
        std::move(nodes), std::move(known),
        [this](const auto& kept) { answer_.set_value(kept); });
    weighing->Start(patience);
    return weighing;
  }
  bool IsAnswered() {
    return said_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  std::promise<std::vector<NodeKept>> answer_;
  std::future<std::vector<NodeKept>> said_ = answer_.get_future();
};

TEST_F(FileWeighingTest, AllThatWereAskedAnswerInTheOrderOfNames) {
  const auto weighing = Ask({{{1}, "b"}, {{2}, "a"}});
  weighing->Answer({1}, {1, 2, 3});
  EXPECT_FALSE(IsAnswered());
  weighing->Answer({2}, {4, 5, 6});
  EXPECT_THAT(said_.get(), ElementsAre(FieldsAre("a", KeptSize{4, 5, 6}, ""),
                                       FieldsAre("b", KeptSize{1, 2, 3}, "")));
  weighing->Answer({2}, {7, 8, 9});  // is not heard any more
}

TEST_F(FileWeighingTest, WhoWasNotAskedOrSpeaksTwiceIsNotHeard) {
  const auto weighing = Ask({{{1}, "a"}, {{2}, "b"}});
  weighing->Answer({3}, {9, 9, 9});
  weighing->Answer({1}, {1, 1, 1});
  weighing->Answer({1}, {9, 9, 9});
  weighing->Lose({1});
  EXPECT_FALSE(IsAnswered());
  weighing->Answer({2}, {});
  EXPECT_THAT(said_.get(), ElementsAre(FieldsAre("a", KeptSize{1, 1, 1}, ""),
                                       FieldsAre("b", KeptSize{}, "")));
}

TEST_F(FileWeighingTest, OneThatGoesAwayOrIsSilentIsNotWaitedForForEver) {
  const auto weighing =
      Ask({{{1}, "gone"}, {{2}, "mute"}}, std::chrono::milliseconds(20));
  weighing->Lose({1});
  EXPECT_THAT(said_.get(),
              ElementsAre(FieldsAre("gone", KeptSize{}, HasSubstr("went away")),
                          FieldsAre("mute", KeptSize{}, HasSubstr("in time"))));
}

TEST_F(FileWeighingTest, WhereNobodyIsAskedWhatIsKnownIsTheAnswer) {
  Ask({}, kLong, {{"a", {}, "it is not connected"}});
  EXPECT_THAT(said_.get(),
              ElementsAre(FieldsAre("a", KeptSize{}, "it is not connected")));
}

TEST_F(FileWeighingTest, IsGoneOnceNobodyKeepsIt) {
  auto weighing = Ask({{{1}, "a"}});
  const std::weak_ptr<FileWeighing> weak = weighing;
  weighing->Answer({1}, {1, 1, 1});
  said_.wait();
  weighing.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(FileWeighingTest, AnAnswerBeforeItStartedCounts) {
  const auto weighing = std::make_shared<FileWeighing>(
      std::map<SessionId, std::string>{{{1}, "a"}}, std::vector<NodeKept>(),
      [this](const auto& kept) { answer_.set_value(kept); });
  weighing->Answer({1}, {1, 1, 1});
  weighing->Start(kLong);
  EXPECT_THAT(said_.get(), ElementsAre(FieldsAre("a", KeptSize{1, 1, 1}, "")));
}

TEST_F(FileWeighingTest, NumbersBelowNoneAreNone) {
  const auto weighing = Ask({{{1}, "a"}});
  weighing->Answer({1}, {-1, -2, -3});
  EXPECT_THAT(said_.get(), ElementsAre(FieldsAre("a", KeptSize{}, "")));
}

}  // namespace
}  // namespace leadline::rpc
