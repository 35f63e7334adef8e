// Where ranks find each other: what a rank says of itself, and the address of
// this machine that others reach.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace leadline::agent {

/// HOST:PORT as the rank of that folder wrote it to the file `address`; null
/// while there is none, or it is none.
std::optional<std::string> ReadAddress(const std::filesystem::path& folder);

/// The address of this machine from which it reaches that coordinator, in
/// numbers: what others can reach too. 127.0.0.1 where it is on this machine,
/// or cannot be told.
std::string AddressTowards(std::string_view coordinator);

}  // namespace leadline::agent
