// write_series FOLDER STEP: one more checkpoint of a series, as trainers write
// them.

#include <cstdlib>

#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/series.h"

int main(int argc, char** argv) {
  using namespace leadline::checkpoint;
  if (argc != 3) return 2;
  Manifest manifest = SmallManifest({3, 9});
  manifest.step = std::atoll(argv[2]);
  const Series series(argv[1], manifest.cell_hash, manifest.Seeds());
  series.RemoveUnfinished();
  series.Remove(manifest.step);
  WriteSmall(series.FolderOf(manifest.step), manifest);
  series.Prune({.newest = 2, .best = true});
}
