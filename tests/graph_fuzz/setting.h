// One way to compile and run a graph, out of the many that must agree.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_SETTING_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_SETTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "opt/pass_plan.h"
#include "target/target.h"

namespace attune::graph_fuzz {

struct Setting {
  // A processor for --cpu, or "wide": vectors and strategies of AVX-512 in instructions of AVX2, which run
  // anywhere; or "tiles": the same with the software model of a matrix unit.
  std::string cpu;
  PassPlan plan;
  int threads = 1;
  enum class Precision : uint8_t { kF32, kBF16, kF16Weights, kInt8, kBF16x3 } precision = Precision::kF32;
  bool compact = false;    // constants are compressed
  bool shared = false;     // compiled for x86-64-v3 too: constants are shared, and prepacked when loaded
  bool small = false;      // planned for small and slow caches: more is split in blocks and computed together
  bool twice = false;      // compiled twice, to the same bytes, and run twice with other inputs in between
  uint64_t schedules = 0;  // strategies and configs are drawn by this seed; 0: the compiler chooses them
};

// "cpu=znver3 threads=2 precision=int8 compact shared small twice schedules=17": everything but the plan.
std::string ToString(const Setting& setting);
absl::StatusOr<Setting> ParseSetting(std::string_view text);

absl::StatusOr<Target> TargetOf(const Setting& setting);
// Whether this machine runs code for it.
bool RunsHere(const Target& target);

// The settings that a graph is tried with: first a target and a pass plan, then two random ones. Most
// targets run here. `cpu`: the target, unless empty.
std::vector<Setting> DrawSettings(Random& random, const std::string& cpu);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_SETTING_H_
