#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/joined.h"
#include "base/printable.h"
#include "base/processors.h"
#include "runtime/float_mode.h"
#include "runtime/index_check.h"
#include "runtime/input_shapes.h"
#include "runtime/strided.h"

namespace attune {
namespace {

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

}  // namespace

RuntimeStatus ModelSession::Create(std::shared_ptr<const LoadedModel> model, size_t first, size_t threads,
                                   std::unique_ptr<ModelSession>* session) {
  if (RuntimeStatus status = model->CheckRunnable(); !status.ok()) return status;
  if (threads > kMaxThreads) {
    return {ATTUNE_INVALID_ARGUMENT,
            Joined({threads, " threads are more than the ", kMaxThreads, " allowed"})};
  }
  const bool as_many_as_possible = threads == 0;
  if (as_many_as_possible) threads = std::min(static_cast<size_t>(Processors()), kMaxThreads);
  for (;; threads /= 2) {
    std::unique_ptr<ModelSession> created(new ModelSession(model, static_cast<int32_t>(threads)));
    RuntimeStatus status = created->Init(first);
    if (status.ok()) *session = std::move(created);
    if (status.code != ATTUNE_OUT_OF_MEMORY || !as_many_as_possible || threads == 1) return status;
  }
}

RuntimeStatus ModelSession::Init(size_t first) {
  programs_.reserve(variant().programs.size());
  for (const Program& program : variant().programs) {
    if (RuntimeStatus status = AddProgram(program); !status.ok()) return status;
  }
  // Memory for all programs without open sizes, so that a change between them costs nothing.
  const Program& largest = *std::ranges::max_element(variant().programs, {}, &Program::arena_bytes);
  if (RuntimeStatus status = memory_.Reserve(largest, ConstantPlacement(largest)); !status.ok())
    return status;
  if (RuntimeStatus status = Select(first, SmallestSizes(variant().programs[first])); !status.ok())
    return status;
  return model_->device().CreateStream(threads_, &stream_);
}

RuntimeStatus ModelSession::AddProgram(const Program& program) {
  ReadyProgram& added = programs_.emplace_back(ReadyProgram{PlacedProgram(program, *model_), {}});
  for (const Port& port : program.outputs) {
    const TensorInfo& tensor = program.tensors[port.tensor];
    OutputRoom& room = added.outputs.emplace_back();
    room.shape = tensor.shape;
    if (!MayLieApart(tensor)) continue;
    room.compact = model_->device().Allocate(tensor.bytes);
    if (room.compact == nullptr) return NoMemory(tensor.bytes);
  }
  dims_.resize(std::max<size_t>(dims_.size(), program.num_dims));
  given_sizes_.resize(std::max(given_sizes_.size(), program.sizes.size()));
  for (const TensorInfo& tensor : program.tensors)
    actual_shape_.resize(std::max(actual_shape_.size(), tensor.shape.size()));
  return {};
}

RuntimeStatus SessionLock::status() const {
  if (held_) return {};
  return {ATTUNE_INVALID_ARGUMENT,
          "the session is already running in another thread; make a session for each"};
}

RuntimeStatus ModelSession::UseProgram(size_t index) {
  const SessionLock lock(running_);
  if (RuntimeStatus status = lock.status(); !status.ok()) return status;
  return Select(index, SmallestSizes(variant().programs[index]));
}

RuntimeStatus ModelSession::UseShapes(std::span<const attune_shape> shapes) {
  const SessionLock lock(running_);
  if (RuntimeStatus status = lock.status(); !status.ok()) return status;
  const std::vector<Program>& programs = variant().programs;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (programs[i].sizes.empty() && TakesShapes(programs[i], shapes)) return Select(i, {});
  }
  RuntimeStatus misfit;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (programs[i].sizes.empty()) continue;
    const std::span<int64_t> sizes = std::span(given_sizes_).first(programs[i].sizes.size());
    misfit = BindSizes(programs[i], shapes, sizes);
    if (misfit.ok()) return Select(i, sizes);
  }
  if (programs.size() == 1 && !misfit.ok()) return misfit;
  std::string sets;
  for (const Program& program : programs) sets += (sets.empty() ? "" : " or ") + InputShapesText(program);
  return {ATTUNE_INVALID_ARGUMENT,
          Joined({"the model is not compiled for inputs of these shapes; it takes ", sets})};
}

RuntimeStatus ModelSession::SetMaxMemory(uint64_t bytes) {
  const SessionLock lock(running_);
  if (RuntimeStatus status = lock.status(); !status.ok()) return status;
  memory_.SetMaxBytes(bytes);
  return {};
}

RuntimeStatus ModelSession::Select(size_t index, std::span<const int64_t> sizes) {
  PlacedProgram& selected = programs_[index].placed;
  const ProgramPlacement* placement = nullptr;
  if (RuntimeStatus status = selected.Find(sizes, &placement); !status.ok()) return status;
  const std::byte* before = memory_.arena();
  if (RuntimeStatus status = memory_.Reserve(selected.program(), *placement); !status.ok()) return status;
  has_outputs_ =
      has_outputs_ && index == current_ && placement == selected.placement() && before == memory_.arena();
  selected.Use(*placement, memory_.arena());
  current_ = index;
  return {};
}

RuntimeStatus ModelSession::Run(std::span<uint64_t> nanoseconds) {
  const SessionLock lock(running_);
  if (RuntimeStatus status = lock.status(); !status.ok()) return status;
  const IeeeMode mode;
  has_outputs_ = false;
  std::fill(dims_.begin(), dims_.end(), 0);
  stream_->BeginRun();
  RuntimeStatus status = RunProgram(nanoseconds);
  stream_->EndRun();
  has_outputs_ = status.ok();
  return status;
}

RuntimeStatus ModelSession::RunProgram(std::span<uint64_t> nanoseconds) {
  using Clock = std::chrono::steady_clock;
  const std::vector<ProgramStep>& steps = Current().steps();
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

RuntimeStatus ModelSession::RunStep(const ProgramStep& step, size_t* next) {
  switch (step.opcode) {
    case Opcode::kCall: {
      int64_t* dims = step.sizes == nullptr ? dims_.data() : step.sizes;
      const int32_t threads = step.parallel ? threads_ : 1;
      const int32_t failure = stream_->Launch(
          {step.kernel, step.buffers, dims, memory_.scratch(), memory_.scratch_stride(), threads});
      if (failure == 0) return {};
      const KernelInfo& kernel = variant().kernels[step.instruction->kernel];
      return {ATTUNE_KERNEL_FAILED,
              Joined({"the kernel \"", Printable(kernel.name), "\" of \"", Printable(step.instruction->label),
                      "\" failed with status ", failure, "; check the values of the inputs"})};
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
      return CheckIndices(step);
  }
  return {};
}

RuntimeStatus ModelSession::CheckIndices(const ProgramStep& step) {
  const Instruction& instruction = *step.instruction;
  const uint32_t indices = instruction.tensors[0], limits = instruction.tensors[1];
  const std::span<const int64_t> strides = Current().Shape(indices);
  const auto axes = static_cast<size_t>(Current().Shape(limits)[1]);
  int64_t bounds[2 * kMaxRank];
  model_->device().Copy(bounds, Current().Address(limits), 2 * axes * sizeof(int64_t));
  for (size_t i = 0; i < instruction.sizes.size(); ++i) {
    bounds[axes + i] = step.sizes[i];
    if (bounds[i] < 0) bounds[i] = -step.sizes[i];
  }
  const std::span<int64_t> shape = std::span(actual_shape_).first(strides.size());
  if (RuntimeStatus status = ActualShape(indices, shape); !status.ok()) return status;
  const std::optional<OutOfBounds> fault = FindOutOfBounds(
      model_->device(), {Current().Address(indices), program().tensors[indices].dtype, strides, shape},
      {bounds, axes}, {bounds + axes, axes});
  if (!fault.has_value()) return {};
  return {ATTUNE_INVALID_ARGUMENT, Joined({Printable(instruction.label), ": index ", fault->index,
                                           " is outside an axis of size ", fault->size})};
}

RuntimeStatus ModelSession::CopyTensor(const Instruction& instruction) {
  const TensorInfo& from = program().tensors[instruction.tensors[0]];
  const TensorInfo& to = program().tensors[instruction.tensors[1]];
  const std::span<const int64_t> from_bounds = Current().Shape(instruction.tensors[0]);
  const std::span<const int64_t> to_bounds = Current().Shape(instruction.tensors[1]);
  const std::byte* source = Current().Address(instruction.tensors[0]);
  std::byte* destination = Current().Address(instruction.tensors[1]);
  if (from_bounds.size() != to_bounds.size()) {
    model_->device().Copy(destination, source, BytesOf(from_bounds, from.dtype));
    return {};
  }
  const std::span<int64_t> shape = std::span(actual_shape_).first(from_bounds.size());
  if (RuntimeStatus status = ActualShape(instruction.tensors[0], shape); !status.ok()) return status;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int32_t slot = to.dim_slots[i];
    if (shape[i] > to_bounds[i] || (slot < 0 && shape[i] != to_bounds[i])) {
      return {ATTUNE_KERNEL_FAILED,
              Joined({"the tensor \"", Printable(from.name), "\" has ", shape[i], " in dimension ", i,
                      ", which does not fit \"", Printable(to.name), "\"; check the values of the inputs"})};
    }
    if (slot >= 0) dims_[static_cast<size_t>(slot)] = shape[i];
  }
  CopyStrided(model_->device(), destination, to_bounds, source, from_bounds, shape, ElementSize(from.dtype));
  return {};
}

RuntimeStatus ModelSession::ActualShape(uint32_t index, std::span<int64_t> shape) const {
  const TensorInfo& tensor = program().tensors[index];
  const std::span<const int64_t> bounds = Current().Shape(index);
  for (size_t i = 0; i < shape.size(); ++i) {
    const int32_t slot = tensor.dim_slots[i];
    shape[i] = slot < 0 ? bounds[i] : dims_[static_cast<size_t>(slot)];
    if (shape[i] < 0 || shape[i] > bounds[i]) {
      return {ATTUNE_KERNEL_FAILED, Joined({"the tensor \"", Printable(tensor.name), "\" came out with ",
                                            shape[i], " in dimension ", i, ", over its bound of ", bounds[i],
                                            "; report this as a defect of the compiler"})};
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
  const uint8_t dtype = program().tensors[number].dtype;
  const std::span<const int64_t> bounds = Current().Shape(number);
  OutputRoom& room = programs_[current_].outputs[index];
  if (RuntimeStatus status = ActualShape(number, room.shape); !status.ok()) return status;
  const std::byte* data = Current().Address(number);
  if (!IsContiguous(room.shape, bounds)) {
    std::byte* compact = room.compact.get();
    CopyStrided(model_->device(), compact, room.shape, data, bounds, room.shape, ElementSize(dtype));
    data = compact;
  }
  *output = {data, room.shape, BytesOf(room.shape, dtype)};
  return {};
}

}  // namespace attune
