// Points of a grid that no box takes out: counted without visiting them, and
// visited without counting through those taken out.

#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "coordinator/sweep/grid.h"

namespace leadline::sweep {

/// The points of one box `within` a grid that lie in none of the boxes
/// `excluded`, of which there are at most kMostBoxes.
class KeptPoints {
 public:
  static constexpr size_t kMostBoxes = 256;

  KeptPoints(const std::vector<Dimension>& dimensions,
             const std::vector<Box>& excluded, const Box& within);

  /// Null if the boxes overlap in too many ways to count in reasonable time.
  std::optional<int64_t> Count();

  /// Visits them in order, the last dimension fastest, until `visit` returns
  /// false. Call after a Count that succeeded.
  void ForEach(const std::function<bool(const Point&)>& visit);

 private:
  using Boxes = std::bitset<kMostBoxes>;

  /// Kept points of the dimensions from `d` on, where the indices chosen before
  /// lie in the boxes `alive` and in no other.
  int64_t CountFrom(size_t d, const Boxes& alive);
  bool VisitFrom(size_t d, const Boxes& alive, Point& point,
                 const std::function<bool(const Point&)>& visit);

  bool is_empty_ = false;
  std::vector<std::vector<int64_t>> indices_;  // that `within` takes
  std::vector<std::vector<Boxes>> boxes_;      // by dimension and index
  std::vector<Boxes> whole_from_;  // boxes that take all from a dimension on
  std::vector<int64_t> points_from_;
  std::vector<std::unordered_map<Boxes, int64_t>> known_;
  Boxes all_;
  int64_t work_left_;
};

}  // namespace leadline::sweep
