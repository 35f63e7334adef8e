// Figures and the causal check, as a trainer measures and reports them.

#include <cmath>
#include <filesystem>
#include <fstream>

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "tests/support/cell_settings.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/causal_check.h"
#include "worker/trainer/event_writer.h"
#include "worker/trainer/routing_report.h"
#include "worker/trainer/train_loop.h"

namespace leadline::trainer {
namespace {

using nlohmann::json;
using torch::Tensor;

constexpr int64_t kContext = 8;

std::vector<uint16_t> Symbols(size_t size) {
  std::vector<uint16_t> symbols;
  for (size_t i = 0; i < size; ++i) {
    symbols.push_back(static_cast<uint16_t>(i * i * 7 / 3 % 5));
  }
  return symbols;
}

spec::Settings SettingsOf(const std::string& method,
                          spec::GivenSettings given = {}) {
  if (method == "wav" || method == "block_attnres") {
    given["block_sublayers"] = int64_t{4};
  }
  given["context"] = kContext;
  return leadline::testing::CellSettings(method, given);
}

class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "figures_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

  std::vector<json> Events(const std::string& name) const {
    std::vector<json> events;
    std::ifstream file(path_ + "/events.jsonl");
    for (std::string line; std::getline(file, line);) {
      EXPECT_LT(line.size(), size_t{1} << 20U);
      json event = json::parse(line);
      if (event["event"] == name) events.push_back(std::move(event));
    }
    return events;
  }

 private:
  std::string path_;
};

/// Losses computed on this thread: one a forward pass.
class CountLosses {
 public:
  CountLosses() {
    count_ = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&Begin).scopes({at::RecordScope::FUNCTION}));
  }
  ~CountLosses() { at::removeCallback(handle_); }
  int64_t count() const { return count_; }

 private:
  static std::unique_ptr<at::ObserverContext> Begin(
      const at::RecordFunction& function) {
    if (std::string(function.name()) == "aten::cross_entropy_loss") ++count_;
    return nullptr;
  }

  static thread_local int64_t count_;
  at::CallbackHandle handle_ = 0;
};

thread_local int64_t CountLosses::count_ = 0;

struct Trained {
  int64_t passes = 0;
  std::vector<json> routing;
  std::vector<json> evaluations;
};

Trained Train(const std::string& method, const std::string& diagnostics,
              std::vector<int64_t> seeds = {1, 2}) {
  const Folder folder;
  spec::TrainerConfig config;
  config.settings = SettingsOf(method, {{"diagnostics", diagnostics},
                                        {"steps", int64_t{4}},
                                        {"eval_every", int64_t{2}},
                                        {"eval_windows", int64_t{4}},
                                        {"eval_stride", kContext},
                                        {"batch_sequences", int64_t{2}}});
  config.seeds = std::move(seeds);
  config.device = "cpu";
  const dataset::SymbolText text(Symbols(160), {100, 60, 0},
                                 {'a', 'b', 'c', 'd', 'e'}, false);
  RunControl control;
  Trained trained;
  {
    EventWriter events = EventWriter::InFolder(folder.path());
    const auto communicator = collective::MakeSoloCommunicator();
    const CountLosses losses;
    TrainLoop(config, text, *communicator, control, events).Run();
    trained.passes = losses.count();
  }
  trained.routing = folder.Events("routing");
  trained.evaluations = folder.Events("evaluation");
  return trained;
}

TEST(Diagnostics, OffMakesNoPassAndNoEvent) {
  for (const char* method : {"prenorm", "wav"}) {
    const Trained off = Train(method, "off");
    // Four steps, two evaluations of one batch, a full one of two.
    EXPECT_EQ(off.passes, 4 + 2 + 2) << method;
    EXPECT_TRUE(off.routing.empty()) << method;
  }
}

TEST(Diagnostics, OnMakesOnePassAnEvaluationAndAtTheEndOneAFamilyAndTwo) {
  // The two are a step that is computed again.
  const Trained prenorm = Train("prenorm", "on");
  EXPECT_EQ(prenorm.passes, 8 + 2 + 2);
  EXPECT_EQ(prenorm.routing.size(), 4U);
  EXPECT_FALSE(prenorm.routing[0]["values"].contains("route.map"));
  EXPECT_EQ(prenorm.routing[0]["values"]["layer.grad_rms"].size(), 6U);
  // embedding, details, phase, split, partial and one block
  const Trained wav = Train("wav", "on");
  EXPECT_EQ(wav.passes, 8 + 2 + 6 + 2);
  ASSERT_EQ(wav.routing.size(), 4U);
  EXPECT_FALSE(wav.routing[0]["values"].contains("causal.details"));
  for (const char* family :
       {"embedding", "details", "phase", "split", "partial", "block"}) {
    const std::string name = std::string("causal.") + family;
    EXPECT_EQ(wav.routing[3]["values"][name].size(), 1U) << name;
    EXPECT_EQ(wav.routing[3]["values"][name + ".se"].size(), 1U) << name;
  }
}

TEST(Diagnostics, ChangeNoBitOfTheTraining) {
  for (const char* method : {"prenorm", "wav"}) {
    const Trained off = Train(method, "off");
    const Trained on = Train(method, "on");
    ASSERT_EQ(on.evaluations.size(), off.evaluations.size());
    for (size_t i = 0; i < on.evaluations.size(); ++i) {
      EXPECT_EQ(on.evaluations[i]["values"], off.evaluations[i]["values"]);
    }
  }
}

TEST(Evaluations, TellTheirSpeedAndMemory) {
  const Trained trained = Train("prenorm", "off");
  ASSERT_EQ(trained.evaluations.size(), 3U);
  for (const json& evaluation : trained.evaluations) {
    EXPECT_GT(evaluation["tokens_per_second"], 0);
    EXPECT_GT(evaluation["peak_bytes"], int64_t{1} << 20);
  }
}

/// Weights far from the start, so that routers tell sources apart.
void Shake(const model::Decoder& decoder) {
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    if (p.name == "router.w") {
      Tensor w = p.tensor;
      const torch::NoGradGuard no_grad;
      w.copy_(torch::arange(w.numel()).remainder(7).view(w.sizes()) * 0.3 - 1);
    }
  }
}

TEST(CausalCheck, WithoutDetailsTheLossIsThatOfTheSameWeightsInBlockAttnRes) {
  for (const int64_t replicas : {1, 3}) {
    std::vector<int64_t> seeds;
    for (int64_t r = 0; r < replicas; ++r) seeds.push_back(r);
    const spec::Settings settings = SettingsOf("wav");
    const model::Decoder wav(settings, 5, seeds, torch::kFloat64);
    Shake(wav);
    model::Decoder plain(SettingsOf("block_attnres"), 5, seeds,
                         torch::kFloat64);
    for (const model::NamedParameter& p : wav.parameters_in_order()) {
      if (p.name != "wav.beta") plain.SetParameter(p.name, p.tensor.detach());
    }
    const std::vector<uint16_t> symbols = Symbols(200);
    const std::vector<Window> windows = FixedWindows(200, kContext, 7);
    const auto breathe = [] {};
    const Tensor with_RP =
        EvaluateFixed(wav, symbols, windows, torch::kCPU, breathe);
    const Tensor without_RP =
        EvaluateFixed(plain, symbols, windows, torch::kCPU, breathe);
    auto figures = MeasureFigures(wav, settings, symbols, windows, torch::kCPU);
    AddCausalFigures(wav, symbols, windows, with_RP, torch::kCPU, breathe,
                     figures);
    for (int64_t r = 0; r < replicas; ++r) {
      double mean = 0;
      double square = 0;
      for (int64_t p = 0; p < 7; ++p) {
        mean += (without_RP[r][p] - with_RP[r][p]).item<double>() / 7;
      }
      for (int64_t p = 0; p < 7; ++p) {
        const double change = (without_RP[r][p] - with_RP[r][p]).item<double>();
        square += (change - mean) * (change - mean);
      }
      const auto& values = figures[r].values;
      EXPECT_NE(mean, 0);
      EXPECT_NEAR(values.at("causal.details")[0], mean, 1e-14);
      EXPECT_NEAR(values.at("causal.details.se")[0],
                  std::sqrt(square / 6) / std::sqrt(7.0), 1e-14);
      EXPECT_NE(values.at("causal.embedding")[0], 0);
      EXPECT_NE(values.at("causal.phase")[0], values.at("causal.split")[0]);
    }
  }
}

TEST(ReportFigures, TheDeepestMapFitsALine) {
  model::Figures figures;
  std::vector<std::string> sources = {"e"};
  for (int router = 0; router < 513; ++router) {
    const auto j = static_cast<double>(sources.size());
    figures.map.push_back(
        {sources, std::vector<double>(sources.size(), 1 / j)});
    sources.push_back("u" + std::to_string(router));
  }
  for (int figure = 0; figure < 60; ++figure) {
    figures.values["route.of" + std::to_string(figure)] =
        std::vector<double>(513, 1.0 / 3);
  }
  const Folder folder;
  {
    EventWriter events = EventWriter::InFolder(folder.path());
    for (const RoutingEvent& event : ReportFigures({figures}, 7)) {
      events.Write(event);
    }
  }
  const auto events = folder.Events("routing");
  ASSERT_EQ(events.size(), 1U);
  const json& values = events[0]["values"];
  ASSERT_EQ(values["route.map"].size(), 513U);
  EXPECT_EQ(values["route.map"][512]["shape"][0], 513);
  EXPECT_EQ(values["route.sources"]["names"].size(), 513U);
  EXPECT_EQ(values["route.sources"]["rows"][512], json({0, 513}));
  EXPECT_EQ(values["route.of0"]["shape"][0], 513);
}

TEST(ReportFigures, WhatWouldMakeALineTooLongIsLeftOut) {
  model::Figures figures;
  figures.values["large"] = std::vector<double>(250'000, 0.5);
  figures.values["small"] = {0.1, std::nan("")};
  const Folder folder;
  {
    EventWriter events = EventWriter::InFolder(folder.path());
    for (const RoutingEvent& event : ReportFigures({figures}, 7)) {
      events.Write(event);
    }
  }
  const json values = folder.Events("routing").at(0)["values"];
  EXPECT_TRUE(values["large"].is_null());
  EXPECT_EQ(values["small"], json({0.1, "nan"}));
}

}  // namespace
}  // namespace leadline::trainer
