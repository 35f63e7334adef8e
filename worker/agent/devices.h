// The devices an agent holds, and which of them are taken.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace leadline::agent {

/// What a trainer's configuration calls a slot of the CPU.
inline constexpr char kCpuDevice[] = "cpu";

/// One slot of CPU threads, or a GPU.
struct HeldDevice {
  std::string id;    // "cpu:0"; a GPU's UUID
  std::string type;  // "cpu", "NVIDIA H200"
  int64_t memory_bytes = 0;
  std::string trainer_name;  // what a trainer's configuration calls it: "cpu"
};

/// `slots` CPU slots that share the machine's memory.
std::vector<HeldDevice> CpuSlots(int64_t slots);

/// One slot a core this process may run on.
int64_t CountCores();

/// The devices of those ids in that order, none twice; empty if any is unknown
/// or doubled, or if they are of different types.
std::vector<const HeldDevice*> SelectDevices(
    std::span<const HeldDevice> devices, std::span<const std::string> ids);

}  // namespace leadline::agent
