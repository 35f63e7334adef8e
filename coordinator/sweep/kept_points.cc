#include "coordinator/sweep/kept_points.h"

namespace leadline::sweep {
namespace {

/// Counting stays below a second and some 20 MB.
constexpr int64_t kMostWork = 10'000'000;
constexpr int64_t kWorkOfAState = 50;

bool Takes(const Box& box, size_t d, int64_t i) {
  return box.belongs[d].empty() || box.belongs[d][static_cast<size_t>(i)];
}

}  // namespace

KeptPoints::KeptPoints(const std::vector<Dimension>& dimensions,
                       const std::vector<Box>& excluded, const Box& within)
    : is_empty_(within.is_empty), work_left_(kMostWork) {
  const size_t count = dimensions.size();
  indices_.resize(count);
  boxes_.resize(count);
  known_.resize(count);
  whole_from_.resize(count + 1);
  points_from_.resize(count + 1, 1);
  for (size_t b = 0; b < excluded.size(); ++b) all_[b] = !excluded[b].is_empty;
  whole_from_[count] = all_;
  for (size_t d = count; d-- > 0;) {
    for (int64_t i = 0; i < dimensions[d].size; ++i) {
      if (!Takes(within, d, i)) continue;
      indices_[d].push_back(i);
      Boxes& takers = boxes_[d].emplace_back();
      for (size_t b = 0; b < excluded.size(); ++b) {
        takers[b] = Takes(excluded[b], d, i);
      }
    }
    whole_from_[d] = whole_from_[d + 1];
    for (const Boxes& takers : boxes_[d]) whole_from_[d] &= takers;
    points_from_[d] =
        points_from_[d + 1] * static_cast<int64_t>(indices_[d].size());
  }
}

std::optional<int64_t> KeptPoints::Count() {
  if (is_empty_) return 0;
  const int64_t kept = CountFrom(0, all_);
  if (work_left_ < 0) return {};
  return kept;
}

int64_t KeptPoints::CountFrom(size_t d, const Boxes& alive) {
  if (alive.none()) return points_from_[d];
  if ((alive & whole_from_[d]).any() || work_left_ < 0) return 0;
  if (const auto found = known_[d].find(alive); found != known_[d].end()) {
    return found->second;
  }
  work_left_ -= kWorkOfAState + static_cast<int64_t>(boxes_[d].size());
  std::unordered_map<Boxes, int64_t> classes;
  for (const Boxes& takers : boxes_[d]) ++classes[alive & takers];
  int64_t kept = 0;
  for (const auto& [still_alive, size] : classes) {
    kept += size * CountFrom(d + 1, still_alive);
  }
  known_[d].emplace(alive, kept);
  return kept;
}

void KeptPoints::ForEach(const std::function<bool(const Point&)>& visit) {
  if (is_empty_) return;
  Point point(indices_.size());
  VisitFrom(0, all_, point, visit);
}

bool KeptPoints::VisitFrom(size_t d, const Boxes& alive, Point& point,
                           const std::function<bool(const Point&)>& visit) {
  if (CountFrom(d, alive) == 0) return true;
  if (d == indices_.size()) return visit(point);
  for (size_t i = 0; i < indices_[d].size(); ++i) {
    point[d] = indices_[d][i];
    if (!VisitFrom(d + 1, alive & boxes_[d][i], point, visit)) return false;
  }
  return true;
}

}  // namespace leadline::sweep
