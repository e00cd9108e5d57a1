#include "measure/task_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "device/host.h"
#include "target/target.h"

namespace attune {
namespace {

constexpr int64_t kMostCopies = int64_t{1} << 16;
// In so many places of memory, about, batches run by turns, as long as that takes no more memory than this.
constexpr int64_t kMostPlacements = 8, kMovedBytes = int64_t{64} << 20;
constexpr int64_t kUnknownCacheBytes = int64_t{64} << 20;  // more than most have

Failure DoesNotFit() { return {TrialOutcome::kRetry, "the kernel is not for this task"}; }

int64_t LastLevelBytes() {
  const auto host = HostTarget();
  const int64_t bytes = host.ok() ? std::max(host->l2_bytes, host->l3_bytes) : 0;
  return bytes > 0 ? bytes : kUnknownCacheBytes;
}

}  // namespace

std::optional<Failure> TaskKernel::MakeBuffers(const KernelCode& code, bool is_preparation,
                                               KernelSetup* setup) const {
  setup->code = &code;
  setup->execution_seconds_limit = options_.execution_seconds_limit;
  // A backstop: the runner's clock comes first.
  setup->cpu_seconds_limit =
      (100 * options_.seconds_limit + 10 * options_.execution_seconds_limit + 60) * options_.threads;
  for (const KernelParam& param : code.params) {
    const auto index = static_cast<size_t>(param.index);
    KernelBuffer buffer;
    buffer.bytes = param.bytes;
    buffer.is_float = IsFloat(param.dtype);
    std::string name = absl::StrCat("input ", index);
    if (param.kind == ParamKind::kInput) {
      if (index >= data_.inputs().size()) return DoesNotFit();
      const TaskData::Input& input = data_.inputs()[index];
      buffer.use = input.is_constant ? BufferUse::kConstant : BufferUse::kInput;
      buffer.content = input.bytes;
    } else if (param.kind == ParamKind::kPrepared) {
      if (index >= prepared_.size()) return DoesNotFit();
      buffer.use = BufferUse::kConstant;
      buffer.content = prepared_[index];
      name = absl::StrCat("prepared constant ", index);
    } else if (param.kind == ParamKind::kOutput) {
      const bool fits =
          is_preparation || (index < data_.outputs().size() && data_.outputs()[index].dtype == param.dtype &&
                             static_cast<int64_t>(data_.outputs()[index].value.size()) == param.bytes);
      if (!fits) return DoesNotFit();
      buffer.use = BufferUse::kOutput;
      name = absl::StrCat("output ", index);
    } else {
      buffer.use = BufferUse::kWorkspace;
      name = "a workspace";
    }
    const bool is_read = param.kind == ParamKind::kInput || param.kind == ParamKind::kPrepared;
    if (is_read && static_cast<int64_t>(buffer.content.size()) != param.bytes) return DoesNotFit();
    setup->buffers.push_back(buffer);
    setup->names.push_back(std::move(name));
  }
  return CheckMemory(*setup);
}

std::optional<Failure> TaskKernel::CheckMemory(const KernelSetup& setup) const {
  int64_t prepared = 0;
  for (const std::vector<std::byte>& one : prepared_) prepared += std::ssize(one);
  const int64_t kernel = MemoryBytes(setup.buffers, setup.code->scratch_bytes, options_.threads);
  const int64_t bytes = CheckedAdd(kernel, prepared).value_or(INT64_MAX);
  if (bytes <= options_.memory_bytes_limit) return std::nullopt;
  return Failure{TrialOutcome::kOutOfMemory, absl::StrCat("needs ", bytes >> 20, " MiB, the limit is ",
                                                          options_.memory_bytes_limit >> 20, " MiB")};
}

std::optional<Failure> TaskKernel::Prepare() {
  for (size_t i = 0; i < kernel_.preparations.size(); ++i) {
    const auto annotate = [&](Failure failure) {
      failure.reason = absl::StrCat("preparation ", i, ": ", failure.reason);
      return failure;
    };
    KernelSetup setup;
    Failure failure;
    if (auto failed = MakeBuffers(kernel_.preparations[i], true, &setup)) return annotate(*failed);
    const std::unique_ptr<KernelProcess> process = KernelProcess::Start(setup, &failure);
    if (process == nullptr) return annotate(failure);
    double seconds = 0;
    if (auto failed = process->Run(1, &seconds)) return annotate(*failed);
    if (auto failed = process->Fetch()) return annotate(*failed);
    std::vector<std::byte>& prepared = prepared_.emplace_back();
    for (size_t b = 0; b < setup.buffers.size(); ++b) {
      if (setup.buffers[b].use != BufferUse::kOutput) continue;
      const std::span<const std::byte> output = process->Output(b);
      prepared.assign(output.begin(), output.end());
    }
  }
  return std::nullopt;
}

std::vector<int64_t> TaskKernel::GivenDims() const {
  std::vector<int64_t> dims(static_cast<size_t>(kernel_.num_dims), -1);
  for (size_t slot = 0; slot < std::min(dims.size(), data_.dims().size()); ++slot) {
    if (data_.dims()[slot].is_given) dims[slot] = data_.dims()[slot].size;
  }
  return dims;
}

std::unique_ptr<KernelProcess> TaskKernel::StartChecked(Failure* failure) {
  if (auto failed = MakeBuffers(kernel_.code, false, &checked_)) {
    *failure = *failed;
    return nullptr;
  }
  checked_.placement = Placement::kGuarded;
  checked_.threads = options_.threads;
  checked_.dims = GivenDims();
  std::unique_ptr<KernelProcess> process = KernelProcess::Start(checked_, failure);
  if (process == nullptr) return nullptr;
  for (const char* time : {"", "the second time: "}) {
    double seconds = 0;
    auto failed = process->Poison();
    if (!failed) failed = process->Run(1, &seconds);
    if (!failed) failed = CheckOutputs(*process);
    if (!failed) continue;
    *failure = {failed->outcome, absl::StrCat(time, failed->reason)};
    return nullptr;
  }
  return process;
}

void TaskKernel::MakeCopies(KernelSetup& setup) const {
  const auto is_cold = [&](const KernelBuffer& buffer) {
    return options_.cache == CacheMode::kCold ||
           (options_.cache == CacheMode::kNetwork && buffer.use == BufferUse::kConstant);
  };
  int64_t cold_bytes = 1, other_bytes = 1;
  for (const KernelBuffer& buffer : setup.buffers)
    (is_cold(buffer) ? cold_bytes : other_bytes) += buffer.bytes;
  const int64_t most = 2 * LastLevelBytes();
  const int64_t wanted = options_.cold_bytes > 0 ? std::min(options_.cold_bytes, most) : most;
  const int64_t room = options_.memory_bytes_limit / std::max<int64_t>(1, MemoryBytes(setup.buffers, 0, 1));
  const auto copies = [&](int64_t bytes, int64_t each, int64_t limit) {
    return std::clamp<int64_t>(CeilDiv(bytes, each), 1, std::clamp<int64_t>(room / 2, 1, limit));
  };
  const int64_t cold = copies(wanted, cold_bytes, kMostCopies);
  const int64_t others = copies(kMovedBytes, other_bytes, kMostPlacements);
  for (KernelBuffer& buffer : setup.buffers) {
    buffer.changes_each_time = is_cold(buffer);
    buffer.copies = buffer.changes_each_time ? cold : others;
  }
}

std::unique_ptr<KernelProcess> TaskKernel::StartTimed(Failure* failure) {
  auto failed = MakeBuffers(kernel_.code, false, &timed_);
  timed_.placement = Placement::kArena;
  timed_.threads = options_.threads;
  timed_.dims = GivenDims();
  if (!failed) {
    MakeCopies(timed_);
    failed = CheckMemory(timed_);
  }
  if (!failed) return KernelProcess::Start(timed_, failure);
  *failure = *failed;
  return nullptr;
}

std::optional<Failure> TaskKernel::CheckOutputs(KernelProcess& process) const {
  if (auto failure = process.Fetch()) return failure;
  for (size_t slot = 0; slot < data_.dims().size(); ++slot) {
    const int64_t expected = data_.dims()[slot].size;
    const int64_t actual = slot < process.Dims().size() ? process.Dims()[slot] : -1;
    if (actual != expected) {
      return Failure{TrialOutcome::kWrongResult,
                     absl::StrCat("dynamic dimension ", slot, " is ", actual, ", expected ", expected)};
    }
  }
  for (size_t b = 0; b < kernel_.code.params.size(); ++b) {
    const KernelParam& param = kernel_.code.params[b];
    if (param.kind != ParamKind::kOutput) continue;
    const ExpectedOutput& expected = data_.outputs()[static_cast<size_t>(param.index)];
    if (const auto difference = FindDifference(expected, process.Output(b), kernel_.spreads_rounding))
      return Failure{TrialOutcome::kWrongResult, absl::StrCat("output ", param.index, ": ", *difference)};
  }
  return std::nullopt;
}

}  // namespace attune
