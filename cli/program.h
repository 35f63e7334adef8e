// The program as a whole: arguments in, exit code out.

#pragma once

namespace leadline::cli {

class Interrupts;

/// Parses the arguments, runs the command, prints its error. Returns the exit
/// code.
int Run(int argc, char** argv, Interrupts& interrupts);

}  // namespace leadline::cli
