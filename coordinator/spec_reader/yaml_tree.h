// YAML text to a tree of scalars, lists and maps, each with its place. Strict:
// one document, no anchors, aliases or tags, no key twice.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/sweep/sweep.h"

namespace leadline::spec_reader {

struct Entry;

struct Node {
  enum class Kind { kScalar, kList, kMap };

  Kind kind = Kind::kScalar;
  sweep::Position at;
  std::string text;      // of a scalar
  bool is_plain = true;  // a scalar without quotes
  std::vector<Node> items;
  std::vector<Entry> entries;

  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
};

/// A key is a scalar, and stands once in its map.
struct Entry {
  std::string key;
  sweep::Position at;
  Node value;
};

struct Tree {
  Node root;
  std::vector<sweep::Problem> problems;
  bool is_readable = false;  // the text parsed: the root is whole
};

/// Reads the only document of `text`, which is UTF-8 of at most kMostBytes. A
/// text that does not parse has one problem.
Tree ReadYaml(std::string_view text);

}  // namespace leadline::spec_reader
