#include "fault_maker.h"

#include <chrono>

namespace leadline::simulation {
namespace {

/// Some say so, some only what threw, some are killed for it.
void RunsShort(const Fault& fault, SimProcess& trainer) {
  if (fault.detail % 3 == 0) {
    trainer.Break("oom", "another took the memory");
  } else if (fault.detail % 3 == 1) {
    trainer.Break("crash", "std::bad_alloc");
  } else {
    trainer.KillForMemory(fault.detail % 2 == 0);
  }
}

bool HappensToTrainer(const Fault& fault,
                      const std::shared_ptr<SimProcess>& trainer) {
  if (!trainer) return false;
  if (fault.kind == FaultKind::kKillTrainer) trainer->Signal(9);
  if (fault.kind == FaultKind::kStallTrainer) {
    trainer->Stall(Seconds(fault.lasts_s));
  }
  if (fault.kind == FaultKind::kBreakTrainer) {
    // Some only measure what cannot be stored.
    fault.detail % 2 == 0 ? trainer->Poison()
                          : trainer->Break("crash", "broke down");
  }
  if (fault.kind == FaultKind::kFaultyDevice) {
    trainer->Break("device", "the device fell off its bus");
  }
  if (fault.kind == FaultKind::kShortMemory) RunsShort(fault, *trainer);
  return true;
}

}  // namespace

/// What the coordinator says takes longer and longer, then nothing passes.
void FaultMaker::FadeLink(const Fault& fault, Duration time) {
  around_.network.Begin(Network::Trouble::kFading, fault.node, time);
  around_.clockwork.After(time, [this, fault] {
    around_.network.Begin(Network::Trouble::kCut, fault.node,
                          Seconds(static_cast<double>(fault.detail) / 10));
    coordinator_.CutWiresOf(fault.node);
  });
}

bool FaultMaker::Happens(const Fault& fault) {
  around_.log.Write(LogLevel::kInfo, "FAULT", {{"what", ToText(fault)}});
  switch (fault.kind) {
    case FaultKind::kCutLink:
    case FaultKind::kSlowLink:
    case FaultKind::kDoubledMessages:
    case FaultKind::kSwappedMessages:
      return HappensToLink(fault);
    case FaultKind::kCrashCoordinator:
    case FaultKind::kStallCoordinator:
    case FaultKind::kFullStore:
    case FaultKind::kWallJump:
      return HappensToCoordinator(fault);
    case FaultKind::kCrashAgent:
    case FaultKind::kStallAgent:
    case FaultKind::kRebootNode:
    case FaultKind::kFullNode:
    case FaultKind::kSickNode:
    case FaultKind::kLostData:
      return HappensToNode(fault);
    case FaultKind::kKillTrainer:
    case FaultKind::kStallTrainer:
    case FaultKind::kBreakTrainer:
    case FaultKind::kFaultyDevice:
    case FaultKind::kShortMemory:
      return HappensToTrainer(fault, NodeOf(fault).Trainer(fault.detail));
    case FaultKind::kCancelSweep:
    case FaultKind::kPauseSweep:
    case FaultKind::kStopSweep:
    case FaultKind::kCancelAndRetry:
    case FaultKind::kRetrySweep:
    case FaultKind::kRemoveSweep:
      return PeopleDo(fault);
  }
  return false;
}

SimNode& FaultMaker::NodeOf(const Fault& fault) const {
  return *nodes_[static_cast<size_t>(fault.node)];
}

bool FaultMaker::HappensToLink(const Fault& fault) {
  using Trouble = Network::Trouble;
  const Duration time = Seconds(fault.lasts_s);
  if (fault.kind == FaultKind::kCutLink) {
    around_.network.Begin(Trouble::kCut, fault.node, time);
    coordinator_.CutWiresOf(fault.node);
  } else if (fault.kind == FaultKind::kDoubledMessages) {
    around_.network.Begin(Trouble::kDoubled, fault.node, time);
  } else if (fault.kind == FaultKind::kSwappedMessages) {
    around_.network.Begin(Trouble::kSwapped, fault.node, time);
  } else if (fault.detail % 2 == 0) {
    FadeLink(fault, time);
  } else {
    around_.network.Begin(Trouble::kSlow, fault.node, time);
  }
  return true;
}

bool FaultMaker::HappensToCoordinator(const Fault& fault) {
  const Duration time = Seconds(fault.lasts_s);
  if (fault.kind == FaultKind::kCrashCoordinator) {
    if (!coordinator_.IsUp()) return false;
    store_.kill_in = fault.detail % 8;
    store_.kill_after = fault.detail / 8 % 2 == 0;
  } else if (fault.kind == FaultKind::kStallCoordinator) {
    coordinator_.StallProcess(time);
    return coordinator_.IsUp();
  } else if (fault.kind == FaultKind::kFullStore) {
    store_.is_full = true;
    around_.clockwork.After(time, [this] { store_.is_full = false; });
  } else {
    coordinator_.JumpWall(std::chrono::seconds(fault.detail * 20 - 10'000));
  }
  return true;
}

bool FaultMaker::HappensToNode(const Fault& fault) {
  SimNode& node = NodeOf(fault);
  const Duration time = Seconds(fault.lasts_s);
  if (fault.kind == FaultKind::kCrashAgent) {
    // Some are told to end, as when a machine is serviced.
    fault.detail % 4 == 0 ? node.StopAgent() : node.CrashAgent();
  }
  if (fault.kind == FaultKind::kStallAgent) node.StallAgent(time);
  if (fault.kind == FaultKind::kRebootNode) node.Reboot();
  if (fault.kind == FaultKind::kFullNode) node.FillDisk(time);
  if (fault.kind == FaultKind::kSickNode) node.Sicken(time);
  if (fault.kind == FaultKind::kLostData) node.LoseData(time);
  return true;
}

bool FaultMaker::PeopleDo(const Fault& fault) {
  const SweepId sweep{1 + fault.detail % sweeps_};
  const Duration time = Seconds(fault.lasts_s);
  if (fault.kind == FaultKind::kCancelSweep) {
    return people_.Cancel(fault.detail % sweeps_);
  }
  if (fault.kind == FaultKind::kCancelAndRetry) {
    people_.CancelAndRetry(sweep, fault.detail / 8, time / 4);
  } else if (fault.kind == FaultKind::kRemoveSweep) {
    people_.Remove(sweep);
  } else if (fault.kind == FaultKind::kRetrySweep) {
    people_.Retry(sweep, fault.detail % 2 == 0);
  } else {
    people_.PauseAndResume(sweep, fault.kind == FaultKind::kStopSweep, time);
  }
  return true;
}

}  // namespace leadline::simulation
