// Schedules kernels at random: any strategy that applies, with any of its configs.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CHOOSER_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CHOOSER_H_

#include <cstdint>
#include <string>

#include "plan/chooser.h"

namespace attune::graph_fuzz {

class RandomChooser : public KernelChooser {
 public:
  explicit RandomChooser(uint64_t seed) : seed_(seed) {}

  // Makes the same choice for the same task. Configs that cannot be scheduled, which tuning also meets and
  // leaves out, are drawn again.
  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                      const Target& target) const override;
  double SecondsOf(const std::string&) const override { return 0; }

 private:
  uint64_t seed_;
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CHOOSER_H_
