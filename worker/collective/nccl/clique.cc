#include "worker/collective/nccl/clique.h"

#include <utility>

#include "worker/collective/nccl/watched.h"

namespace leadline::collective::nccl {

Clique::Clique(Ring& ring, std::shared_ptr<const Library> library,
               std::shared_ptr<DeviceQueue> queue, CliqueOptions options)
    : watched_(std::make_shared<Watched>(
          ring, std::move(library), std::move(queue), std::move(options))) {
  watched_->Begin();
}

Clique::~Clique() { watched_->End(); }

void Clique::Join(const UniqueId& id) { watched_->Join(id); }

uint64_t Clique::Start(const Order& order) { return watched_->Start(order); }

void Clique::Wait(uint64_t number) { watched_->Wait(number); }

int Clique::version() const { return watched_->version(); }

void Clique::Abort(const std::string& why) { watched_->Abort(why); }

}  // namespace leadline::collective::nccl
