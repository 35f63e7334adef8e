// leadline-trainer CONFIG.json | -

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include <unistd.h>

#include "common/build_info.h"
#include "worker/collective/communicator.h"
#include "worker/cuda_module/open.h"
#include "worker/dataset/symbol_text.h"
#include "worker/trainer/control_thread.h"
#include "worker/trainer/event_writer.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/process_memory.h"
#include "worker/trainer/rendezvous.h"
#include "worker/trainer/room_wait.h"
#include "worker/trainer/run_control.h"
#include "worker/trainer/train_loop.h"
#include "worker/trainer/trainer_config.h"

namespace leadline::trainer {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kMisuse = 2;

// Enough to see that a configuration is too long, and no more: the name may be
// that of a device without an end.
constexpr size_t kMostConfigBytes = (size_t{1} << 20U) + 1;

std::string ReadStart(std::istream& stream) {
  std::string text(kMostConfigBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

std::string ReadConfig(const std::string& name) {
  if (name == "-") return ReadStart(std::cin);
  std::ifstream file(name, std::ios::binary);
  if (!file) throw ConfigError("cannot read " + name);
  return ReadStart(file);
}

EventWriter OpenEvents(const spec::TrainerConfig& config) {
  return config.folder ? EventWriter::InFolder(*config.folder)
                       : EventWriter::OnStandardOutput();
}

void CheckSupported(const spec::TrainerConfig& config) {
  if (!config.folder &&
      config.settings.values().at("checkpoint_every") != spec::Value("off")) {
    std::cerr
        << "leadline-trainer: without a folder no checkpoint is written\n";
  }
}

// Before the first torch call, or torch does not see the devices.
void OpenDevice(const spec::TrainerConfig& config) {
  if (config.device == "cpu") return;
  const auto folder = cuda_module::ProgramFolder();
  std::optional<std::string> refusal = cuda_module::Open(folder);
  if (!refusal) {
    const auto description = cuda_module::Describe(folder);
    refusal = cuda_module::Refusal(description, config.device);
    // By hand there is no folder or the peers are given, and all devices are
    // the user's.
    if (!refusal && config.folder && config.peers.empty()) {
      refusal = cuda_module::WhyNotAlone(description);
    }
  }
  if (refusal) throw Failure(FailureKind::kDevice, *refusal);
}

// Threads that a device holds are not waited for.
[[noreturn]] void EndAtOnce() {
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(kFailed);
}

DeviceAccess AccessTo(const spec::TrainerConfig& config) {
  if (config.device == "cpu") return {};
  return {.open_queue =
              [device = config.device] {
                return cuda_module::MakeDeviceQueue(
                    cuda_module::ProgramFolder(), device);
              },
          // The agent takes the kind from the words.
          .last_resort =
              [](const std::string& why) {
                std::cerr << "leadline-trainer: " << why << '\n';
                EndAtOnce();
              }};
}

void Train(const spec::TrainerConfig& config, RunControl& control,
           EventWriter& events) {
  CheckSupported(config);
  OpenDevice(config);
  at::set_num_threads(static_cast<int>(config.settings.Integer("threads")));
  at::set_num_interop_threads(1);
  Rendezvous rendezvous(config, AccessTo(config));
  const dataset::SymbolText text = dataset::LoadText(config.dataset);
  text.RequireWindow(config.settings.Integer("context"));
  const auto communicator = rendezvous.Meet(control);
  try {
    TrainLoop loop(config, text, *communicator, control, events);
    loop.Run();
  } catch (const Stopped&) {
    throw;  // all ranks stop here
  } catch (...) {
    communicator->Abort(DescribeEnd(std::current_exception()).message);
    throw;
  }
}

EndEvent TrainToTheEnd(const spec::TrainerConfig& config, RunControl& control,
                       std::optional<ControlThread>& orders,
                       EventWriter& events) {
  try {
    ControlOptions options;
    if (config.folder) options.folder = *config.folder;
    orders.emplace(options, control);
    Train(config, control, events);
    return {};
  } catch (...) {
    return DescribeEnd(std::current_exception());
  }
}

int Run(const std::string& argument) {
  std::optional<spec::TrainerConfig> config;
  try {
    config = ParseTrainerConfig(ReadConfig(argument));
  } catch (const ConfigError& error) {
    std::cerr << "leadline-trainer: " << error.what() << '\n';
    return kMisuse;
  }
  BlockStopSignals();
  OfferToEndFirst();
  RunControl control;
  // Orders are heard to the last line: it may have to wait for room.
  std::optional<ControlThread> orders;
  EventWriter events = OpenEvents(*config);
  // By hand whoever reads the events decides.
  if (config->folder) events.WaitWith({control, "the events", *config->folder});
  const EndEvent end = TrainToTheEnd(*config, control, orders, events);
  if (end.outcome != AttemptOutcome::kSucceeded) {
    std::cerr << "leadline-trainer: " << end.message << '\n';
  }
  events.Write(end);
  if (end.outcome == AttemptOutcome::kSucceeded) return kDone;
  if (config->world_size > 1 && config->device != "cpu") EndAtOnce();
  return kFailed;
}

}  // namespace
}  // namespace leadline::trainer

int main(int argc, char** argv) {
  using leadline::trainer::kDone;
  using leadline::trainer::kFailed;
  using leadline::trainer::kMisuse;
  using leadline::trainer::Run;
  const std::string argument = argc == 2 ? argv[1] : "";
  if (argument == "--version") {
    std::cout << "leadline-trainer " << leadline::BuildVersion() << " ("
              << leadline::BuildCommit() << ")\n";
    return kDone;
  }
  if (argument.empty() || (argument[0] == '-' && argument != "-")) {
    std::cerr << "usage: leadline-trainer CONFIG.json | -\n"
                 "Trains what the configuration says and reports in JSON "
                 "lines.\n";
    return kMisuse;
  }
  try {
    return Run(argument);
  } catch (const std::exception& error) {
    std::cerr << "leadline-trainer: " << error.what() << '\n';
    return kFailed;
  }
}
