#include "cli/node_view.h"

#include <fmt/format.h>

#include "cli/attempt_rows.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

/// "2/4 cpu, 1/1 NVIDIA H200": those taken, of all.
std::string DevicesText(const v1::NodeSummary& node, const Style& style) {
  std::string text;
  for (const v1::DeviceCount& kind : node.devices()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}/{} {}", Grouped(kind.busy()), Grouped(kind.total()),
                        style.Clean(kind.type()));
  }
  return text;
}

std::string AgoText(const v1::NodeSummary& node) {
  if (!node.has_silent_seconds()) return "never";
  return HumanDuration(node.silent_seconds()) + " ago";
}

std::string SinceText(const v1::NodeSummary& node) {
  if (!node.has_connected_seconds()) return "";
  return HumanDuration(node.connected_seconds());
}

Json DevicesJson(const v1::NodeSummary& node) {
  Json list = Json::array();
  for (const v1::DeviceCount& kind : node.devices()) {
    list.push_back({{"type", kind.type()},
                    {"memory_bytes", kind.memory_bytes()},
                    {"total", kind.total()},
                    {"busy", kind.busy()}});
  }
  return list;
}

Json SummaryJson(const v1::NodeSummary& node) {
  return {{"node", node.node()},
          {"state", node.state()},
          {"reason", node.reason()},
          {"host", node.host()},
          {"version", node.version()},
          {"commit", node.commit()},
          {"protocol_version", node.protocol_version()},
          {"pid", node.pid()},
          {"devices", DevicesJson(node)},
          {"attempts", node.attempts()},
          {"connected_at", node.connected_at()},
          {"connected_seconds", JsonOptional(node.has_connected_seconds(),
                                             node.connected_seconds())},
          {"silent_seconds",
           JsonOptional(node.has_silent_seconds(), node.silent_seconds())}};
}

/// "2-3 of 4": those here.
std::string RanksText(const v1::NodeAttempt& attempt) {
  if (attempt.ranks().empty()) return "";
  const int64_t first = attempt.ranks().begin()->rank();
  const int64_t last = attempt.ranks().rbegin()->rank();
  return fmt::format("{}{} of {}", first,
                     first == last ? "" : "-" + std::to_string(last),
                     attempt.world_size());
}

std::string AttemptsText(const v1::ShowNodeReply& reply, const Style& style) {
  if (reply.attempts().empty()) return "nothing runs here\n";
  Table table{{{"attempt"},
               {"state"},
               {"trials", Align::kRight},
               {"first trial"},
               {"since"},
               {"step", Align::kRight},
               {"ranks"},
               {"pid", Align::kRight},
               {"devices"}},
              {}};
  for (const v1::NodeAttempt& attempt : reply.attempts()) {
    std::string devices;
    for (const std::string& device : attempt.devices()) {
      devices += (devices.empty() ? "" : " ") + style.Clean(device);
    }
    const bool counts = attempt.trials() > 0;
    table.rows.push_back(
        {style.Clean(attempt.attempt()), style.Clean(attempt.state()),
         counts ? Grouped(attempt.trials()) : "",
         style.Clean(attempt.first_trial()), style.Clean(attempt.started_at()),
         counts ? Grouped(attempt.step()) : "", RanksText(attempt),
         attempt.pid() > 0 ? std::to_string(attempt.pid()) : "", devices});
  }
  return Render(table, style);
}

std::string DeviceTable(const v1::ShowNodeReply& reply, const Style& style) {
  if (reply.devices().empty()) return "";
  Table table{{{"device"}, {"type"}, {"memory", Align::kRight}, {"taken by"}},
              {}};
  for (const v1::DeviceNow& device : reply.devices()) {
    table.rows.push_back(
        {style.Clean(device.id()), style.Clean(device.type()),
         device.memory_bytes() > 0 ? HumanBytes(device.memory_bytes()) : "",
         device.attempt().empty() ? "free" : style.Clean(device.attempt())});
  }
  return "\n" + Render(table, style);
}

std::string LeftOut(int64_t count, const std::string& noun) {
  return count == 0 ? "" : "and " + Counted(count, noun) + " more\n";
}

std::string HeadText(const v1::NodeSummary& node, const Style& style) {
  std::string text = style.Clean(node.node()) + ": " + node.state();
  if (!node.reason().empty()) text += ": " + style.Clean(node.reason());
  text += "\n";
  if (node.has_connected_seconds()) {
    text += fmt::format("connected since {} ({}), heard {}\n",
                        style.Clean(node.connected_at()), SinceText(node),
                        AgoText(node));
  } else {
    text += "not connected, heard " + AgoText(node) + "\n";
  }
  if (node.version().empty()) return text;
  text += fmt::format(
      "host {}, leadline-agent {} ({}), protocol {}, pid {}\n",
      style.Clean(node.host()), style.Clean(node.version()),
      node.commit().empty() ? "commit unknown" : style.Clean(node.commit()),
      node.protocol_version(), node.pid());
  return text;
}

}  // namespace

std::string RenderNodes(const std::vector<v1::NodeSummary>& nodes,
                        const Style& style) {
  if (nodes.empty()) {
    return "no nodes were heard since the coordinator started: start "
           "leadline-agent on a machine that is to train; one that is not let "
           "in says why in its own log\n";
  }
  Table table{{{"node"},
               {"state"},
               {"busy devices"},
               {"attempts", Align::kRight},
               {"version"},
               {"connected for"},
               {"heard"}},
              {}};
  std::string reasons;
  for (const v1::NodeSummary& node : nodes) {
    table.rows.push_back({style.Clean(node.node()), style.Clean(node.state()),
                          DevicesText(node, style), Grouped(node.attempts()),
                          style.Clean(node.version()), SinceText(node),
                          AgoText(node)});
    if (!node.reason().empty()) {
      reasons +=
          style.Clean(node.node()) + ": " + style.Clean(node.reason()) + "\n";
    }
  }
  return Render(table, style) + (reasons.empty() ? "" : "\n" + reasons);
}

Json NodesJson(const std::vector<v1::NodeSummary>& nodes) {
  Json list = Json::array();
  for (const v1::NodeSummary& node : nodes) list.push_back(SummaryJson(node));
  return {{"nodes", std::move(list)}};
}

std::string RenderNode(const v1::ShowNodeReply& node, const Style& style) {
  return HeadText(node.node(), style) + "\n" + AttemptsText(node, style) +
         LeftOut(node.attempts_left_out(), "attempt") +
         DeviceTable(node, style) + LeftOut(node.devices_left_out(), "device");
}

Json NodeJson(const v1::ShowNodeReply& node) {
  Json devices = Json::array();
  for (const v1::DeviceNow& device : node.devices()) {
    devices.push_back({{"device", device.id()},
                       {"type", device.type()},
                       {"memory_bytes", device.memory_bytes()},
                       {"attempt", device.attempt()}});
  }
  Json attempts = Json::array();
  for (const v1::NodeAttempt& attempt : node.attempts()) {
    attempts.push_back(
        {{"attempt", attempt.attempt()},
         {"state", attempt.state()},
         {"first_trial", attempt.first_trial()},
         {"trials", attempt.trials()},
         {"started_at", attempt.started_at()},
         {"step", attempt.step()},
         {"pid", attempt.pid()},
         {"world_size", attempt.world_size()},
         {"ranks", RanksJson(attempt.ranks())},
         {"devices", std::vector<std::string>(attempt.devices().begin(),
                                              attempt.devices().end())}});
  }
  Json json = SummaryJson(node.node());
  json["device_list"] = std::move(devices);
  json["devices_left_out"] = node.devices_left_out();
  json["attempt_list"] = std::move(attempts);
  json["attempts_left_out"] = node.attempts_left_out();
  return json;
}

}  // namespace leadline::cli
