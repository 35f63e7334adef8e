// golden_check [--float32] FILE...: holds the program against reference
// numbers. A line a file: PASS|FAIL, file, worst forward and gradient error,
// reason. Exit code 1 on any FAIL, 2 if a file cannot be read or none is given.

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "tests/golden/kinds.h"

namespace {

using leadline::golden::GoldenFile;
using leadline::golden::Tally;

/// True if the file passes.
bool CheckFile(const std::string& path, torch::ScalarType type) {
  const GoldenFile file(path);
  Tally tally(leadline::golden::ToleranceOf(file, type));
  try {
    leadline::golden::CheckOf(file.kind())(file, type, tally);
  } catch (const std::exception& error) {
    tally.Fail(error.what());
  }
  const std::string reason = tally.reason();
  std::printf("%s %s %.3e %.3e%s%s\n", tally.passed() ? "PASS" : "FAIL",
              path.c_str(), tally.worst_forward(), tally.worst_gradient(),
              reason.empty() ? "" : "  ",
              reason.substr(0, reason.find('\n')).c_str());
  return tally.passed();
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  std::vector<std::string> files(argv + 1, argv + argc);
  torch::ScalarType type = torch::kFloat64;
  if (!files.empty() && files[0] == "--float32") {
    type = torch::kFloat32;
    files.erase(files.begin());
  }
  if (files.empty()) {
    std::fputs("usage: golden_check [--float32] FILE...\n", stderr);
    return 2;
  }
  bool all_pass = true;
  bool all_read = true;
  for (const std::string& file : files) {
    try {
      all_pass = CheckFile(file, type) && all_pass;
    } catch (const leadline::testing::BadSafetensors& error) {
      std::fprintf(stderr, "golden_check: %s: %s\n", file.c_str(),
                   error.what());
      all_read = false;
    }
  }
  if (!all_read) return 2;
  return all_pass ? 0 : 1;
}
