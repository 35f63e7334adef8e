// A whole coordinator in this process, on a store and a Unix socket of its own,
// with the calls a test makes.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coordinator/coordinator.h"
#include "leadline/v1/results_service.grpc.pb.h"
#include "leadline/v1/sweep_service.grpc.pb.h"
#include "storage/open.h"

namespace leadline {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "leadline-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr char kSmallSweep[] =
    "leadline: 1\n"
    "name: small\n"
    "seeds: 2\n"
    "settings: {d_model: 32, n_heads: 2, steps: 10}\n"
    "axes:\n"
    "  depth: [1, 2]\n"
    "  dataset: [iid27]\n"
    "  method: [prenorm]\n";

enum class Record { kInMemory, kInAFile };

class CoordinatorWorld {
 public:
  explicit CoordinatorWorld(bool is_private = false,
                            Record record = Record::kInMemory) {
    if (record == Record::kInAFile) {
      stores_ =
          storage::OpenSqliteStore(folder_.path() / "leadline.db").value();
    }
    CoordinatorOptions options;
    options.config.state = folder_.path();
    options.config.address.is_unix = true;
    options.config.address.path = (folder_.path() / "socket").string();
    options.config.is_private = is_private;
    options.config.http.emplace().host = "127.0.0.1";
    options.version = "test";
    options.agent = folder_.path() / "no-such-agent";
    auto started = Coordinator::Start(std::move(options), stores_, log_);
    EXPECT_TRUE(started.ok()) << started.status();
    coordinator_ = *std::move(started);
  }

  std::shared_ptr<grpc::Channel> Channel() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(coordinator_->address().ToText(),
                                     grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  std::unique_ptr<v1::SweepService::Stub> Sweeps() {
    return v1::SweepService::NewStub(Channel());
  }

  v1::SubmitRequest Request(const std::string& text,
                            const std::string& id = "r1") {
    v1::SubmitRequest request;
    request.set_text(text);
    request.set_file("sweep.yaml");
    request.set_base_folder(folder_.path().string());
    request.set_request_id(id);
    return request;
  }

  grpc::Status Submit(const v1::SubmitRequest& request,
                      v1::SubmitReply* reply) {
    grpc::ClientContext context;
    return Sweeps()->Submit(&context, request, reply);
  }

  /// Follows a sweep to its end; all that was said on the way.
  std::vector<v1::Progress> Follow(const std::string& sweep) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(60));
    v1::WatchRequest request;
    request.set_sweep(sweep);
    const auto stub = Sweeps();
    const auto stream = stub->Watch(&context, request);
    std::vector<v1::Progress> all;
    v1::Progress progress;
    while (stream->Read(&progress)) all.push_back(progress);
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return all;
  }

  Coordinator& coordinator() { return *coordinator_; }
  const storage::StoreReader& reader() { return *stores_.reader; }
  const storage::StorePair& stores() { return stores_; }
  const std::filesystem::path& folder() { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  NoLog log_;
  storage::StorePair stores_ = storage::MakeMemoryStore();
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace leadline
