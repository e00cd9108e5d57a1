#include "fleet/host/stays_off_lease.h"

#include <algorithm>
#include <set>
#include <variant>

namespace attune {

std::vector<int> ProcessorsBeside(const DeviceInfo& device, const std::vector<int>& timed) {
  const auto is_timed = [&](int number) { return std::ranges::find(timed, number) != timed.end(); };
  std::set<int> timed_cores;
  for (const Processor& processor : device.processors) {
    if (is_timed(processor.number)) timed_cores.insert(processor.core);
  }
  std::vector<int> others, of_other_cores;
  for (const Processor& processor : device.processors) {
    const bool is_usable = std::ranges::binary_search(device.usable, processor.number);
    if (!is_usable || is_timed(processor.number)) continue;
    others.push_back(processor.number);
    if (!timed_cores.contains(processor.core)) of_other_cores.push_back(processor.number);
  }
  if (!of_other_cores.empty()) return of_other_cores;
  return others.empty() ? device.usable : others;
}

void StaysOffLease::Observe(const HostEvent& event) {
  if (const auto* leased = std::get_if<HostLeased>(&event); leased != nullptr && leased->is_exclusive) {
    pin_(ProcessorsBeside(device_, leased->processors));
    is_away_ = true;
  } else if (is_away_ &&
             (std::holds_alternative<HostBatchOver>(event) || std::holds_alternative<HostLost>(event))) {
    pin_(device_.usable);
    is_away_ = false;
  }
}

}  // namespace attune
