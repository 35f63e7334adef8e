// memory_table                            every method at 12 and 48 layers:
//                                         forecast and measured bytes
// memory_table CONFIG.json VOCABULARY     the forecast of one configuration
//
// Prints JSON.

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "model/spec/memory_forecast.h"
#include "model/spec/method_table.h"
#include "tests/support/cell_settings.h"
#include "tests/support/measured_attempt.h"
#include "worker/trainer/trainer_config.h"

namespace leadline {
namespace {

constexpr int64_t kVocabulary = 27;
constexpr int64_t kReplicas = 2;

std::string Row(const std::string& method, int64_t depth) {
  const spec::Settings settings =
      testing::CellSettings(method, {{"depth", depth},
                                     {"d_model", int64_t{64}},
                                     {"n_heads", int64_t{2}},
                                     {"d_ff", int64_t{256}},
                                     {"context", int64_t{64}},
                                     {"batch_sequences", int64_t{4}},
                                     {"eval_windows", int64_t{8}},
                                     {"precision", std::string("fp32")}});
  const int64_t forecast =
      spec::ForecastMemory(settings, kVocabulary, kReplicas).peak;
  const int64_t measured =
      testing::MeasurePeakBytes(settings, kReplicas, kVocabulary);
  std::ostringstream row;
  row << "{\"method\":\"" << method << "\",\"depth\":" << depth
      << ",\"forecast_bytes\":" << forecast
      << ",\"measured_bytes\":" << measured << '}';
  return row.str();
}

void PrintTable() {
  const char* separator = "[";
  for (const int64_t depth : {12, 48}) {
    for (const spec::MethodInfo& method : spec::MethodTable()) {
      std::cout << separator << Row(std::string(method.name), depth);
      separator = ",\n";
    }
  }
  std::cout << "]\n";
}

void PrintForecast(const char* file, const char* vocabulary) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const spec::TrainerConfig config = trainer::ParseTrainerConfig(text.str());
  std::cout << spec::ForecastMemory(config.settings, std::atoll(vocabulary),
                                    static_cast<int64_t>(config.seeds.size()))
                   .peak
            << '\n';
}

}  // namespace
}  // namespace leadline

int main(int argc, char** argv) {
  try {
    if (argc == 1) {
      leadline::PrintTable();
      return 0;
    }
    if (argc == 3) {
      leadline::PrintForecast(argv[1], argv[2]);
      return 0;
    }
    std::cerr << "usage: memory_table [CONFIG.json VOCABULARY]\n";
  } catch (const std::exception& error) {
    std::cerr << "memory_table: " << error.what() << '\n';
  }
  return 1;
}
