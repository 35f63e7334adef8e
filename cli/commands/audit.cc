#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/access_client.h"
#include "cli/commands/access_commands.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

constexpr int64_t kPage = 500;
constexpr size_t kMessageWidth = 60;

struct Options {
  int64_t limit = 50;
  int64_t before = 0;
};

struct Entries {
  std::vector<v1::AuditEntry> list;  // newest first
  bool more = false;
};

absl::StatusOr<Entries> Fetch(Connection& connection,
                              const AccessClient& access,
                              const Options& options) {
  Entries entries;
  v1::ListAuditRequest request;
  request.set_before(options.before);
  while (true) {
    const auto left = options.limit - static_cast<int64_t>(entries.list.size());
    request.set_limit(std::min(left, kPage));
    const auto page = connection.Ask<v1::ListAuditReply>(
        [&](grpc::ClientContext* call, v1::ListAuditReply* answer) {
          return access.calls->ListAudit(call, request, answer);
        });
    if (!page.ok()) return page.status();
    entries.list.insert(entries.list.end(), page->entries().begin(),
                        page->entries().end());
    entries.more = page->more();
    if (!entries.more || page->entries().empty() ||
        static_cast<int64_t>(entries.list.size()) >= options.limit) {
      return entries;
    }
    request.set_before(entries.list.back().entry());
  }
}

Json ToJson(const Entries& entries) {
  Json rows = Json::array();
  for (const v1::AuditEntry& entry : entries.list) {
    rows.push_back({{"entry", entry.entry()},
                    {"at", entry.at()},
                    {"who", entry.who()},
                    {"call", entry.call()},
                    {"target", entry.target()},
                    {"outcome", entry.outcome()},
                    {"message", entry.message()},
                    {"count", entry.count()}});
  }
  return {{"entries", rows}, {"more", entries.more}};
}

std::string ToText(const Entries& entries, const Style& style) {
  if (entries.list.empty()) return "nothing was changed or refused yet\n";
  Table table{{{"at"},
               {"who"},
               {"call"},
               {"target"},
               {"outcome"},
               {"times", Align::kRight},
               {"message"}},
              {}};
  for (const v1::AuditEntry& entry : entries.list) {
    table.rows.push_back(
        {entry.at(), style.Clean(entry.who()), style.Clean(entry.call()),
         style.Clean(entry.target()), entry.outcome(), Grouped(entry.count()),
         Shorten(style.Clean(entry.message()), kMessageWidth, style.charset)});
  }
  std::string text = Render(table, style);
  if (entries.more) {
    text += fmt::format("--before {} shows older ones\n",
                        entries.list.back().entry());
  }
  return text;
}

absl::Status Audit(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto access = DialAccess(**connection);
  if (!access.ok()) return access.status();
  const auto entries = Fetch(**connection, *access, options);
  if (!entries.ok()) return entries.status();
  if (context.output.json()) context.output.PrintJson(ToJson(*entries));
  context.output.Print(ToText(*entries, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command AuditCommand() {
  return {"audit", "show who changed what, and who was refused, newest first",
          "  leadline audit\n"
          "  leadline audit --limit 1000 --json\n"
          "\n"
          "In the order in which it was recorded. Equal refusals within ten "
          "seconds are one\nentry with the time of the last, and recorded up "
          "to ten seconds after it.\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("--limit", options->limit,
                           "entries to show at most (default 50)")
                ->option_text("N")
                ->check(flags::WholeNumber(1, 1'000'000));
            app.add_option("--before", options->before,
                           "only entries older than this one")
                ->option_text("ENTRY")
                ->check(flags::WholeNumber(1, int64_t{1} << 62));
            return [options](Context& context) {
              return Audit(context, *options);
            };
          }};
}

}  // namespace leadline::cli
