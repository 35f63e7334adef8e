#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/node_view.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string action;  // empty: list
  std::string node;
};

absl::StatusOr<std::vector<v1::NodeSummary>> FetchNodes(
    Connection& connection) {
  std::vector<v1::NodeSummary> nodes;
  v1::ListNodesRequest request;
  while (true) {
    const auto page = connection.Ask<v1::ListNodesReply>(
        [&](grpc::ClientContext* call, v1::ListNodesReply* reply) {
          return connection.nodes().ListNodes(call, request, reply);
        });
    if (!page.ok()) return page.status();
    for (const v1::NodeSummary& node : page->nodes()) {
      // Or this would never end.
      if (node.node() <= request.after()) {
        return absl::InternalError("the coordinator lists nodes twice");
      }
      nodes.push_back(node);
      request.set_after(node.node());
    }
    if (page->nodes().empty() ||
        static_cast<int64_t>(nodes.size()) >= page->total()) {
      return nodes;
    }
  }
}

absl::Status List(Context& context, Connection& connection) {
  const auto nodes = FetchNodes(connection);
  if (!nodes.ok()) return nodes.status();
  if (context.output.json()) context.output.PrintJson(NodesJson(*nodes));
  context.output.Print(RenderNodes(*nodes, context.output.out()));
  return absl::OkStatus();
}

absl::Status Show(Context& context, Connection& connection,
                  const std::string& node) {
  v1::ShowNodeRequest request;
  request.set_node(node);
  const auto reply = connection.Ask<v1::ShowNodeReply>(
      [&](grpc::ClientContext* call, v1::ShowNodeReply* answer) {
        return connection.nodes().ShowNode(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) context.output.PrintJson(NodeJson(*reply));
  context.output.Print(RenderNode(*reply, context.output.out()));
  return absl::OkStatus();
}

absl::Status Clear(Context& context, Connection& connection,
                   const std::string& node) {
  v1::ClearNodeRequest request;
  request.set_node(node);
  request.set_request_id(FreshRequestId());
  const auto reply = connection.Ask<v1::ClearNodeReply>(
      [&](grpc::ClientContext* call, v1::ClearNodeReply* answer) {
        return connection.nodes().ClearNode(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) {
    context.output.PrintJson({{"node", reply->node()},
                              {"was_quarantined", reply->was_quarantined()},
                              {"failures", reply->failures()}});
  }
  const std::string name = context.output.out().Clean(reply->node());
  context.output.Print(
      reply->was_quarantined()
          ? name + ": its quarantine has ended, it takes work again\n"
          : name + ": it was in no quarantine; " +
                Counted(reply->failures(), "failure") + " forgotten\n");
  return absl::OkStatus();
}

absl::Status Nodes(Context& context, const Options& options) {
  if (options.action.empty() != options.node.empty()) {
    return absl::InvalidArgumentError("name a node: leadline nodes " +
                                      options.action + " NODE");
  }
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  if (options.action == "show") {
    return Show(context, **connection, options.node);
  }
  if (options.action == "clear") {
    return Clear(context, **connection, options.node);
  }
  return List(context, **connection);
}

}  // namespace

Command NodesCommand() {
  return {
      "nodes", "machines that train: devices, what runs there, how they stand",
      "  leadline nodes                       # all that were heard\n"
      "  leadline nodes show gpu7             # its devices and attempts\n"
      "  leadline nodes clear gpu7            # end its quarantine\n"
      "\n"
      "A node is ready; quarantined (it takes no work but one attempt at a "
      "time);\nunreachable (not connected, and attempts wait for it); or "
      "gone.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("action", options->action,
                       "show or clear; without it all nodes are listed")
            ->option_text("ACTION")
            ->check(flags::OneOf({"show", "clear"}));
        app.add_option("node", options->node, "name of a node")
            ->option_text("NODE");
        return [options](Context& context) { return Nodes(context, *options); };
      }};
}

}  // namespace leadline::cli
