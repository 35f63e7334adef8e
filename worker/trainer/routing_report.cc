#include "worker/trainer/routing_report.h"

#include <string>

#include "common/name_spans.h"
#include "model/probes/diagnosis.h"
#include "model/spec/json_text.h"
#include "worker/trainer/json_line.h"

namespace leadline::trainer {
namespace {

template <typename Items, typename ToJson>
std::string Array(const Items& items, ToJson to_json) {
  std::string json = "[";
  for (const auto& item : items) {
    if (json.size() > 1) json += ',';
    json += to_json(item);
  }
  return json + ']';
}

std::string SourcesJson(const std::vector<model::RouterRow>& map) {
  std::vector<std::vector<std::string>> lists;
  for (const model::RouterRow& row : map) lists.push_back(row.sources);
  const NameSpans spans = ToSpans(lists);
  JsonLine json;
  json.Value("names", Array(spans.names, &spec::JsonText));
  json.Value("rows", Array(spans.lists, [](const std::vector<int64_t>& list) {
               return Array(
                   list, [](int64_t place) { return std::to_string(place); });
             }));
  return json.Finish();
}

RoutingEvent ToEvent(const model::Figures& figures) {
  RoutingEvent event;
  if (!figures.map.empty()) {
    event.values.emplace_back(
        "route.map", Array(figures.map, [](const model::RouterRow& row) {
          return JsonFigures(row.weights);
        }));
    event.values.emplace_back("route.sources", SourcesJson(figures.map));
  }
  for (const auto& [name, values] : figures.values) {
    event.values.emplace_back(name, JsonFigures(values));
  }
  return event;
}

}  // namespace

std::vector<model::Figures> MeasureFigures(const model::Decoder& decoder,
                                           const spec::Settings& settings,
                                           std::span<const uint16_t> symbols,
                                           std::span<const Window> windows,
                                           const torch::Device& device) {
  const Batch batch = SharedBatch(decoder, symbols, windows, device);
  return model::Diagnose(decoder, settings, batch.tokens_RBT,
                         batch.targets_RBT);
}

std::vector<RoutingEvent> ReportFigures(
    const std::vector<model::Figures>& figures, int64_t step) {
  std::vector<RoutingEvent> events;
  for (size_t r = 0; r < figures.size(); ++r) {
    events.push_back(ToEvent(figures[r]));
    events.back().step = step;
    events.back().replica = static_cast<int64_t>(r);
  }
  return events;
}

}  // namespace leadline::trainer
