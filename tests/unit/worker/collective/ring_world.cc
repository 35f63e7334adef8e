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

namespace {

using boost::asio::ip::tcp;

/// Two ends of one connection.
void Connect(tcp::socket& one, tcp::socket& other) {
  const tcp::endpoint loopback(boost::asio::ip::make_address("127.0.0.1"), 0);
  tcp::acceptor acceptor(one.get_executor(), loopback);
  other.connect(acceptor.local_endpoint());
  acceptor.accept(one);
}

std::unique_ptr<Mesh> UnlinkedMesh(size_t size) {
  auto mesh = std::make_unique<Mesh>();
  mesh->io = std::make_unique<boost::asio::io_context>();
  mesh->sockets.resize(size);
  return mesh;
}

}  // namespace

std::vector<std::unique_ptr<Ring>> LinkedRings(int64_t size) {
  const auto count = static_cast<size_t>(size);
  std::vector<std::unique_ptr<Mesh>> meshes;
  for (size_t i = 0; i < count; ++i) meshes.push_back(UnlinkedMesh(count));
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      meshes[i]->sockets[k] = std::make_unique<tcp::socket>(*meshes[i]->io);
      meshes[k]->sockets[i] = std::make_unique<tcp::socket>(*meshes[k]->io);
      Connect(*meshes[i]->sockets[k], *meshes[k]->sockets[i]);
    }
  }
  std::vector<std::unique_ptr<Ring>> rings;
  for (int64_t rank = 0; rank < size; ++rank) {
    rings.push_back(
        std::make_unique<Ring>(std::move(meshes[static_cast<size_t>(rank)]),
                               RingOptions{.rank = rank, .size = size}));
  }
  return rings;
}

RingOfOne::RingOfOne() {
  auto mesh = UnlinkedMesh(2);
  mesh->sockets[1] = std::make_unique<tcp::socket>(*mesh->io);
  Connect(*mesh->sockets[1], other_);
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
