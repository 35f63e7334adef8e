#include "coordinator/access/rates.h"

#include <algorithm>

namespace leadline::access {

bool Rates::Take(const std::string& caller, Time now) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = buckets_.try_emplace(caller);
  Bucket& bucket = found->second;
  if (is_new) {
    bucket = {at_once_, now};
  } else {
    const double seconds =
        std::chrono::duration<double>(now - bucket.at).count();
    bucket.left =
        std::min(at_once_, bucket.left + std::max(seconds, 0.0) * a_second_);
    bucket.at = now;
  }
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

}  // namespace leadline::access
