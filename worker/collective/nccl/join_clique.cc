#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "worker/collective/nccl/clique.h"
#include "worker/collective/ring/collective_error.h"

namespace leadline::collective::nccl {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// What rank 0 tells the others: where it waits, and its version.
struct Invitation {
  UniqueId id;
  std::array<unsigned char, 4> version{};  // the first byte is the lowest
};
static_assert(sizeof(Invitation) == 132);

int VersionOf(const Invitation& invitation) {
  int version = 0;
  for (size_t i = 0; i < invitation.version.size(); ++i) {
    version |= invitation.version[i] << (8 * i);
  }
  return version;
}

Invitation Invite(const Library& library) {
  Invitation invitation;
  const Result result = library.functions().get_unique_id(&invitation.id);
  if (result != Result::kSuccess) {
    throw SetUpError("NCCL was not set up: " + library.Explain(result));
  }
  for (size_t i = 0; i < invitation.version.size(); ++i) {
    invitation.version[i] =
        static_cast<unsigned char>(library.version() >> (8 * i) & 0xff);
  }
  return invitation;
}

void Share(Ring& ring, const std::shared_ptr<Invitation>& invitation,
           milliseconds limit) {
  ring.Wait(ring.Start(
      {.task = Task::kCopy,
       .element = Element::kByte,
       .root = 0,
       .values = std::as_writable_bytes(std::span(invitation.get(), 1)),
       .keep = invitation,
       .limit = limit}));
}

void CompareVersions(const Invitation& invitation, const Library& library,
                     int64_t rank) {
  const int theirs = VersionOf(invitation);
  if (theirs == library.version()) return;
  throw SetUpError("rank 0 has NCCL " + VersionText(theirs) + ", rank " +
                   std::to_string(rank) + " has " +
                   VersionText(library.version()));
}

void Join(Ring& ring, const std::string& name,
          std::shared_ptr<DeviceQueue> queue, const CliqueOptions& options,
          std::unique_ptr<Clique>& clique) {
  const auto deadline = steady_clock::now() + options.set_up_limit;
  const auto left = [&] {
    return std::max(
        std::chrono::ceil<milliseconds>(deadline - steady_clock::now()),
        milliseconds(1));
  };
  const auto library = std::make_shared<const Library>(name);
  const auto invitation = std::make_shared<Invitation>();
  if (options.rank == 0) *invitation = Invite(*library);
  Share(ring, invitation, left());
  CompareVersions(*invitation, *library, options.rank);
  clique = std::make_unique<Clique>(ring, library, std::move(queue), options);
  clique->Join(invitation->id);
  ring.Wait(ring.Start({.task = Task::kMeet, .limit = left()}));
}

}  // namespace

std::unique_ptr<Clique> JoinClique(Ring& ring, const std::string& library,
                                   std::shared_ptr<DeviceQueue> queue,
                                   const CliqueOptions& options) {
  // The others are told before it is taken leave of, which may take its time.
  std::unique_ptr<Clique> clique;
  try {
    Join(ring, library, std::move(queue), options, clique);
  } catch (const OperationError& error) {
    throw SetUpError(std::string("NCCL was not set up: ") + error.what());
  } catch (const std::exception& error) {
    ring.Abort(error.what());
    throw;
  } catch (...) {
    ring.Abort("it was told to stop");
    throw;
  }
  return clique;
}

}  // namespace leadline::collective::nccl
