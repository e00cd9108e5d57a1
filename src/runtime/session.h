// The memory and threads of one caller that runs a model.
#ifndef ATTUNE_RUNTIME_SESSION_H_
#define ATTUNE_RUNTIME_SESSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/model.h"

namespace attune {

// Must be used by one thread at a time; Run() enforces that.
class ModelSession {
 public:
  // `threads` has the meaning as in attune_session_create.
  static RuntimeStatus Create(std::shared_ptr<const LoadedModel> model, size_t threads,
                              std::unique_ptr<ModelSession>* session);

  const LoadedModel& model() const { return *model_; }

  // Selects the program of the variant that all other functions use; initially it is the first. The
  // selected program has other inputs, whose values are unspecified, and no outputs until it has run.
  RuntimeStatus UseProgram(size_t index);
  const Program& program() const { return *Current().program; }

  // The memory of input `index` (must be in range), for callers to write to.
  std::byte* input(size_t index) const { return Address(program().inputs[index].tensor, program()); }

  // Runs the program. If `nanoseconds` is not empty, it must have one element per instruction; the time of
  // each execution is added to the element of its instruction.
  RuntimeStatus Run(std::span<uint64_t> nanoseconds);

  // An output of the last run. The pointers are valid until the next run.
  struct Output {
    const std::byte* data;
    std::span<const int64_t> shape;
    uint64_t bytes;
  };
  RuntimeStatus GetOutput(size_t index, Output* output);

 private:
  // An instruction with its addresses resolved.
  struct Step {
    Opcode opcode;
    int32_t threads;
    uint32_t target;
    KernelFunction kernel;
    void** buffers;  // points into Resolved::buffers
    const Instruction* instruction;
  };

  struct OutputRoom {
    std::vector<int64_t> shape;
    DeviceMemory compact;  // if the tensor's actual elements may not be contiguous; else nullptr
  };

  // A program with its addresses resolved. All programs of a session use the same arena.
  struct Resolved {
    const Program* program;
    std::vector<void*> buffers;
    std::vector<Step> steps;
    std::vector<OutputRoom> outputs;
  };

  ModelSession(std::shared_ptr<const LoadedModel> model, int32_t threads)
      : model_(std::move(model)), threads_(threads) {}
  RuntimeStatus Init();
  RuntimeStatus Resolve(const Program& program);

  const Variant& variant() const { return model_->variant(); }
  const Resolved& Current() const { return programs_[current_]; }
  std::byte* Address(uint32_t tensor, const Program& program) const;
  // Excludes other threads from the session until Unlock().
  RuntimeStatus Lock();
  void Unlock() { running_.store(false, std::memory_order_release); }
  RuntimeStatus RunProgram(std::span<uint64_t> nanoseconds);
  // Runs the step and sets `next` to the index of the next instruction.
  RuntimeStatus RunStep(const Step& step, size_t* next);
  RuntimeStatus CopyTensor(const Instruction& instruction);
  RuntimeStatus CheckIndices(const Instruction& instruction);
  // Writes the tensor's sizes in this run to `shape`, which must have its rank.
  RuntimeStatus ActualShape(const TensorInfo& tensor, std::span<int64_t> shape) const;

  std::shared_ptr<const LoadedModel> model_;
  const int32_t threads_;
  std::unique_ptr<Stream> stream_;
  DeviceMemory arena_;
  std::byte* scratch_ = nullptr;  // after the arena
  uint64_t scratch_stride_ = 0;
  std::vector<int64_t> dims_;          // large enough for every program
  std::vector<int64_t> actual_shape_;  // scratch, large enough for every rank
  std::vector<Resolved> programs_;     // in the order of the variant
  size_t current_ = 0;
  std::atomic<bool> running_ = false;
  bool has_outputs_ = false;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SESSION_H_
