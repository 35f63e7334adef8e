#include "coordinator/spec_reader/yaml_tree.h"

#include <gmock/gmock.h>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::spec_reader {
namespace {

using sweep::Position;

std::vector<std::string> Faults(std::string_view text) {
  std::vector<std::string> faults;
  for (const sweep::Problem& problem : ReadYaml(text).problems) {
    faults.push_back(ToText(problem, "f"));
  }
  return faults;
}

TEST(ReadYaml, KeepsPlacesInCodePoints) {
  const Tree tree = ReadYaml("a: 1\nbö: [☃☃, 2, \"drei\", 'vier']\n");
  ASSERT_TRUE(tree.is_readable);
  ASSERT_EQ(tree.root.entries.size(), 2u);
  EXPECT_EQ(tree.root.entries[0].at, (Position{1, 1}));
  EXPECT_EQ(tree.root.entries[0].value.at, (Position{1, 4}));
  EXPECT_EQ(tree.root.entries[1].at, (Position{2, 1}));
  const Node& list = tree.root.entries[1].value;
  ASSERT_EQ(list.items.size(), 4u);
  EXPECT_EQ(list.at, (Position{2, 5}));
  EXPECT_EQ(list.items[0].text, "☃☃");
  EXPECT_EQ(list.items[1].at, (Position{2, 10}));
  EXPECT_EQ(list.items[2].at, (Position{2, 13})) << "at the quote";
  EXPECT_EQ(list.items[3].at, (Position{2, 21}));
  EXPECT_FALSE(list.items[2].is_plain);
  EXPECT_FALSE(list.items[3].is_plain);
  EXPECT_TRUE(list.items[1].is_plain);
}

TEST(ReadYaml, ReadsTheSameFromEveryStyle) {
  const std::vector<const char*> forms = {
      "a:\n  b: [1, 2]\n",
      "a:\r\n  b:\r\n    - 1\r\n    - 2\r\n",
      "{\"a\": {\"b\": [1, 2]}}",
      "---\na: {b: [1, 2]}\n...\n",
      "\xef\xbb\xbf"
      "a: {b: [1, 2]}",
      "# first\na:   # second\n  'b': [ 1,2 ]"};
  for (const char* text : forms) {
    const Tree tree = ReadYaml(text);
    EXPECT_TRUE(tree.problems.empty()) << text;
    ASSERT_EQ(tree.root.entries.size(), 1u) << text;
    const Node& inner = tree.root.entries[0].value;
    ASSERT_EQ(inner.entries.size(), 1u) << text;
    EXPECT_EQ(inner.entries[0].key, "b") << text;
    ASSERT_EQ(inner.entries[0].value.items.size(), 2u) << text;
    EXPECT_EQ(inner.entries[0].value.items[1].text, "2") << text;
  }
}

TEST(ReadYaml, ReportsAllThatIsNotAllowed) {
  EXPECT_THAT(Faults("a: &x 1\nb: *x\nc: !!int 2\na: 3\n? [k]\n: 4\n"),
              testing::SizeIs(5));
}

TEST(ReadYaml, ReportsASyntaxErrorAlone) {
  for (const char* text :
       {"a: &x 1\nb: [1, 2\n", "a: 'b\n", "a: \"\\q\"", "a: b: c", "a: ]",
        "\ta: 1\n", "a: @b", "a: `b`", "%YAML 3.0\na: 1", "a: 1\n b: 2"}) {
    const Tree tree = ReadYaml(text);
    EXPECT_FALSE(tree.is_readable) << text;
    EXPECT_EQ(tree.problems.size(), 1u) << text;
    EXPECT_GT(tree.problems[0].at.line, 0) << text;
  }
}

TEST(ReadYaml, StopsWhereTheNestingIsTooDeep) {
  for (const char* open : {"[", "{a: ", "- "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += open;
    const Tree tree = ReadYaml(text);
    EXPECT_FALSE(tree.is_readable) << open;
    EXPECT_EQ(tree.problems.size(), 1u) << open;
  }
}

TEST(ReadYaml, SaysThatNothingIsThere) {
  EXPECT_THAT(Faults(""), testing::ElementsAre("f:1:1: the file is empty"));
  EXPECT_THAT(Faults("# only a comment\n"), testing::SizeIs(1));
  EXPECT_THAT(Faults("---\n"), testing::SizeIs(testing::Le(1)));
}

TEST(ReadYaml, ReadsManyKeysQuickly) {
  std::string text;
  for (int i = 0; i < 80'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(ReadYaml(text).root.entries.size(), 80'000u);
}

}  // namespace
}  // namespace leadline::spec_reader
