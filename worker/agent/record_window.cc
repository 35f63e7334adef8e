#include "worker/agent/record_window.h"

#include <algorithm>

namespace leadline::agent {

void RecordWindow::Send(int64_t last, int64_t bytes) {
  sent_ = std::max(sent_, last);
  in_flight_bytes_ += bytes;
  batches_.push_back({last, bytes});
}

void RecordWindow::Acknowledge(int64_t sequence) {
  if (sequence <= acknowledged_ || sequence > sent_) return;
  acknowledged_ = sequence;
  while (!batches_.empty() && batches_.front().last <= sequence) {
    in_flight_bytes_ -= batches_.front().bytes;
    batches_.pop_front();
  }
}

void RecordWindow::Restart(int64_t acknowledged) {
  sent_ = acknowledged_ = std::max<int64_t>(acknowledged, 0);
  in_flight_bytes_ = 0;
  batches_.clear();
}

}  // namespace leadline::agent
