#include "coordinator/spec_reader/limits_reader.h"

#include <optional>
#include <string>
#include <vector>

#include "common/nearest_name.h"

namespace leadline::spec_reader {
namespace {

constexpr int64_t kMost = 1'000'000;

/// A limit that is a number, and where it goes.
struct Count {
  std::string_view key;
  std::optional<int64_t> sweep::Limits::*member;
};

constexpr Count kCounts[] = {
    {"parallel", &sweep::Limits::parallel},
    {"failures", &sweep::Limits::failures},
    {"failures_in_row", &sweep::Limits::failures_in_row},
};

const Count* FindCount(std::string_view key) {
  for (const Count& count : kCounts) {
    if (count.key == key) return &count;
  }
  return nullptr;
}

void AddUnknown(const Entry& entry, ValueReader& values) {
  if (entry.key == "gpu_hours") {
    values.Add(entry.at, "limits: gpu_hours is not supported yet");
    return;
  }
  values.Add(entry.at,
             "limits: there is no " + entry.key +
                 ", expected parallel, failures, failures_in_row or "
                 "on_failures" +
                 DidYouMean(entry.key, {"parallel", "failures",
                                        "failures_in_row", "on_failures"}));
}

void ReadOnFailures(const Node& node, sweep::Limits& limits,
                    ValueReader& values) {
  const auto word = values.ReadText("on_failures", node);
  if (!word) return;
  const auto what = ParseOnFailures(*word);
  if (what) {
    limits.on_failures = *what;
  } else {
    values.Add(node.at, "on_failures: found " + Shown(node) +
                            ", expected stop or finish");
  }
}

}  // namespace

sweep::Limits ReadLimits(const Node& node, ValueReader& values) {
  sweep::Limits limits;
  if (!values.IsMap("limits", node)) return limits;
  for (const Entry& entry : node.entries) {
    if (const Count* count = FindCount(entry.key)) {
      limits.*count->member =
          values.ReadInteger(count->key, entry.value, 1, kMost);
    } else if (entry.key == "on_failures") {
      ReadOnFailures(entry.value, limits, values);
    } else {
      AddUnknown(entry, values);
    }
  }
  if (limits.on_failures != OnFailures::kStop && !limits.failures &&
      !limits.failures_in_row) {
    values.Add(node.at,
               "limits: on_failures has no limit to follow, expected "
               "failures or failures_in_row beside it");
  }
  return limits;
}

}  // namespace leadline::spec_reader
