// Curves, routing, window losses and orphans.

#include <utility>

#include "storage/sqlite/json_array.h"
#include "storage/sqlite/sqlite_reader.h"

namespace leadline::storage::sqlite {
namespace {

absl::Status ReadRouters(Connection& connection, int64_t trial,
                         RoutingRecord& routing) {
  Query query(connection,
              "SELECT l.names, m.weights FROM router_map m JOIN source_list l "
              "ON l.id = m.sources WHERE m.trial = ? AND m.step = ? "
              "ORDER BY m.router",
              trial, routing.step);
  std::string names;
  std::string weights;
  while (query.Next()) {
    query.Read(names, weights);
    auto sources = WordsFromJson(names);
    if (!sources.ok()) return sources.status();
    auto numbers = NumbersFromJson(weights);
    if (!numbers.ok()) return numbers.status();
    routing.map.push_back({*std::move(sources), *std::move(numbers)});
  }
  return absl::OkStatus();
}

absl::Status ReadStatistics(Connection& connection, int64_t trial,
                            RoutingRecord& routing) {
  Query query(connection,
              "SELECT m.name, s.numbers FROM router_statistic s JOIN metric m "
              "ON m.id = s.metric WHERE s.trial = ? AND s.step = ?",
              trial, routing.step);
  std::string name;
  std::string text;
  while (query.Next()) {
    query.Read(name, text);
    auto numbers = NumbersFromJson(text);
    if (!numbers.ok()) return numbers.status();
    routing.statistics[name] = *std::move(numbers);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Point>> SqliteReader::Curve(
    TrialId trial, const std::string& metric, int64_t after_step,
    int64_t limit) const {
  using Points = std::vector<Point>;
  return WithConnection(
      "reading a curve of " + ToText(trial),
      [&](Connection& connection) -> absl::StatusOr<Points> {
        Query query(connection,
                    "SELECT p.step, p.value FROM points p WHERE p.trial = "
                    "(SELECT id FROM trial WHERE text = ?) AND p.metric = "
                    "(SELECT id FROM metric WHERE name = ?) AND p.step > ? "
                    "ORDER BY p.step LIMIT ?",
                    ToText(trial), metric, after_step, limit);
        Points points;
        while (query.Next()) {
          Point& point = points.emplace_back();
          point.trial = trial;
          point.metric = metric;
          query.Read(point.step, point.value);
        }
        return points;
      });
}

absl::StatusOr<std::optional<RoutingRecord>> SqliteReader::FindRouting(
    TrialId trial, std::optional<int64_t> step) const {
  using Found = std::optional<RoutingRecord>;
  return WithConnection(
      "reading routing of " + ToText(trial),
      [&](Connection& connection) -> absl::StatusOr<Found> {
        Query query(connection,
                    "SELECT s.trial, s.step FROM trial t JOIN routing_step s "
                    "ON s.trial = t.id WHERE t.text = ?1 AND "
                    "(?2 IS NULL OR s.step = ?2) ORDER BY s.step DESC LIMIT 1",
                    ToText(trial), step);
        if (!query.Next()) return Found();
        int64_t row = 0;
        RoutingRecord routing;
        routing.trial = trial;
        query.Read(row, routing.step);
        if (auto read = ReadRouters(connection, row, routing); !read.ok()) {
          return read;
        }
        if (auto read = ReadStatistics(connection, row, routing); !read.ok()) {
          return read;
        }
        return Found(std::move(routing));
      });
}

absl::StatusOr<std::optional<WindowLosses>> SqliteReader::FindWindows(
    TrialId trial, const std::string& split,
    std::optional<int64_t> step) const {
  using Found = std::optional<WindowLosses>;
  return WithConnection(
      "reading window losses of " + ToText(trial),
      [&](Connection& connection) -> absl::StatusOr<Found> {
        Query query(connection,
                    "SELECT w.step, w.losses FROM trial t JOIN window_losses w "
                    "ON w.trial = t.id WHERE t.text = ?1 AND w.split = ?2 AND "
                    "(?3 IS NULL OR w.step = ?3) ORDER BY w.step DESC LIMIT 1",
                    ToText(trial), split, step);
        if (!query.Next()) return Found();
        WindowLosses windows;
        windows.trial = trial;
        windows.split = split;
        std::string text;
        query.Read(windows.step, text);
        auto losses = NumbersFromJson(text);
        if (!losses.ok()) return losses.status();
        windows.losses = *std::move(losses);
        return Found(std::move(windows));
      });
}

absl::StatusOr<std::vector<OrphanRecord>> SqliteReader::ListOrphans(
    AttemptKey attempt, int64_t after_sequence, int64_t limit) const {
  using Orphans = std::vector<OrphanRecord>;
  return WithConnection(
      "reading orphans of " + ToText(attempt),
      [&](Connection& connection) -> absl::StatusOr<Orphans> {
        Query query(connection,
                    "SELECT o.sequence, o.text FROM cohort h JOIN orphan o ON "
                    "o.cohort = h.id WHERE h.text = ? AND o.number = ? AND "
                    "o.sequence > ? ORDER BY o.sequence LIMIT ?",
                    ToText(attempt.cohort), attempt.number, after_sequence,
                    limit);
        Orphans orphans;
        while (query.Next()) {
          OrphanRecord& orphan = orphans.emplace_back();
          orphan.attempt = attempt;
          query.Read(orphan.sequence, orphan.text);
        }
        return orphans;
      });
}

}  // namespace leadline::storage::sqlite
