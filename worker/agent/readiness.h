// Whether an agent could serve on this machine as its settings say: asked
// before it starts, and by --print-config.

#pragma once

#include <absl/status/statusor.h>

#include "worker/agent/config.h"
#include "worker/agent/offer.h"
#include "worker/agent/session.h"

namespace leadline::agent {

/// How it dials.
SessionOptions ToSessionOptions(const Config& config);

/// What it offers; nothing where it is not to serve. Looks and changes nothing.
/// InvalidArgument, saying what to do, if a trainer, a file or a device that is
/// named cannot be used; FailedPrecondition (state_unusable) if the state
/// folder lies where none can, or is another user's and root would write there.
absl::StatusOr<Offer> CheckReady(const Config& config);

}  // namespace leadline::agent
