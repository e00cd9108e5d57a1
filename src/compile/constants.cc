#include "compile/constants.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "artifact/artifact.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "base/status.h"
#include "codegen/host_code.h"
#include "compile/kernels.h"

namespace attune {
namespace {

// The preparations of a plan as code for this machine.
class Preparations {
 public:
  static absl::StatusOr<Preparations> Compile(const NetworkPlan& plan, int threads) {
    Preparations result;
    if (plan.preparations.empty()) return result;
    ASSIGN_OR_RETURN(const Target host, HostTarget());
    std::vector<KernelJob> jobs;
    for (const LoopNest& preparation : plan.preparations) jobs.push_back({&preparation, {}});
    ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels, CompileKernels(jobs, host, threads));
    std::vector<const std::string*> objects;
    for (const CompiledKernel& kernel : kernels) {
      objects.push_back(&kernel.object);
      result.scratch_bytes_ = std::max(result.scratch_bytes_, kernel.scratch_bytes);
    }
    ASSIGN_OR_RETURN(const LinkedCode code, Link(objects));
    ASSIGN_OR_RETURN(result.code_, HostCode::Map(code));
    for (const LoopNest& preparation : plan.preparations)
      result.functions_.push_back(result.code_->Find(absl::StrCat(preparation.name, ".0")));
    return result;
  }

  // Thread safe; both ends are aligned.
  void Run(int preparation, const Tensor& from, std::byte* to) const {
    void* const buffers[] = {const_cast<std::byte*>(from.data()), to};
    Tensor scratch(DType::kU8, {scratch_bytes_});
    functions_[static_cast<size_t>(preparation)](buffers, nullptr, scratch.mutable_data(), 0, 1);
  }

 private:
  std::optional<HostCode> code_;
  std::vector<PhaseFunction> functions_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace

absl::StatusOr<ConstantSection> BuildConstants(const NetworkPlan& plan, int threads) {
  ConstantSection section;
  section.offsets.assign(plan.storages.size(), 0);
  uint64_t size = 0;
  std::vector<size_t> constants;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    if (!plan.storages[i].constant) continue;
    section.offsets[i] = size;
    section.sizes.push_back(static_cast<uint64_t>(plan.storages[i].bytes));
    size += static_cast<uint64_t>(RoundUp(plan.storages[i].bytes, static_cast<int64_t>(kConstantPadding)));
    constants.push_back(i);
  }
  // Preparations write whole vectors to aligned addresses: the section's own start is aligned too.
  section.bytes.resize(size + kTensorAlignment);
  const auto misaligned = reinterpret_cast<uintptr_t>(section.bytes.data()) % kTensorAlignment;
  std::byte* const base = section.bytes.data() + (misaligned == 0 ? 0 : kTensorAlignment - misaligned);

  ASSIGN_OR_RETURN(const Preparations preparations, Preparations::Compile(plan, threads));
  const auto write = [&](int64_t i) {
    const size_t constant = constants[static_cast<size_t>(i)];
    const Storage& storage = plan.storages[constant];
    std::byte* const to = base + section.offsets[constant];
    if (storage.preparation >= 0) {
      preparations.Run(storage.preparation, *storage.constant, to);
    } else if (storage.bytes > 0) {
      std::memcpy(to, storage.constant->data(), static_cast<size_t>(storage.bytes));
    }
  };
  ParallelFor(std::ssize(constants), write, threads);
  if (base != section.bytes.data()) std::memmove(section.bytes.data(), base, size);
  section.bytes.resize(size);
  return section;
}

}  // namespace attune
