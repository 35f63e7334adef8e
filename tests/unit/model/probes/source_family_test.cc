#include "model/probes/source_family.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOf(const std::vector<SourceFamily>& families) {
  std::vector<std::string> names;
  for (const SourceFamily& family : families) {
    names.push_back(family.name + (family.name == "block"
                                       ? std::to_string(family.index)
                                       : std::string()));
  }
  return names;
}

RouterRow Row(std::vector<std::string> sources) {
  RouterRow row{std::move(sources), {}};
  row.weights.assign(row.sources.size(), 0);
  return row;
}

TEST(SourceFamilies, AreThoseARouterCouldDoWithout) {
  EXPECT_THAT(FamiliesOf({}), IsEmpty());
  EXPECT_THAT(FamiliesOf({Row({"e"})}), IsEmpty());
  EXPECT_THAT(NamesOf(FamiliesOf(
                  {Row({"e"}), Row({"e", "P"}), Row({"e", "C0", "C1"})})),
              ElementsAre("embedding", "partial", "block0", "block1"));
  EXPECT_THAT(NamesOf(FamiliesOf(
                  {Row({"e", "C0", "Dphi0", "Dsig0", "P", "Pphi", "Psig"})})),
              ElementsAre("embedding", "details", "phase", "split", "partial",
                          "block0"));
  EXPECT_THAT(NamesOf(FamiliesOf({Row({"null", "e", "u0", "u1"})})),
              ElementsAre("embedding", "null", "block0", "block1"));
}

TEST(SourceFamilies, ABlockGoesWithItsDetailsAndThePartialWithIts) {
  const auto families = FamiliesOf(
      {Row({"e", "C0", "Dphi0", "Dsig0", "C1", "Dphi1", "P", "Pphi"})});
  std::map<std::string, std::string> got;
  for (const SourceFamily& family : families) {
    const WithoutFamily without(family);
    std::string left_out;
    for (const char* label :
         {"e", "C0", "Dphi0", "Dsig0", "C1", "Dphi1", "P", "Pphi"}) {
      if (!without.Keeps(3, label)) left_out += std::string(" ") + label;
    }
    const std::string key =
        family.name +
        (family.name == "block" ? std::to_string(family.index) : std::string());
    got[key] = left_out;
  }
  EXPECT_EQ(got, (std::map<std::string, std::string>{
                     {"embedding", " e"},
                     {"details", " Dphi0 Dsig0 Dphi1 Pphi"},
                     {"phase", " Dphi0 Dphi1 Pphi"},
                     {"split", " Dsig0"},
                     {"partial", " P Pphi"},
                     {"block0", " C0 Dphi0 Dsig0"},
                     {"block1", " C1 Dphi1"}}));
}

TEST(SourceFamilies, ManyUpdatesFormTwelveBandsAtMost) {
  std::vector<std::string> sources = {"e"};
  for (int u = 0; u < 97; ++u) sources.push_back("u" + std::to_string(u));
  const auto families = FamiliesOf({Row(sources)});
  ASSERT_EQ(families.size(), 12U);  // embedding and eleven bands of nine
  EXPECT_EQ(families[1].begin, 0);
  EXPECT_EQ(families[1].end, 9);
  EXPECT_EQ(families.back().begin, 90);
  EXPECT_EQ(families.back().end, 97);
  EXPECT_EQ(families.back().index, 10);
}

}  // namespace
}  // namespace leadline::model
