#include "worker/trainer/documents.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace leadline::trainer {

Documents::Documents(std::vector<int64_t> ends) : ends_(std::move(ends)) {
  if (ends_.empty()) throw std::invalid_argument("a split without symbols");
}

int64_t Documents::EndOf(int64_t at) const {
  return *std::upper_bound(ends_.begin(), ends_.end(), at);
}

int64_t Documents::CountStarts(int64_t context) const {
  // Without the last symbol of each story, which stands at its end less one.
  const int64_t starts = size() - context;
  const auto last = std::upper_bound(ends_.begin(), ends_.end(), starts);
  return starts - (last - ends_.begin());
}

int64_t Documents::Start(int64_t index) const {
  // Start i lies k places further, k the last symbols of stories before it:
  // story j (from 0) is left behind once ends[j] - 1 - j <= index.
  int64_t low = 0;
  auto high = static_cast<int64_t>(ends_.size());
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (ends_[middle] - 1 - middle <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return index + low;
}

int64_t Documents::Scored(int64_t start, int64_t context) const {
  return std::min(context, EndOf(start) - 1 - start);
}

}  // namespace leadline::trainer
