// For tests: targets whose tiles run on any machine.
#ifndef ATTUNE_TARGET_TILES_FOR_TEST_H_
#define ATTUNE_TARGET_TILES_FOR_TEST_H_

#include <gtest/gtest.h>

#include <vector>

#include "device/host.h"
#include "target/target.h"

namespace attune {

// AVX2 with modelled tiles, and where this machine has AVX-512 its own target, with tiles of its own or
// modelled ones.
inline std::vector<Target> TargetsWithTiles() {
  const absl::StatusOr<Target> host = HostTarget();
  EXPECT_TRUE(host.ok()) << host.status();
  std::vector<Target> targets = {WithModelledTiles(*TargetByName("x86-64-v3"))};
  if (host->vector_bits >= 512) targets.push_back(WithModelledTiles(*host));
  return targets;
}

}  // namespace attune

#endif  // ATTUNE_TARGET_TILES_FOR_TEST_H_
