#include "compile/constants.h"

#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "artifact/artifact.h"
#include "base/checked.h"
#include "base/status.h"
#include "codegen/host_code.h"
#include "compile/kernels.h"

namespace attune {
namespace {

absl::StatusOr<HostCode> CompilePackings(const NetworkPlan& plan, int threads) {
  ASSIGN_OR_RETURN(const Target host, HostTarget());
  std::vector<KernelJob> jobs;
  for (const LoopNest& packing : plan.packings) jobs.push_back({&packing, {}});
  ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels, CompileKernels(jobs, host, threads));
  std::vector<const std::string*> objects;
  for (const CompiledKernel& kernel : kernels) objects.push_back(&kernel.object);
  ASSIGN_OR_RETURN(const LinkedCode code, Link(objects));
  return HostCode::Map(code);
}

}  // namespace

absl::StatusOr<ConstantSection> BuildConstants(const NetworkPlan& plan, int threads) {
  ConstantSection section;
  section.offsets.assign(plan.storages.size(), 0);
  uint64_t size = 0;
  std::vector<size_t> constants;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    if (!plan.storages[i].constant) continue;
    section.offsets[i] = size;
    size += static_cast<uint64_t>(RoundUp(plan.storages[i].bytes, static_cast<int64_t>(kConstantPadding)));
    constants.push_back(i);
  }
  // Packing writes whole vectors to aligned addresses: the section's own start is aligned too.
  section.bytes.resize(size + kTensorAlignment);
  const auto misaligned = reinterpret_cast<uintptr_t>(section.bytes.data()) % kTensorAlignment;
  std::byte* const base = section.bytes.data() + (misaligned == 0 ? 0 : kTensorAlignment - misaligned);

  std::optional<HostCode> code;
  if (!plan.packings.empty()) {
    ASSIGN_OR_RETURN(code, CompilePackings(plan, threads));
  }
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t n = next++; n < constants.size(); n = next++) {
      const Storage& storage = plan.storages[constants[n]];
      std::byte* const to = base + section.offsets[constants[n]];
      if (storage.packing < 0) {
        if (storage.bytes > 0) std::memcpy(to, storage.constant->data(), static_cast<size_t>(storage.bytes));
        continue;
      }
      void* const buffers[] = {const_cast<std::byte*>(storage.constant->data()), to};
      code->Find(absl::StrCat(plan.packings[static_cast<size_t>(storage.packing)].name, ".0"))(
          buffers, nullptr, nullptr, 0, 1);
    }
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (base != section.bytes.data()) std::memmove(section.bytes.data(), base, size);
  section.bytes.resize(size);
  return section;
}

}  // namespace attune
