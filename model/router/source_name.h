// What the label of a source says.

#pragma once

#include <cstdint>
#include <string_view>

namespace leadline::model {

enum class SourceKind {
  kEmbedding,    // "e"
  kUpdate,       // "u<i>", of sublayer i
  kState,        // "h<i>", the stream before sublayer i
  kBlock,        // "C<b>", a finished block
  kPartial,      // "P", the running block
  kPhaseDetail,  // "Dphi<b>", "Pphi"
  kSplitDetail,  // "Dsig<b>", "Psig"
  kNull,         // "null"
};

struct SourceName {
  SourceKind kind = SourceKind::kEmbedding;
  int64_t index = -1;  // i or b; -1: it has none

  bool detail() const {
    return kind == SourceKind::kPhaseDetail || kind == SourceKind::kSplitDetail;
  }
  /// Of the running block, sum or detail.
  bool running() const {
    return kind == SourceKind::kPartial || (detail() && index < 0);
  }
  /// The sublayer before which the source came to be: what `lookback` counts
  /// from. `sublayer` is the one that reads.
  int64_t Birth(int64_t sublayer, int64_t block_sublayers) const;

  bool operator==(const SourceName&) const = default;
};

/// Throws c10::Error for a label that is none of the above.
SourceName ReadSourceName(std::string_view label);

}  // namespace leadline::model
