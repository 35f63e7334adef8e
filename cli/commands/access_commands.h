// The commands about who comes in.

#pragma once

#include "cli/command.h"

namespace leadline::cli {

Command TokenCommand();
Command AuditCommand();

}  // namespace leadline::cli
