// write_small FOLDER: a checkpoint for programs that are not ours to read.

#include "tests/unit/worker/checkpoint/small_checkpoint.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  leadline::checkpoint::WriteSmall(argv[1], {0, 1});
  return 0;
}
