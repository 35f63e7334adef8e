// Who may see which page: the same tokens, roles and limits as for calls.

#pragma once

#include "coordinator/access/door.h"
#include "coordinator/http/routes.h"

namespace leadline {

/// A route is the call "GET PATH" of the table of calls. `door` must outlive
/// the gate.
http::Gate MakeGate(access::Door& door, access::Entrance entrance);

}  // namespace leadline
