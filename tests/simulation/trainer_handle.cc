#include "trainer_handle.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace leadline::simulation {
namespace {

class SimTrainer final : public agent::Trainer {
 public:
  SimTrainer(std::shared_ptr<SimProcess> process, Duration clock_offset,
             Plant plant, bool adopted)
      : process_(std::move(process)),
        clock_offset_(clock_offset),
        plant_(plant),
        adopted_(adopted) {}

  pid_t pid() const override { return static_cast<pid_t>(process_->pid()); }
  bool IsGone() override {
    if (adopted_ && process_->IsGone()) supposed_ = agent::ExitStatus{};
    return process_->IsGone() || supposed_.has_value();
  }
  const std::optional<agent::ExitStatus>& status() const override {
    return supposed_ ? supposed_ : process_->status();
  }
  void Signal(int signal) override {
    process_->Signal(signal);
    if (plant_ == Plant::kDeviceReleasedTooSoon && !process_->IsGone()) {
      supposed_ = agent::ExitStatus{-1, signal};
    }
  }
  bool SendOrder(std::string_view order, SteadyTime as_of) override {
    return process_->SendOrder(order, as_of - clock_offset_);
  }
  bool SendPeers(const std::vector<std::string>&, SteadyTime as_of) override {
    return process_->SendOrder("peers", as_of - clock_offset_);
  }
  agent::Activity Look() override { return process_->Look(); }
  std::optional<std::string> Address() const override {
    return process_->Address();
  }
  agent::EndTraces Traces() const override {
    const agent::EndTraces traces = process_->Traces();
    return plant_ == Plant::kEvidenceIgnored ? agent::EndTraces{} : traces;
  }

 private:
  std::shared_ptr<SimProcess> process_;
  Duration clock_offset_;
  Plant plant_;
  bool adopted_;
  std::optional<agent::ExitStatus> supposed_;
};

class SimEvents final : public agent::EventLines {
 public:
  explicit SimEvents(std::shared_ptr<EventFile> file)
      : file_(std::move(file)) {}

  absl::StatusOr<std::optional<agent::EventLine>> Next() override {
    if (sequence_ == std::ssize(file_->lines)) return std::nullopt;
    const std::string& text = file_->lines[static_cast<size_t>(sequence_)];
    return agent::EventLine{++sequence_, text, false};
  }
  int64_t sequence() const override { return sequence_; }
  absl::Status SeekAfter(int64_t sequence) override {
    sequence_ = std::min(sequence_, sequence);
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<EventFile> file_;
  int64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<agent::Trainer> HandleOf(std::shared_ptr<SimProcess> process,
                                         Duration clock_offset, Plant plant,
                                         bool adopted) {
  return std::make_unique<SimTrainer>(std::move(process), clock_offset, plant,
                                      adopted);
}

std::unique_ptr<agent::EventLines> LinesOf(std::shared_ptr<EventFile> file) {
  return std::make_unique<SimEvents>(std::move(file));
}

}  // namespace leadline::simulation
