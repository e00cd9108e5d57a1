// One caller's memory and threads for running a model.
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

// Used by one thread at a time, which Run() enforces.
class ModelSession {
 public:
  // `threads` as attune_session_create takes it.
  static RuntimeStatus Create(std::shared_ptr<const LoadedModel> model, size_t threads,
                              std::unique_ptr<ModelSession>* session);

  const LoadedModel& model() const { return *model_; }

  // Which of the variant's programs the rest is about: the first at first. Another has other inputs, whose
  // values are unspecified, and no outputs until it ran.
  RuntimeStatus UseProgram(size_t index);
  const Program& program() const { return *Current().program; }

  // The memory of input `index` (in range), where callers write.
  std::byte* input(size_t index) const { return Address(program().inputs[index].tensor, program()); }

  // Runs the program. Where `nanoseconds` is not empty, it has an element an instruction, and each
  // execution's time is added to its instruction's.
  RuntimeStatus Run(std::span<uint64_t> nanoseconds);

  // An output of the last run. Pointers are valid until the next.
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
    void** buffers;  // into Resolved::buffers
    const Instruction* instruction;
  };

  struct OutputRoom {
    std::vector<int64_t> shape;
    DeviceMemory compact;  // for a tensor whose actual elements may lie apart; else nullptr
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
  // Keeps other threads out of the session until Unlock().
  RuntimeStatus Lock();
  void Unlock() { running_.store(false, std::memory_order_release); }
  RuntimeStatus RunProgram(std::span<uint64_t> nanoseconds);
  // Runs the step and sets `next` to the instruction that follows.
  RuntimeStatus RunStep(const Step& step, size_t* next);
  RuntimeStatus CopyTensor(const Instruction& instruction);
  // The sizes of the tensor in this run, written to `shape`, which has its rank.
  RuntimeStatus ActualShape(const TensorInfo& tensor, std::span<int64_t> shape) const;

  std::shared_ptr<const LoadedModel> model_;
  const int32_t threads_;
  std::unique_ptr<Stream> stream_;
  DeviceMemory arena_;
  std::byte* scratch_ = nullptr;  // behind the arena
  uint64_t scratch_stride_ = 0;
  std::vector<int64_t> dims_;        // room for the most slots
  std::vector<int64_t> copy_shape_;  // room for the largest rank
  std::vector<Resolved> programs_;   // in the variant's order
  size_t current_ = 0;
  std::atomic<bool> running_ = false;
  bool has_outputs_ = false;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SESSION_H_
