// golden_write FOLDER: writes our own reference numbers anew. Only for a change
// that is meant to alter what models compute; golden_check on the files of a
// second source must still pass.

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/golden/golden_settings.h"
#include "tests/golden/own_model.h"

int main(int argc, char** argv) {
  using namespace leadline;
  if (argc != 2) {
    std::fputs("usage: golden_write FOLDER\n", stderr);
    return 2;
  }
  torch::set_num_threads(1);
  for (const auto& [name, config] : golden::OwnConfigs()) {
    testing::Safetensors content;
    content.metadata = {
        {"kind", "own_model"},
        {"config", config.dump()},
        {"tolerance", R"({"forward": 1e-12, "gradient": 1e-11})"}};
    content.tensors = golden::OwnModelNumbers(golden::SettingsOf(config),
                                              config, torch::kFloat64);
    std::ofstream file(std::filesystem::path(argv[1]) / (name + ".safetensors"),
                       std::ios::binary);
    file << testing::WriteSafetensors(content);
    if (!file.flush()) {
      std::fprintf(stderr, "golden_write: %s cannot be written\n",
                   name.c_str());
      return 1;
    }
  }
  return 0;
}
