// A record as people are told of it.

#pragma once

#include <string>

#include "leadline/v1/worker_service.pb.h"

namespace leadline::agent {

/// "step 120", "the evaluation at step 100".
std::string InWords(const v1::TrainerRecord& record);

}  // namespace leadline::agent
