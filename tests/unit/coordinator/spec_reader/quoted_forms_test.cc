// What people, shells and editors make of a value in quotation marks, and what
// they are told: the place, the text as it arrived, what was expected.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::spec_reader {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

/// Every fault of a sweep with that as a list in line 5, behind column 7.
std::vector<std::string> Told(const std::string& key, const std::string& form) {
  const std::string rest = key == "lr" ? "  dataset: [iid27]\n" : "";
  const Reading reading = ReadSweep(
      "leadline: 1\nname: a\nseeds: 2\naxes:\n  " + key + ": [" + form +
          "]\n  method: [prenorm]\n" + rest,
      "/data", [](const std::string& path, const std::string&) {
        return absl::StatusOr<DataFacts>(DataFacts{"hash of " + path, 65});
      });
  std::vector<std::string> told;
  for (const sweep::Problem& problem : reading.problems) {
    told.push_back(ToText(problem, "f"));
  }
  return told;
}

struct Form {
  const char* arrived;
  const char* told;
};

// clang-format off
constexpr Form kNumbers[] = {
    {R"("1e-4")", R"(5:8: lr: found the quoted text "1e-4")"},
    {R"('1e-4')", R"(5:8: lr: found the quoted text "1e-4")"},
    {R"("1e-4)", R"(5:8: found "1e-4]: a text that begins with " does not end with " on this line)"},
    {R"('1e-4)", R"(5:8: found '1e-4]: a text that begins with ' does not end with ' on this line)"},
    {R"(\"1e-4\")", R"(5:8: lr: found \"1e-4\")"},
    {R"('"1e-4"')", R"(5:8: lr: found the quoted text ""1e-4"")"},
    {R"("'1e-4'")", R"(5:8: lr: found the quoted text "'1e-4'")"},
    {R"("1\u00654")", R"(5:8: lr: found the quoted text "1e4")"},
    {R"("1e-4" "2")", R"(5:15: found "2"]: expected a comma or ] before this part of a list)"},
    {R"("1e-4"2)", R"(5:14: found 2]: expected a comma or ] before this part of a list)"},
    {R"(1e-4")", R"(5:8: lr: found 1e-4")"},
    {R"(“1e-4”)", R"(5:8: lr: found “1e-4”)"},
    {R"(`1e-4`)", R"(5:8: found `1e-4`]: a text that begins so must stand in quotation marks)"},
    {R"("[1e-4]")", R"(5:8: lr: found the quoted text "[1e-4]")"},
    {R"('{a: 1}')", R"(5:8: lr: found the quoted text "{a: 1}")"},
    {R"("")", R"(5:8: lr: found the quoted text "")"},
    {R"('')", R"(5:8: lr: found the quoted text "")"},
    {R"("$LR")", R"(5:8: lr: found the quoted text "$LR")"},
    {R"($LR)", R"(5:8: lr: found $LR)"},
    {R"("true")", R"(5:8: lr: found the quoted text "true")"},
    {R"("null")", R"(5:8: lr: found the quoted text "null")"},
    {R"("1,5")", R"(5:8: lr: found the quoted text "1,5")"},
    {R"("1e-4 ")", R"(5:8: lr: found the quoted text "1e-4 ")"},
    {R"("\x31")", R"(5:8: lr: found the quoted text "1")"},
    {R"('it''s')", R"(5:8: lr: found the quoted text "it's")"},
    {R"("a\tb")", R"(5:8: lr: found the quoted text "a b")"},
    {R"("\q")", R"(5:9: found \q"]: invalid escape 'q' in double-quoted string)"},
    {R"("größe)", R"(5:8: found "größe]: a text that begins with " does not end with " on this line)"},
    {R"((1e-4))", R"(5:8: lr: found (1e-4))"},
    {R"(1e-4;)", R"(5:8: lr: found 1e-4;)"},
    {R"("1e-4" # low)", R"(6:3: found method: [prenorm]: a list that began with [ has not ended: is a ] missing before this?)"},
    {R"("1e-4"])", R"(5:15: found ]: flow sequence with invalid extra closing bracket)"},
    {R"("a" : 1)", R"(5:12: lr: found a map)"},
    {R"("1e−4")", R"(5:8: lr: found the quoted text "1e−4")"},
};
// clang-format on

TEST(QuotedForms, OfNumbersAreShownAsTheyArrivedWithTheirPlace) {
  for (const Form& form : kNumbers) {
    EXPECT_THAT(Told("lr", form.arrived),
                ElementsAre(StartsWith(std::string("f:") + form.told)))
        << form.arrived;
  }
}

TEST(QuotedForms, OfStructuresAreJson) {
  for (const char* form :
       {R"({"path": "a.txt", "tokenizer": "byte", "split": [0.9, 0.05, 0.05]})",
        R"({path: 'a.txt', 'tokenizer': byte})", R"("iid27")", R"('iid27')",
        R"({"path": "it's \"here\".txt"})",
        R"({"path": "gr\u00f6\u00dfe.txt"})", R"({"path": 'a''b.txt'})"}) {
    EXPECT_THAT(Told("dataset", form), testing::IsEmpty()) << form;
  }
  EXPECT_THAT(Told("dataset", R"("{\"path\": \"a.txt\"}")"),
              ElementsAre(StartsWith("f:5:13: dataset: found the quoted text "
                                     R"("{"path": "a.txt"}")")));
}

}  // namespace
}  // namespace leadline::spec_reader
