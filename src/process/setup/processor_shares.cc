#include "process/setup/processor_shares.h"

#include <algorithm>
#include <map>

namespace attune {

ProcessorShares ShareProcessors(std::span<const Processor> processors) {
  std::map<int, std::vector<int>> cores;
  for (const Processor& processor : processors) cores[processor.core].push_back(processor.number);
  const size_t computing = std::max<size_t>(cores.size() / 4, 1);
  ProcessorShares shares;
  size_t left = cores.size();
  for (const auto& [core, numbers] : cores) {
    const bool is_only_one = cores.size() == 1;
    if (left > computing || is_only_one)
      shares.measuring.insert(shares.measuring.end(), numbers.begin(), numbers.end());
    if (left <= computing || is_only_one)
      shares.computing.insert(shares.computing.end(), numbers.begin(), numbers.end());
    --left;
  }
  std::ranges::sort(shares.measuring);
  std::ranges::sort(shares.computing);
  return shares;
}

ProcessorShares ShareThisMachine() {
  std::vector<Processor> processors = ReadTopology("/sys/devices/system/cpu");
  const std::vector<int> allowed = AllowedProcessors();
  std::erase_if(processors, [&](const Processor& processor) {
    return std::ranges::find(allowed, processor.number) == allowed.end();
  });
  return ShareProcessors(processors);
}

}  // namespace attune
