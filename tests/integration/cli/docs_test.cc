// docs/commands.md is what --help says. LEADLINE_UPDATE_DOCS=1 writes it anew.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "program.h"

namespace leadline::cli_test {
namespace {

constexpr char kPage[] = LEADLINE_SOURCE_DIR "/docs/commands.md";

std::string Help(std::vector<std::string> arguments) {
  arguments.push_back("--help");
  Program program(std::move(arguments), {});
  return program.Wait().out;
}

// The names below "Commands:" of the program's help.
std::vector<std::string> CommandNames(const std::string& help) {
  std::istringstream lines(help.substr(help.find("Commands:\n")));
  std::vector<std::string> names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

std::string Page() {
  const std::string help = Help({});
  std::string page =
      "# Commands\n\n<!-- Written from --help; do not edit. "
      "LEADLINE_UPDATE_DOCS=1 build/tests/cli_integration_test "
      "--gtest_filter=Docs.* writes it anew. -->\n\n```\n" +
      help + "```\n";
  for (const std::string& name : CommandNames(help)) {
    page += "\n## " + name + "\n\n```\n" + Help({name}) + "```\n";
  }
  return page;
}

TEST(Docs, OfTheCommandsAreWhatHelpSays) {
  const std::string page = Page();
  EXPECT_NE(page.find("\n## cancel\n"), std::string::npos);
  if (std::getenv("LEADLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kPage) << page;
  }
  std::ifstream file(kPage);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page);
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The commands that the table of docs/cli.md has rows of: what begins a text in
// backticks of its first column.
std::set<std::string> CommandsOfTheTable() {
  const std::string page = Read(LEADLINE_SOURCE_DIR "/docs/cli.md");
  const size_t begin = page.find("\n## Commands\n");
  std::istringstream lines(
      page.substr(begin, page.find("\n## ", begin + 1) - begin));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream column(line.substr(2, line.find(" |", 2) - 2));
    std::string text;
    while (std::getline(column, text, '`') && std::getline(column, text, '`')) {
      names.insert(text.substr(0, text.find(' ')));
    }
  }
  return names;
}

TEST(Docs, HaveARowOfEveryCommand) {
  const auto names = CommandNames(Help({}));
  EXPECT_EQ(CommandsOfTheTable(),
            std::set<std::string>(names.begin(), names.end()));
}

TEST(Docs, AreAllNamedInTheReadme) {
  const std::string readme = Read(LEADLINE_SOURCE_DIR "/README.md");
  for (const auto& entry :
       std::filesystem::directory_iterator(LEADLINE_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string name = "docs/" + entry.path().filename().string();
    EXPECT_NE(readme.find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace leadline::cli_test
