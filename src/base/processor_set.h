// The set of processors that a thread may run on.
//
// Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_PROCESSOR_SET_H_
#define ATTUNE_BASE_PROCESSOR_SET_H_

#include <sched.h>

#include <array>
#include <cstddef>
#include <span>

namespace attune {

// Numbers of processors are smaller than this; it is the largest value that Linux can be built for.
inline constexpr int kMaxProcessors = 8192;

// A cpu_set_t with room for all processors, not only 1024.
class ProcessorSet {
 public:
  ProcessorSet() { CPU_ZERO_S(sizeof(sets_), sets_.data()); }
  explicit ProcessorSet(std::span<const int> processors) : ProcessorSet() {
    for (const int processor : processors) Add(processor);
  }
  // Empty if the system does not say.
  static ProcessorSet OfThisThread() {
    ProcessorSet set;
    if (sched_getaffinity(0, sizeof(set.sets_), set.sets_.data()) != 0) return {};
    return set;
  }
  // Returns false, and has no effect, if the system does not allow it.
  bool GiveToThisThread() const { return GiveTo(0); }
  // The same for a thread of any process, by its number.
  bool GiveTo(pid_t thread) const { return sched_setaffinity(thread, sizeof(sets_), sets_.data()) == 0; }

  bool operator==(const ProcessorSet& other) const {
    return CPU_EQUAL_S(sizeof(sets_), sets_.data(), other.sets_.data());
  }
  void Add(int processor) { CPU_SET_S(static_cast<size_t>(processor), sizeof(sets_), sets_.data()); }
  void Add(const ProcessorSet& other) {
    CPU_OR_S(sizeof(sets_), sets_.data(), sets_.data(), other.sets_.data());
  }
  int count() const { return CPU_COUNT_S(sizeof(sets_), sets_.data()); }
  bool Has(int processor) const {
    return CPU_ISSET_S(static_cast<size_t>(processor), sizeof(sets_), sets_.data());
  }

 private:
  std::array<cpu_set_t, kMaxProcessors / CPU_SETSIZE> sets_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESSOR_SET_H_
