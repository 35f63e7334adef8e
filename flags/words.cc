#include "flags/words.h"

#include <algorithm>
#include <utility>

#include "common/nearest_name.h"

namespace leadline::flags {
namespace {

constexpr char kMayBeEmpty[] = "TEXT";  // an argument of that name

/// The command that was given, else the program.
const CLI::App& Given(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::string NameOf(const CLI::Option& option) {
  if (!option.get_positional()) return option.get_name();
  const std::string name = ArgumentName(option);
  return name.substr(0, name.find("..."));
}

std::string NearestOption(const CLI::App& app, std::string_view typed) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  typed.remove_prefix(std::min(typed.find_first_not_of('-'), typed.size()));
  return DidYouMean(typed, names, "--");
}

std::string WhatIsMissing(const CLI::App& app, const std::string& otherwise) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) {
      return NameOf(*option) + " is required";
    }
  }
  return otherwise;
}

/// Of the program or one of its commands.
bool TakesValue(const CLI::App& app, const std::string& name) {
  const CLI::Option* option =
      name.starts_with("--") ? app.get_option_no_throw(name) : nullptr;
  if (option != nullptr && option->get_expected_min() > 0) return true;
  const auto commands =
      app.get_subcommands([](const CLI::App*) { return true; });
  return std::ranges::any_of(commands, [&](const CLI::App* command) {
    return TakesValue(*command, name);
  });
}

/// The option whose name an error of the parser begins with, and what follows.
struct Named {
  const CLI::Option* option = nullptr;
  std::string rest;
};

Named Find(const CLI::App& app, const std::string& what) {
  const size_t colon = what.find(": ");
  if (colon == std::string::npos) return {};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == what.substr(0, colon)) {
      return {option, what.substr(colon + 2)};
    }
  }
  return {};
}

std::string Replaced(std::string text, std::string_view from,
                     std::string_view to, std::string_view end) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return text;
  return text.replace(at, from.size(), to).append(end);
}

}  // namespace

std::string ArgumentName(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  return text.empty() ? option.get_name(true) : text;
}

std::string StrayArgument(const CLI::App& app) {
  // CLI11 lists all that is left after an unknown option, values that were in
  // their place included, and backwards.
  const std::vector<std::string> left = app.remaining(true);
  const auto option =
      std::find_if(left.begin(), left.end(), [](const std::string& argument) {
        return argument.size() > 1 && argument.starts_with('-');
      });
  if (option != left.end()) {
    const std::string name = option->substr(0, option->find('='));
    return "there is no option " + name + NearestOption(Given(app), name);
  }
  return left.empty() ? "" : "unexpected argument '" + left.front() + "'";
}

std::string EmptyValue(const CLI::App& app) {
  for (const CLI::App* one : {&app, &Given(app)}) {
    for (const CLI::Option* option : one->get_options()) {
      const auto& values = option->results();
      const bool may_be = option->get_expected_min() == 0 ||
                          (option->get_positional() &&
                           option->get_option_text() == kMayBeEmpty);
      if (may_be) continue;
      if (std::find(values.begin(), values.end(), "") != values.end()) {
        return NameOf(*option) + " is empty";
      }
    }
  }
  return "";
}

std::vector<std::string> WordsFromTheBack(const CLI::App& app, int argc,
                                          const char* const* argv) {
  std::vector<std::string> words;
  bool has_options = true;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    has_options = has_options && word != "--";
    if (has_options && word.ends_with('=') &&
        TakesValue(app, word.substr(0, word.size() - 1))) {
      word.pop_back();
      words.push_back(std::move(word));
      words.emplace_back();
    } else {
      words.push_back(std::move(word));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  std::string stray = StrayArgument(app);
  if (!stray.empty()) return stray;
  const CLI::App& given = Given(app);
  std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return WhatIsMissing(given, what);
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    return Replaced(what, " excludes ", " and ", " exclude each other");
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    return Replaced(what, " requires ", " needs ", "");
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return Replaced(Replaced(what, "Could not convert: ", "", ""), " = ",
                    ": cannot read '", "'");
  }
  const Named named = Find(given, what);
  if (named.option == nullptr) return what;
  const std::string name = NameOf(*named.option);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return name + (named.rest.find("received") == std::string::npos
                       ? " needs a value"
                       : " is given more than once");
  }
  return name + ": " + named.rest;
}

}  // namespace leadline::flags
