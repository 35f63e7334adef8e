// Several observers of one pass.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "model/router/observer.h"

namespace leadline::model {

/// Tells each in turn; a source stays where all keep it. Borrows them.
class ObserverList final : public RouterObserver {
 public:
  explicit ObserverList(std::vector<RouterObserver*> observers)
      : observers_(std::move(observers)) {}

  void OnEmbeddings(const torch::Tensor& e_RBTD) override {
    for (RouterObserver* one : observers_) one->OnEmbeddings(e_RBTD);
  }
  bool Keeps(int64_t router, std::string_view label) const override {
    return std::ranges::all_of(observers_, [&](const RouterObserver* one) {
      return one->Keeps(router, label);
    });
  }
  void OnRoute(const RouteRecord& record) override {
    for (RouterObserver* one : observers_) one->OnRoute(record);
  }
  void OnStreams(int64_t sublayer,
                 const torch::Tensor& streams_RBTMD) override {
    for (RouterObserver* one : observers_) {
      one->OnStreams(sublayer, streams_RBTMD);
    }
  }
  void OnSublayer(int64_t sublayer, const torch::Tensor& x_RBTD,
                  const torch::Tensor& u_RBTD) override {
    for (RouterObserver* one : observers_) {
      one->OnSublayer(sublayer, x_RBTD, u_RBTD);
    }
  }

 private:
  std::vector<RouterObserver*> observers_;
};

}  // namespace leadline::model
