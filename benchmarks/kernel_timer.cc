#include "kernel_timer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <utility>

#include "base/status.h"

namespace attune {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

absl::StatusOr<LoopNest> LowerPrepared(const ScheduledGroup& group) {
  std::set<std::string> prepared;
  for (const auto& [stage, input] : group.schedule.Prepackings()) prepared.insert(stage);
  return group.schedule.Lower(prepared);
}

absl::StatusOr<TimedKernel> TimedKernel::Compile(const ScheduledGroup& group, const Target& target,
                                                 bool keep_assembly) {
  ASSIGN_OR_RETURN(const LoopNest nest, LowerPrepared(group));
  ASSIGN_OR_RETURN(CompiledKernel kernel,
                   CompileKernel(nest, target, {.may_alias = {}, .keep_text = keep_assembly}));
  ASSIGN_OR_RETURN(const LinkedCode linked, Link({&kernel.object}));
  ASSIGN_OR_RETURN(HostCode code, HostCode::Map(linked));
  return TimedKernel(std::move(kernel), std::move(code), nest);
}

TimedKernel::TimedKernel(CompiledKernel kernel, HostCode code, const LoopNest& nest)
    : kernel_(std::move(kernel)),
      code_(std::move(code)),
      scratch_(std::aligned_alloc(64, static_cast<size_t>(kernel_.scratch_bytes + 63) / 64 * 64 + 64)) {
  for (const LoopNest::Param& param : nest.params) memory_.push_back(Filled(param.buffer));
}

double TimedKernel::BestSeconds(double budget, const std::function<void()>& between) const {
  std::vector<void*> buffers;
  for (const AlignedBytes& bytes : memory_) buffers.push_back(bytes.get());
  double best = std::numeric_limits<double>::infinity();
  const double end = Seconds() + budget;
  do {
    between();
    const double start = Seconds();
    for (const KernelPhase& phase : kernel_.phases)
      code_.Find(phase.symbol)(buffers.data(), nullptr, scratch_.get(), 0, 1);
    best = std::min(best, Seconds() - start);
  } while (Seconds() < end);
  return best;
}

TimedKernel::AlignedBytes TimedKernel::Filled(const Buffer& buffer) {
  const size_t bytes =
      (static_cast<size_t>(buffer->num_elements() * DTypeSize(buffer->dtype)) + 191) / 64 * 64;
  AlignedBytes memory(std::aligned_alloc(64, bytes));
  for (size_t i = 0; i < bytes / 4; ++i)
    static_cast<float*>(memory.get())[i] = 0.01f * static_cast<float>(i % 17);
  return memory;
}

}  // namespace attune
