// A stream of a list that is read page by page: the next page is read when the
// last one has been taken, so that neither side holds the whole.

#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "coordinator/rpc/background.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/stream.h"

namespace leadline::rpc {

/// Make it with MakeStream, then Begin once.
template <typename Message>
class PagedStream final
    : public ServerStream<Message>,
      public std::enable_shared_from_this<PagedStream<Message>> {
 public:
  /// The next page; empty after the last. Called in the background, one call
  /// at a time.
  using NextPage = std::function<absl::StatusOr<std::vector<Message>>()>;

  PagedStream(Background& background, NextPage next)
      : background_(background), next_(std::move(next)) {}

  void Begin() { ReadPage(); }

 private:
  void Drained() final { ReadPage(); }

  void ReadPage() {
    background_.Post([self = this->shared_from_this()](
                         const std::stop_token& stop) { self->Answer(stop); });
  }

  void Answer(const std::stop_token& stop) {
    if (stop.stop_requested()) return this->Close(Stopping());
    absl::StatusOr<std::vector<Message>> page = next_();
    if (!page.ok()) return this->Close(ToGrpc(page.status()));
    if (page->empty()) return this->Close(grpc::Status::OK);
    this->SendAll(*std::move(page));
  }

  Background& background_;
  const NextPage next_;
};

}  // namespace leadline::rpc
