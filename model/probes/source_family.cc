#include "model/probes/source_family.h"

#include <algorithm>
#include <array>
#include <set>

namespace leadline::model {
namespace {

constexpr int64_t kMostBlocks = 12;

constexpr std::array kNames = {"embedding", "details", "phase",
                               "split",     "partial", "null"};

bool IsNumbered(const SourceName& source) { return source.index >= 0; }

}  // namespace

bool SourceFamily::Holds(const SourceName& source) const {
  if (name == "embedding") return source.kind == SourceKind::kEmbedding;
  if (name == "details") return source.detail();
  if (name == "phase") return source.kind == SourceKind::kPhaseDetail;
  if (name == "split") return source.kind == SourceKind::kSplitDetail;
  if (name == "partial") return source.running();
  if (name == "null") return source.kind == SourceKind::kNull;
  return IsNumbered(source) && source.index >= begin && source.index < end;
}

std::vector<SourceFamily> FamiliesOf(const std::vector<RouterRow>& map) {
  std::vector<SourceName> sources;
  int64_t blocks = 0;
  for (const RouterRow& row : map) {
    // A router with one source keeps it.
    if (row.sources.size() < 2) continue;
    for (const std::string& label : row.sources) {
      sources.push_back(ReadSourceName(label));
      blocks = std::max(blocks, sources.back().index + 1);
    }
  }
  std::vector<SourceFamily> families;
  for (const char* name : kNames) {
    SourceFamily family{.name = name};
    const bool there = std::ranges::any_of(
        sources, [&](const SourceName& s) { return family.Holds(s); });
    if (there) families.push_back(family);
  }
  const int64_t together = (blocks + kMostBlocks - 1) / kMostBlocks;
  for (int64_t begin = 0, index = 0; begin < blocks; begin += together) {
    families.push_back({.name = "block",
                        .index = index++,
                        .begin = begin,
                        .end = std::min(blocks, begin + together)});
  }
  return families;
}

}  // namespace leadline::model
