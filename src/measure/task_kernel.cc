#include "measure/task_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"

namespace attune {
namespace {

constexpr int64_t kMostCopies = int64_t{1} << 16;
// Batches alternate between about this many placements in memory, as long as these take no more memory than
// this.
constexpr int64_t kMostPlacements = 8, kMovedBytes = int64_t{64} << 20;

Failure DoesNotFit() { return {TrialOutcome::kRetry, "the kernel is not for this task"}; }

}  // namespace

std::optional<Failure> TaskKernel::MakeBuffers(const KernelCode& code, const PrepackedConstants* prepacked,
                                               KernelSetup* setup) const {
  setup->code = &code;
  setup->execution_seconds_limit = options_.execution_seconds_limit;
  // A backstop: the parent's clock should end it first.
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
      const ReferenceData::Input& input = data_.inputs()[index];
      buffer.use = input.is_constant ? BufferUse::kConstant : BufferUse::kInput;
      buffer.content = input.bytes;
    } else if (param.kind == ParamKind::kPrepacked) {
      if (prepacked == nullptr || index >= prepacked->size()) return DoesNotFit();
      buffer.use = BufferUse::kConstant;
      buffer.content = (*prepacked)[index];
      name = absl::StrCat("prepacked constant ", index);
    } else if (param.kind == ParamKind::kOutput) {
      const bool fits = prepacked == nullptr ||
                        (index < data_.outputs().size() && data_.outputs()[index].dtype == param.dtype &&
                         static_cast<int64_t>(data_.outputs()[index].value.size()) == param.bytes);
      if (!fits) return DoesNotFit();
      buffer.use = BufferUse::kOutput;
      name = absl::StrCat("output ", index);
    } else {
      buffer.use = BufferUse::kWorkspace;
      name = "a workspace";
    }
    const bool is_read = param.kind == ParamKind::kInput || param.kind == ParamKind::kPrepacked;
    if (is_read && static_cast<int64_t>(buffer.content.size()) != param.bytes) return DoesNotFit();
    setup->buffers.push_back(buffer);
    setup->names.push_back(std::move(name));
  }
  return CheckMemory(*setup, prepacked);
}

std::optional<Failure> TaskKernel::CheckMemory(const KernelSetup& setup,
                                               const PrepackedConstants* prepacked) const {
  int64_t bytes = MemoryBytes(setup.buffers, setup.code->scratch_bytes, options_.threads);
  if (prepacked != nullptr) {
    for (const std::vector<std::byte>& one : *prepacked)
      bytes = CheckedAdd(bytes, std::ssize(one)).value_or(INT64_MAX);
  }
  if (bytes <= options_.memory_bytes_limit) return std::nullopt;
  return Failure{TrialOutcome::kOutOfMemory, absl::StrCat("needs ", bytes >> 20, " MiB, the limit is ",
                                                          options_.memory_bytes_limit >> 20, " MiB")};
}

std::optional<Failure> TaskKernel::Start(KernelSetup setup, Running* running) const {
  running->program = std::make_unique<KernelProgram>(std::move(setup));
  Failure failure;
  running->process = MeasuredProcess::Start(*running->program, processors_, &failure);
  if (running->process == nullptr) return failure;
  return std::nullopt;
}

std::optional<Failure> TaskKernel::Prepack(PrepackedConstants* prepacked) const {
  prepacked->clear();
  for (size_t i = 0; i < kernel_.prepackings.size(); ++i) {
    KernelSetup setup;
    Running running;
    double seconds = 0;
    auto failed = MakeBuffers(kernel_.prepackings[i], nullptr, &setup);
    const auto output = static_cast<size_t>(
        std::ranges::find(setup.buffers, BufferUse::kOutput, &KernelBuffer::use) - setup.buffers.begin());
    if (!failed && output == setup.buffers.size()) failed = DoesNotFit();
    if (!failed) failed = Start(std::move(setup), &running);
    if (!failed) failed = running.process->Run(1, &seconds);
    if (!failed) failed = running.process->Fetch();
    if (failed) return Failure{failed->outcome, absl::StrCat("prepacking ", i, ": ", failed->reason)};
    const auto bytes = running.program->Output(running.process->shared(), output);
    prepacked->emplace_back(bytes.begin(), bytes.end());
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

std::optional<Failure> TaskKernel::SetUp(const PrepackedConstants& prepacked, MemoryPlacement placement,
                                         KernelSetup* setup) const {
  if (auto failed = MakeBuffers(kernel_.code, &prepacked, setup)) return failed;
  setup->placement = placement;
  setup->threads = options_.threads;
  setup->dims = GivenDims();
  return std::nullopt;
}

std::optional<Failure> TaskKernel::StartGuarded(const PrepackedConstants& prepacked, Running* running) const {
  KernelSetup setup;
  if (auto failed = SetUp(prepacked, MemoryPlacement::kGuarded, &setup)) return failed;
  return Start(std::move(setup), running);
}

std::optional<Failure> TaskKernel::Check(Running& running) const {
  for (const char* time : {"", "the second time: "}) {
    double seconds = 0;
    auto failed = running.process->Poison();
    if (!failed) failed = running.process->Run(1, &seconds);
    if (!failed) failed = CheckOutputs(running);
    if (failed) return Failure{failed->outcome, absl::StrCat(time, failed->reason)};
  }
  return std::nullopt;
}

void TaskKernel::MakeCopies(KernelSetup& setup) const {
  const auto is_cold = [&](const KernelBuffer& buffer) {
    return options_.cache == CacheMode::kCold ||
           (options_.cache == CacheMode::kNetwork && buffer.use == BufferUse::kConstant);
  };
  int64_t cold_bytes = 1, other_bytes = 1;
  for (const KernelBuffer& buffer : setup.buffers)
    (is_cold(buffer) ? cold_bytes : other_bytes) += buffer.bytes;
  const int64_t room = options_.memory_bytes_limit / std::max<int64_t>(1, MemoryBytes(setup.buffers, 0, 1));
  const auto copies = [&](int64_t bytes, int64_t each, int64_t limit) {
    return std::clamp<int64_t>(CeilDiv(bytes, each), 1, std::clamp<int64_t>(room / 2, 1, limit));
  };
  const int64_t cold = copies(options_.cold_bytes, cold_bytes, kMostCopies);
  const int64_t others = copies(kMovedBytes, other_bytes, kMostPlacements);
  for (KernelBuffer& buffer : setup.buffers) {
    buffer.changes_each_time = is_cold(buffer);
    buffer.copies = buffer.changes_each_time ? cold : others;
  }
}

std::optional<Failure> TaskKernel::StartTimed(const PrepackedConstants& prepacked, Running* running) const {
  KernelSetup setup;
  if (auto failed = SetUp(prepacked, MemoryPlacement::kArena, &setup)) return failed;
  MakeCopies(setup);
  if (auto failed = CheckMemory(setup, &prepacked)) return failed;
  return Start(std::move(setup), running);
}

std::optional<Failure> TaskKernel::CheckOutputs(Running& running) const {
  if (auto failure = running.process->Fetch()) return failure;
  const std::byte* const shared = running.process->shared();
  const std::span<const int64_t> dims = running.program->Dims(shared);
  for (size_t slot = 0; slot < data_.dims().size(); ++slot) {
    const int64_t expected = data_.dims()[slot].size;
    const int64_t actual = slot < dims.size() ? dims[slot] : -1;
    if (actual != expected) {
      return Failure{TrialOutcome::kWrongResult,
                     absl::StrCat("dynamic dimension ", slot, " is ", actual, ", expected ", expected)};
    }
  }
  for (size_t b = 0; b < kernel_.code.params.size(); ++b) {
    const KernelParam& param = kernel_.code.params[b];
    if (param.kind != ParamKind::kOutput) continue;
    const ExpectedOutput& expected = data_.outputs()[static_cast<size_t>(param.index)];
    if (const auto difference =
            FindDifference(expected, running.program->Output(shared, b), kernel_.spreads_rounding))
      return Failure{TrialOutcome::kWrongResult, absl::StrCat("output ", param.index, ": ", *difference)};
  }
  return std::nullopt;
}

}  // namespace attune
