// What waits for a node that is not there: where its last attempt ran out of
// memory, or did not find its data, and agents that might have had more were
// still to come back.

#pragma once

#include "coordinator/control/step.h"

namespace leadline::control {

/// Fails what is queued and can go to no node any more because of how it has
/// failed. Rests on what is stored and on who is there: a restart of the
/// coordinator only begins the wait for agents anew.
void FailWhatIsHopeless(Step& step);

}  // namespace leadline::control
