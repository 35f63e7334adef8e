#include <clocale>

#include "cli/interrupts.h"
#include "cli/program.h"
#include "proto/grpc_log.h"

int main(int argc, char** argv) {
  // Character set alone: numbers keep their point in every language.
  std::setlocale(LC_CTYPE, "");
  leadline::SilenceGrpc();
  leadline::cli::Interrupts interrupts;
  return leadline::cli::Run(argc, argv, interrupts);
}
