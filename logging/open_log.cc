#include "logging/open_log.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <CLI/CLI.hpp>
#include <absl/status/status.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "common/no_room.h"
#include "errors/error_code.h"
#include "flags/values.h"
#include "logging/bounded_file.h"

namespace leadline {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

class BoundedFileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  BoundedFileSink(const std::filesystem::path& path, LogFormat format)
      : file_(path), format_(format) {}

  bool Open() { return file_.Open(); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (lost_ > 0) {
      const std::string told =
          LogLine(format_, message.time, LogLevel::kError, "log_lines_lost",
                  {{"count", std::to_string(lost_)}});
      if (file_.Append(told)) lost_ = 0;
    }
    if (!file_.Append({message.payload.data(), message.payload.size()})) {
      ++lost_;
    }
  }
  void flush_() override {}

 private:
  BoundedFile file_;
  const LogFormat format_;
  int64_t lost_ = 0;
};

class SpdlogLog final : public Log {
 public:
  SpdlogLog(spdlog::sink_ptr sink, const LogOptions& options)
      : format_(options.format), logger_("leadline", std::move(sink)) {
    // Lines come complete, with their ends.
    logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%v", spdlog::pattern_time_type::utc, ""));
    logger_.set_level(ToSpdlog(options.level));
    logger_.flush_on(spdlog::level::debug);
    logger_.set_error_handler([](const std::string&) {});
  }

  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) override {
    if (!logger_.should_log(ToSpdlog(level))) return;
    const std::string line = LogLine(format_, std::chrono::system_clock::now(),
                                     level, event, fields);
    logger_.log(ToSpdlog(level), spdlog::string_view_t(line));
  }

 private:
  const LogFormat format_;
  spdlog::logger logger_;
};

}  // namespace

void AddLogFlags(CLI::App& app, LogFlags& flags) {
  app.add_option("--log-format", flags.format,
                 "how log lines look: text or json")
      ->check(flags::OneOf({"text", "json"}))
      ->capture_default_str();
  app.add_option("--log-level", flags.level,
                 "the least level that is logged: debug, info, warning, error")
      ->check(flags::OneOf({"debug", "info", "warning", "error"}))
      ->capture_default_str();
}

LogOptions ToLogOptions(const LogFlags& flags) {
  return {ReadLogFormat(flags.format).value_or(LogFormat::kText),
          ReadLogLevel(flags.level).value_or(LogLevel::kInfo)};
}

absl::StatusOr<std::unique_ptr<Log>> OpenFileLog(
    const std::filesystem::path& path, const LogOptions& options) {
  // Opening a pipe would wait for a reader, and a device is not moved aside.
  std::error_code error;
  if (std::filesystem::exists(path, error) &&
      !std::filesystem::is_regular_file(path, error)) {
    return WithError(absl::FailedPreconditionError(
                         "cannot write the log " + path.string() +
                         ": it is there and is no file; choose another name"),
                     ErrorCode::kStateUnusable);
  }
  auto sink = std::make_shared<BoundedFileSink>(path, options.format);
  // A disk that is full costs lines, and no more, at the start as later.
  if (!sink->Open() && !IsNoRoom(errno)) {
    return WithError(
        absl::FailedPreconditionError("cannot write the log " + path.string() +
                                      ": " + std::strerror(errno)),
        ErrorCode::kStateUnusable);
  }
  return std::make_unique<SpdlogLog>(std::move(sink), options);
}

std::unique_ptr<Log> OpenStandardErrorLog(const LogOptions& options) {
  return std::make_unique<SpdlogLog>(
      std::make_shared<spdlog::sinks::stderr_sink_mt>(), options);
}

}  // namespace leadline
