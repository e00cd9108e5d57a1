#include "random_chooser.h"

#include <utility>
#include <vector>

#include "base/random.h"

namespace attune::graph_fuzz {
namespace {

// FNV-1a: the same on every machine.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace

absl::StatusOr<KernelChoice> RandomChooser::Choose(const Workload& workload, const std::string& task,
                                                   const Target& target) const {
  Random random(HashOf(task) ^ seed_);
  std::vector<const Strategy*> applicable;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.why_not(workload, target).empty()) applicable.push_back(&strategy);
  }
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && !applicable.empty(); ++i) {
    KernelChoice choice;
    choice.strategy = applicable[static_cast<size_t>(random.Integer(0, std::ssize(applicable) - 1))];
    for (const Knob& knob : choice.strategy->space(workload, target)) {
      choice.config[knob.name] =
          knob.values[static_cast<size_t>(random.Integer(0, std::ssize(knob.values) - 1))];
    }
    const auto scheduled = ScheduleBy(*choice.strategy, workload, choice.config, target);
    if (scheduled.ok() && scheduled->schedule.Lower().ok()) return choice;
  }
  return ChooseAnalytically(workload, target);
}

}  // namespace attune::graph_fuzz
