#include "tests/unit/worker/collective/ring_world.h"

#include <algorithm>
#include <future>

#include "worker/collective/ring/mesh.h"

namespace leadline::collective {

RingWorld::RingWorld(int64_t size) : options_(static_cast<size_t>(size)) {
  for (int64_t rank = 0; rank < size; ++rank) {
    meetings_.push_back(std::make_unique<Meeting>("127.0.0.1:0"));
    addresses_.push_back(meetings_.back()->address());
    MeetingOptions& options = options_[static_cast<size_t>(rank)];
    options.introduction = {.size = size,
                            .rank = rank,
                            .settings_hash = "settings-a",
                            .data_hash = "data-a"};
    options.secret = "0123456789abcdef";
    options.limit = std::chrono::milliseconds(20'000);
  }
}

std::vector<std::unique_ptr<Ring>> RingWorld::Join(
    const std::vector<int64_t>& absent) {
  std::vector<std::unique_ptr<Ring>> rings(meetings_.size());
  errors_ = OnAllRanks(rings.size(), [&](int64_t rank) {
    if (std::ranges::count(absent, rank) > 0) return;
    rings[static_cast<size_t>(rank)] =
        meetings_[static_cast<size_t>(rank)]->Join(
            addresses_, options_[static_cast<size_t>(rank)]);
  });
  return rings;
}

RingOfOne::RingOfOne() {
  using boost::asio::ip::tcp;
  auto mesh = std::make_unique<Mesh>();
  mesh->io = std::make_unique<boost::asio::io_context>();
  const auto loopback = boost::asio::ip::make_address("127.0.0.1");
  tcp::acceptor acceptor(*mesh->io, tcp::endpoint(loopback, 0));
  other_.connect(acceptor.local_endpoint());
  mesh->sockets.resize(2);
  mesh->sockets[1] = std::make_unique<tcp::socket>(acceptor.accept());
  acceptor.close();
  ring_ = std::make_unique<Ring>(std::move(mesh),
                                 RingOptions{.rank = 0, .size = 2});
}

std::vector<std::string> OnAllRanks(
    size_t size, const std::function<void(int64_t rank)>& act) {
  std::vector<std::future<std::string>> ranks;
  for (size_t rank = 0; rank < size; ++rank) {
    ranks.push_back(std::async(std::launch::async, [&, rank]() -> std::string {
      try {
        act(static_cast<int64_t>(rank));
      } catch (const std::exception& error) {
        return error.what();
      }
      return {};
    }));
  }
  std::vector<std::string> errors;
  for (auto& rank : ranks) errors.push_back(rank.get());
  return errors;
}

}  // namespace leadline::collective
