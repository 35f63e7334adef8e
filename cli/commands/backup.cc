#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/descriptor.h"
#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/stream.h"
#include "cli/wire_status.h"
#include "common/human_number.h"
#include "common/sha256.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

// The coordinator makes all of the copy before it sends any.
constexpr std::chrono::seconds kToMake{3600};
constexpr std::chrono::seconds kBetweenPieces{60};

struct Options {
  std::string file;
  bool force = false;
};

absl::Status Refused(const std::string& what, const fs::path& path) {
  return At(absl::FailedPreconditionError(fmt::format(
                "{} {}: {}", what, path.string(), std::strerror(errno))),
            path.string());
}

/// A file under a name of its own until all of it is there and on disk.
class Download {
 public:
  static absl::StatusOr<Download> Open(const fs::path& target) {
    Download download;
    download.path_ = target.string() + ".unfinished";
    download.file_ = Descriptor(
        open(download.path_.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (download.file_.is_open()) return download;
    return Refused("cannot write", download.path_);
  }
  Download(Download&&) = default;
  ~Download() {
    if (file_.is_open()) unlink(path_.c_str());
  }

  absl::Status Take(const v1::BackupPart& part) {
    if (part.has_header()) header_ = part.header();
    if (part.has_end()) sha256_ = part.end().sha256();
    const std::string& data = part.data();
    hash_.Add(data);
    bytes_ += static_cast<int64_t>(data.size());
    for (size_t done = 0; done < data.size();) {
      const ssize_t size =
          write(file_.number(), data.data() + done, data.size() - done);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return Refused("cannot write", path_);
      done += static_cast<size_t>(size);
    }
    return absl::OkStatus();
  }

  absl::Status Keep(const fs::path& target, bool force) {
    if (bytes_ != header_.bytes() || hash_.Finish() != sha256_) {
      return absl::DataLossError("the copy did not arrive whole; try again");
    }
    if (fsync(file_.number()) != 0) return Refused("cannot write", path_);
    const unsigned flags = force ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), flags) !=
        0) {
      return Refused("cannot make", target);
    }
    file_ = Descriptor();
    const fs::path folder =
        target.has_parent_path() ? target.parent_path() : fs::path(".");
    const Descriptor open_folder(
        open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (open_folder.is_open()) fsync(open_folder.number());
    return absl::OkStatus();
  }

  const v1::BackupHeader& header() const { return header_; }
  const std::string& sha256() const { return sha256_; }

 private:
  Download() = default;

  fs::path path_;
  Descriptor file_;
  Sha256 hash_;
  int64_t bytes_ = 0;
  v1::BackupHeader header_;
  std::string sha256_;
};

Json BackupJson(const Options& options, const Download& download) {
  Json rows = Json::object();
  for (const auto& [table, count] : download.header().rows()) {
    rows[table] = count;
  }
  return {{"file", options.file},
          {"bytes", download.header().bytes()},
          {"schema", download.header().schema()},
          {"sha256", download.sha256()},
          {"rows", rows}};
}

absl::Status Receive(Connection& connection, Download& download) {
  using Clock = Stream<v1::BackupPart>::Clock;
  const v1::BackupRequest request;
  Stream<v1::BackupPart> stream([&](grpc::ClientContext* call, auto* reactor) {
    connection.sweeps().async()->Backup(call, &request, reactor);
  });
  auto patience = kToMake;
  v1::BackupPart part;
  while (true) {
    switch (stream.Next(&part, Clock::now() + patience)) {
      case StreamEvent::kMessage:
        patience = kBetweenPieces;
        if (absl::Status took = download.Take(part); !took.ok()) return took;
        break;
      case StreamEvent::kTimeout:
        return FromGrpc({grpc::StatusCode::DEADLINE_EXCEEDED, ""},
                        connection.address());
      case StreamEvent::kEnd:
        return connection.Failure(stream.status());
    }
  }
}

/// Looked at before anything is asked for: a copy may take long.
absl::Status CheckTarget(const Options& options) {
  std::error_code error;
  const fs::file_type type = fs::status(options.file, error).type();
  std::string why;
  if (type == fs::file_type::directory) {
    why = options.file + " is a folder; name a file in it";
  } else if (fs::exists(fs::file_status(type)) &&
             type != fs::file_type::regular) {
    why = options.file + " is no file that a backup could replace";
  } else if (type == fs::file_type::regular && !options.force) {
    why = "there is a file " + options.file +
          " already; choose another name, or --force replaces it";
  }
  if (why.empty()) return absl::OkStatus();
  return At(absl::FailedPreconditionError(why), options.file);
}

absl::Status Backup(Context& context, const Options& options) {
  const absl::Status target = CheckTarget(options);
  if (!target.ok()) return target;
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  auto download = Download::Open(options.file);
  if (!download.ok()) return download.status();
  absl::Status read = Receive(**connection, *download);
  if (!read.ok()) return read;
  absl::Status kept = download->Keep(options.file, options.force);
  if (!kept.ok()) return kept;
  if (context.output.json()) {
    context.output.PrintJson(BackupJson(options, *download));
  }
  const auto& rows = download->header().rows();
  const auto count = [&rows](const char* table) {
    const auto found = rows.find(table);
    return found == rows.end() ? int64_t{0} : found->second;
  };
  context.output.Print(fmt::format(
      "{}: {}, {}, {}, {}; looked through and counted\n",
      context.output.out().Clean(options.file),
      HumanBytes(download->header().bytes()), Counted(count("sweep"), "sweep"),
      Counted(count("trial"), "trial"), Counted(count("points"), "point")));
  return absl::OkStatus();
}

}  // namespace

Command BackupCommand() {
  return {
      "backup", "copy the database, while it is used, to a file here",
      "  leadline backup 2026-11-30.db\n"
      "  leadline --coordinator host:7070 backup mine.db --force\n"
      "\n"
      "The copy is of one moment. The coordinator, private or elsewhere, "
      "makes and checks\nit in its state folder and sends it; it lies under "
      "its name only once all of it\nis here and on disk. leadline restore "
      "puts it back.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("file", options->file, "to write")
            ->option_text("FILE")
            ->required();
        app.add_flag("--force", options->force,
                     "replace the file if there is one");
        return
            [options](Context& context) { return Backup(context, *options); };
      }};
}

}  // namespace leadline::cli
