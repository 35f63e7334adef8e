#include "worker/collective/ring/ring.h"

#include <utility>

#include "worker/collective/ring/ring_engine.h"

namespace leadline::collective {

Ring::Ring(std::unique_ptr<Mesh> mesh, const RingOptions& options)
    : engine_(std::make_unique<Engine>(std::move(mesh), options)) {}

Ring::~Ring() = default;

uint64_t Ring::Start(Order order) { return engine_->Start(std::move(order)); }

void Ring::Wait(uint64_t number) { engine_->Wait(number); }

void Ring::Abort(const std::string& reason) { engine_->Abort(reason); }

Ring::Outlook Ring::Look() const { return engine_->Look(); }

}  // namespace leadline::collective
