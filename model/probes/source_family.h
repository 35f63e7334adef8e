// Families of sources that the causal check leaves out of all routers.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/probes/figures.h"
#include "model/router/observer.h"
#include "model/router/source_name.h"

namespace leadline::model {

/// Figures `causal.<name>` have one element for each `index` from 0 on.
struct SourceFamily {
  std::string name;   // embedding, details, phase, split, partial, null, block
  int64_t index = 0;  // of `block`
  /// Of `block`: numbers of the updates or finished blocks in it.
  int64_t begin = 0;
  int64_t end = 0;

  bool Holds(const SourceName& source) const;
};

/// Those that the routers of a map can do without, in a fixed order. A family
/// `block` is a finished block with its details, or an update (or state); from
/// more than twelve of them on, equally many neighbours form one.
std::vector<SourceFamily> FamiliesOf(const std::vector<RouterRow>& map);

/// Leaves a family out of every router.
class WithoutFamily final : public RouterObserver {
 public:
  explicit WithoutFamily(SourceFamily family) : family_(std::move(family)) {}

  bool Keeps(int64_t, std::string_view label) const override {
    return !family_.Holds(ReadSourceName(label));
  }

 private:
  SourceFamily family_;
};

}  // namespace leadline::model
