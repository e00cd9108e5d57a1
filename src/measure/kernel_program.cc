#include "measure/kernel_program.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/process/sandbox.h"

namespace attune {
namespace {

constexpr int64_t kSpareBytes = int64_t{1} << 30;  // for rounding up the sizes of mappings

// The address space that each started thread takes.
int64_t StackBytes() {
  pthread_attr_t attributes;
  size_t stack = 0, guard = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return static_cast<int64_t>(stack + guard);
}

}  // namespace

KernelProgram::KernelProgram(KernelSetup setup) : setup_(std::move(setup)) {
  constexpr int64_t kLine = 64;
  auto end =
      static_cast<size_t>(RoundUp(std::ssize(setup_.dims) * static_cast<int64_t>(sizeof(int64_t)), kLine));
  for (const KernelBuffer& buffer : setup_.buffers) {
    offsets_.push_back(end);
    if (buffer.use == BufferUse::kOutput) end += static_cast<size_t>(RoundUp(buffer.bytes, kLine));
  }
  shared_bytes_ = end;
}

std::string KernelProgram::NameOf(int buffer) const {
  const auto index = static_cast<size_t>(buffer);
  return buffer >= 0 && index < setup_.names.size() ? setup_.names[index] : "a buffer";
}

SetUpResult KernelProgram::SetUp(std::byte* shared) {
  shared_ = shared;
  const KernelCode& code = *setup_.code;
  SandboxLimits limits;
  limits.cpu_seconds = setup_.cpu_seconds_limit;
  limits.address_space_bytes =
      kSpareBytes + setup_.threads * StackBytes() +
      AddressBytes(setup_.buffers, setup_.placement, code.scratch_bytes, setup_.threads);
  ApplyLimits(limits);
  if (!memory_.Allocate(setup_.buffers, setup_.placement, code.scratch_bytes, setup_.threads))
    return SetUpResult::kNoMemory;
  code_ = CpuDevice().LoadCode(std::as_bytes(std::span(code.bytes)));
  dims_ = setup_.dims;
  if (code_ == nullptr) return SetUpResult::kNoMemory;
  return CpuDevice().CreateStream(setup_.threads, &stream_).ok() ? SetUpResult::kReady
                                                                 : SetUpResult::kNoThreads;
}

void KernelProgram::Poison() {
  memory_.PoisonOutputs();
  std::ranges::copy(setup_.dims, dims_.begin());
}

// Runs the kernel in the same way as a session.
int32_t KernelProgram::Run(int64_t executions) {
  int32_t failure = 0;
  stream_->BeginRun();
  for (; executions > 0 && failure == 0; --executions) {
    memory_.Choose(executions_++, moves_);
    memory_.PoisonLines();
    for (const KernelCode::Phase& phase : setup_.code->phases) {
      const auto kernel = reinterpret_cast<KernelFunction>(code_.get() + phase.offset);
      failure = stream_->Launch({kernel, memory_.buffers(), dims_.data(), memory_.scratch(),
                                 memory_.scratch_stride(), phase.parallel ? setup_.threads : 1});
      if (failure != 0) break;
    }
  }
  stream_->EndRun();
  return failure;
}

int KernelProgram::Fetch() {
  std::memcpy(shared_, dims_.data(), dims_.size() * sizeof(int64_t));
  void* const* const buffers = memory_.buffers();
  for (size_t i = 0; i < setup_.buffers.size(); ++i) {
    const KernelBuffer& buffer = setup_.buffers[i];
    if (buffer.use == BufferUse::kOutput)
      std::memcpy(shared_ + offsets_[i], buffers[i], static_cast<size_t>(buffer.bytes));
  }
  return memory_.FindOverwritten();
}

std::span<const std::byte> KernelProgram::Output(const std::byte* shared, size_t buffer) const {
  return {shared + offsets_[buffer], static_cast<size_t>(setup_.buffers[buffer].bytes)};
}

std::span<const int64_t> KernelProgram::Dims(const std::byte* shared) const {
  return {reinterpret_cast<const int64_t*>(shared), setup_.dims.size()};
}

}  // namespace attune
