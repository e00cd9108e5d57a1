#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ranges>

#include "base/printable.h"
#include "base/processors.h"
#include "runtime/float_mode.h"
#include "runtime/index_check.h"
#include "runtime/strided.h"

namespace attune {
namespace {

// The scratch of two threads shares no cache line, nor a pair of lines that are fetched together.
constexpr uint64_t kScratchAlignment = 128;

// Whether a dimension other than the outermost has a size that depends on the data, so that the elements
// may not be contiguous.
bool MayLieApart(const TensorInfo& tensor) {
  for (size_t i = 1; i < tensor.dim_slots.size(); ++i) {
    if (tensor.dim_slots[i] >= 0) return true;
  }
  return false;
}

uint64_t BytesOf(std::span<const int64_t> shape, uint8_t dtype) {
  return ElementSize(dtype) * CountElements(shape);
}

RuntimeStatus NoMemory(uint64_t bytes) {
  return {ATTUNE_OUT_OF_MEMORY,
          "the session needs " + std::to_string(bytes) +
              " bytes of memory, which the system does not have; free some, or use fewer threads"};
}

}  // namespace

RuntimeStatus ModelSession::Create(std::shared_ptr<const LoadedModel> model, size_t threads,
                                   std::unique_ptr<ModelSession>* session) {
  if (RuntimeStatus status = model->CheckRunnable(); !status.ok()) return status;
  if (threads > kMaxThreads) {
    return {ATTUNE_INVALID_ARGUMENT, std::to_string(threads) + " threads are more than the " +
                                         std::to_string(kMaxThreads) + " allowed"};
  }
  const bool as_many_as_possible = threads == 0;
  if (as_many_as_possible) threads = std::min(static_cast<size_t>(Processors()), kMaxThreads);
  for (;; threads /= 2) {
    std::unique_ptr<ModelSession> created(new ModelSession(model, static_cast<int32_t>(threads)));
    RuntimeStatus status = created->Init();
    if (status.ok()) *session = std::move(created);
    if (status.code != ATTUNE_OUT_OF_MEMORY || !as_many_as_possible || threads == 1) return status;
  }
}

RuntimeStatus ModelSession::Init() {
  const Device& device = model_->device();
  const auto aligned = [](uint64_t bytes) {
    return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  };
  // One allocation, so that scratch, too, is in huge pages: the addresses of small pages are random, and so
  // is the amount of scratch that fits into the caches at a time.
  const auto arena_of = [](const Program& program) { return program.arena_bytes; };
  const uint64_t largest = std::ranges::max(variant().programs | std::views::transform(arena_of));
  const uint64_t arena_bytes = aligned(largest + kReadAhead);
  scratch_stride_ = aligned(variant().scratch_bytes);
  const uint64_t bytes = arena_bytes + scratch_stride_ * static_cast<uint64_t>(threads_);
  arena_ = device.Allocate(bytes);
  if (arena_ == nullptr) return NoMemory(bytes);
  scratch_ = arena_.get() + arena_bytes;

  for (const Program& program : variant().programs) {
    if (RuntimeStatus status = Resolve(program); !status.ok()) return status;
  }
  return device.CreateStream(threads_, &stream_);
}

RuntimeStatus ModelSession::Resolve(const Program& program) {
  Resolved resolved = {&program, {}, {}, {}};
  size_t operands = 0;
  for (const Instruction& instruction : program.instructions) operands += instruction.tensors.size();
  resolved.buffers.reserve(operands);  // keeps the steps' pointers into it valid
  for (const Instruction& instruction : program.instructions) {
    Step& step = resolved.steps.emplace_back();
    step.opcode = instruction.opcode;
    const bool is_call = instruction.opcode == Opcode::kCall;
    step.threads = is_call && variant().kernels[instruction.kernel].interface.parallel ? threads_ : 1;
    step.target = instruction.target;
    step.kernel = is_call ? model_->kernel(instruction.kernel) : nullptr;
    step.buffers = resolved.buffers.data() + resolved.buffers.size();
    step.instruction = &instruction;
    for (const uint32_t tensor : instruction.tensors) resolved.buffers.push_back(Address(tensor, program));
  }
  for (const Port& port : program.outputs) {
    const TensorInfo& tensor = program.tensors[port.tensor];
    OutputRoom& room = resolved.outputs.emplace_back();
    room.shape = tensor.shape;
    if (!MayLieApart(tensor)) continue;
    room.compact = model_->device().Allocate(tensor.bytes);
    if (room.compact == nullptr) return NoMemory(tensor.bytes);
  }
  programs_.push_back(std::move(resolved));
  dims_.resize(std::max<size_t>(dims_.size(), program.num_dims));
  for (const TensorInfo& tensor : program.tensors)
    actual_shape_.resize(std::max(actual_shape_.size(), tensor.shape.size()));
  return {};
}

std::byte* ModelSession::Address(uint32_t tensor, const Program& program) const {
  const TensorInfo& info = program.tensors[tensor];
  switch (info.place) {
    case Place::kArena:
      return arena_.get() + info.offset;
    case Place::kConstant:
      return model_->constants() + info.offset;
    case Place::kPrepacked:
      return model_->prepacked() + info.offset;
  }
  return nullptr;
}

RuntimeStatus ModelSession::Lock() {
  if (!running_.exchange(true, std::memory_order_acquire)) return {};
  return {ATTUNE_INVALID_ARGUMENT,
          "the session is already running in another thread; make a session for each"};
}

RuntimeStatus ModelSession::UseProgram(size_t index) {
  if (RuntimeStatus status = Lock(); !status.ok()) return status;
  has_outputs_ = has_outputs_ && index == current_;
  current_ = index;
  Unlock();
  return {};
}

RuntimeStatus ModelSession::Run(std::span<uint64_t> nanoseconds) {
  if (RuntimeStatus status = Lock(); !status.ok()) return status;
  const IeeeMode mode;
  has_outputs_ = false;
  std::fill(dims_.begin(), dims_.end(), 0);
  stream_->BeginRun();
  RuntimeStatus status = RunProgram(nanoseconds);
  stream_->EndRun();
  has_outputs_ = status.ok();
  Unlock();
  return status;
}

RuntimeStatus ModelSession::RunProgram(std::span<uint64_t> nanoseconds) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Step>& steps = Current().steps;
  for (size_t at = 0; at < steps.size();) {
    const Clock::time_point start = nanoseconds.empty() ? Clock::time_point() : Clock::now();
    size_t next = at + 1;
    if (RuntimeStatus status = RunStep(steps[at], &next); !status.ok()) return status;
    if (!nanoseconds.empty()) {
      nanoseconds[at] += static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }
    at = next;
  }
  return {};
}

RuntimeStatus ModelSession::RunStep(const Step& step, size_t* next) {
  switch (step.opcode) {
    case Opcode::kCall: {
      const int32_t failure =
          stream_->Launch({step.kernel, step.buffers, dims_.data(), scratch_, scratch_stride_, step.threads});
      if (failure == 0) return {};
      const KernelInfo& kernel = variant().kernels[step.instruction->kernel];
      return {ATTUNE_KERNEL_FAILED, "the kernel \"" + Printable(kernel.name) + "\" of \"" +
                                        Printable(step.instruction->label) + "\" failed with status " +
                                        std::to_string(failure) + "; check the values of the inputs"};
    }
    case Opcode::kJump:
      *next = step.target;
      return {};
    case Opcode::kBranchIfFalse: {
      uint8_t condition = 0;
      model_->device().Copy(&condition, step.buffers[0], 1);
      if (condition == 0) *next = step.target;
      return {};
    }
    case Opcode::kCopy:
      return CopyTensor(*step.instruction);
    case Opcode::kCheckIndices:
      return CheckIndices(*step.instruction);
  }
  return {};
}

RuntimeStatus ModelSession::CheckIndices(const Instruction& instruction) {
  const TensorInfo& indices = program().tensors[instruction.tensors[0]];
  const auto axes = static_cast<size_t>(program().tensors[instruction.tensors[1]].shape[1]);
  int64_t bounds[2 * kMaxRank];
  model_->device().Copy(bounds, Address(instruction.tensors[1], program()), 2 * axes * sizeof(int64_t));
  const std::span<int64_t> shape = std::span(actual_shape_).first(indices.shape.size());
  if (RuntimeStatus status = ActualShape(indices, shape); !status.ok()) return status;
  const std::optional<OutOfBounds> fault = FindOutOfBounds(
      model_->device(), {Address(instruction.tensors[0], program()), indices.dtype, indices.shape, shape},
      {bounds, axes}, {bounds + axes, axes});
  if (!fault.has_value()) return {};
  return {ATTUNE_INVALID_ARGUMENT, Printable(instruction.label) + ": index " + std::to_string(fault->index) +
                                       " is outside an axis of size " + std::to_string(fault->size)};
}

RuntimeStatus ModelSession::CopyTensor(const Instruction& instruction) {
  const TensorInfo& from = program().tensors[instruction.tensors[0]];
  const TensorInfo& to = program().tensors[instruction.tensors[1]];
  const std::byte* source = Address(instruction.tensors[0], program());
  std::byte* destination = Address(instruction.tensors[1], program());
  if (from.shape.size() != to.shape.size()) {
    model_->device().Copy(destination, source, BytesOf(from.shape, from.dtype));
    return {};
  }
  const std::span<int64_t> shape = std::span(actual_shape_).first(from.shape.size());
  if (RuntimeStatus status = ActualShape(from, shape); !status.ok()) return status;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int32_t slot = to.dim_slots[i];
    if (shape[i] > to.shape[i] || (slot < 0 && shape[i] != to.shape[i])) {
      return {ATTUNE_KERNEL_FAILED, "the tensor \"" + Printable(from.name) + "\" has " +
                                        std::to_string(shape[i]) + " in dimension " + std::to_string(i) +
                                        ", which does not fit \"" + Printable(to.name) +
                                        "\"; check the values of the inputs"};
    }
    if (slot >= 0) dims_[static_cast<size_t>(slot)] = shape[i];
  }
  CopyStrided(model_->device(), destination, to.shape, source, from.shape, shape, ElementSize(from.dtype));
  return {};
}

RuntimeStatus ModelSession::ActualShape(const TensorInfo& tensor, std::span<int64_t> shape) const {
  for (size_t i = 0; i < shape.size(); ++i) {
    const int32_t slot = tensor.dim_slots[i];
    shape[i] = slot < 0 ? tensor.shape[i] : dims_[static_cast<size_t>(slot)];
    if (shape[i] < 0 || shape[i] > tensor.shape[i]) {
      return {ATTUNE_KERNEL_FAILED, "the tensor \"" + Printable(tensor.name) + "\" came out with " +
                                        std::to_string(shape[i]) + " in dimension " + std::to_string(i) +
                                        ", over its bound of " + std::to_string(tensor.shape[i]) +
                                        "; report this as a defect of the compiler"};
    }
  }
  return {};
}

RuntimeStatus ModelSession::GetOutput(size_t index, Output* output) {
  if (!has_outputs_) {
    return {ATTUNE_INVALID_ARGUMENT,
            "the session has no outputs; run it first, and look whether the run succeeded"};
  }
  const uint32_t number = program().outputs[index].tensor;
  const TensorInfo& tensor = program().tensors[number];
  OutputRoom& room = programs_[current_].outputs[index];
  if (RuntimeStatus status = ActualShape(tensor, room.shape); !status.ok()) return status;
  const std::byte* data = Address(number, program());
  if (!IsContiguous(room.shape, tensor.shape)) {
    std::byte* compact = room.compact.get();
    CopyStrided(model_->device(), compact, room.shape, data, tensor.shape, room.shape,
                ElementSize(tensor.dtype));
    data = compact;
  }
  *output = {data, room.shape, BytesOf(room.shape, tensor.dtype)};
  return {};
}

}  // namespace attune
