#include "worker/trainer/routing_report.h"

#include <string>

#include "model/probes/routing_probe.h"
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

RoutingEvent ToEvent(const model::RoutingSummary& summary) {
  RoutingEvent event;
  event.values.emplace_back("route.map",
                            Array(summary.map, [](const model::RouterRow& row) {
                              return JsonNumbers(row.weights);
                            }));
  event.values.emplace_back(
      "route.sources", Array(summary.map, [](const model::RouterRow& row) {
        return Array(row.sources, [](const std::string& label) {
          return spec::JsonText(label);
        });
      }));
  for (const auto& [name, values] : summary.statistics) {
    event.values.emplace_back(name, JsonNumbers(values));
  }
  return event;
}

}  // namespace

std::vector<RoutingEvent> ReportRouting(const model::Decoder& decoder,
                                        std::span<const uint16_t> symbols,
                                        std::span<const Window> windows,
                                        const torch::Device& device,
                                        int64_t step) {
  model::RoutingProbe probe(decoder.replicas());
  {
    const torch::NoGradGuard no_grad;
    model::ForwardOptions options;
    options.observer = &probe;
    decoder.Forward(SharedBatch(decoder, symbols, windows, device).tokens_RBT,
                    options);
  }
  std::vector<RoutingEvent> events;
  for (int64_t r = 0; r < decoder.replicas(); ++r) {
    const model::RoutingSummary& summary = probe.summaries()[r];
    if (summary.map.empty()) continue;
    events.push_back(ToEvent(summary));
    events.back().step = step;
    events.back().replica = r;
  }
  return events;
}

}  // namespace leadline::trainer
