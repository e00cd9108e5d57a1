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
#include "runtime/placed_program.h"
#include "runtime/session_memory.h"

namespace attune {

// Excludes other threads from a session while it lives, if its status is OK.
class SessionLock {
 public:
  explicit SessionLock(std::atomic<bool>& running)
      : running_(running), held_(!running.exchange(true, std::memory_order_acquire)) {}
  ~SessionLock() {
    if (held_) running_.store(false, std::memory_order_release);
  }
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;
  RuntimeStatus status() const;

 private:
  std::atomic<bool>& running_;
  const bool held_;
};

// Must be used by one thread at a time; Run() enforces that.
class ModelSession {
 public:
  // The session starts with the program of index `first` of the variant, see UseProgram(). `threads` has the
  // meaning as in attune_session_create.
  static RuntimeStatus Create(std::shared_ptr<const LoadedModel> model, size_t first, size_t threads,
                              std::unique_ptr<ModelSession>* session);

  const LoadedModel& model() const { return *model_; }

  // Selects the program of the variant that all other functions use, one with open sizes at the smallest that
  // are at least 1. The selected program has other inputs, whose values are unspecified, and no outputs until
  // it has run. After an error, the session is as before.
  RuntimeStatus UseProgram(size_t index);
  // Selects the program, and its sizes, by the shapes of all inputs.
  RuntimeStatus UseShapes(std::span<const attune_shape> shapes);
  const PlacedProgram& Current() const { return programs_[current_].placed; }
  const Program& program() const { return Current().program(); }

  // Bounds the memory that the session may have when a program or shapes are selected from now on; 0: no
  // bound.
  RuntimeStatus SetMaxMemory(uint64_t bytes);

  // The memory of input `index` (must be in range), for callers to write to.
  std::byte* input(size_t index) const { return Current().Address(program().inputs[index].tensor); }

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
  struct OutputRoom {
    std::vector<int64_t> shape;
    DeviceMemory compact;  // if the tensor's actual elements may not be contiguous; else nullptr
  };

  // All programs of a session use the same arena.
  struct ReadyProgram {
    PlacedProgram placed;
    std::vector<OutputRoom> outputs;
  };

  ModelSession(std::shared_ptr<const LoadedModel> model, int32_t threads)
      : model_(std::move(model)),
        threads_(threads),
        memory_(model_->device(), variant().scratch_bytes, threads) {}
  RuntimeStatus Init(size_t first);
  RuntimeStatus AddProgram(const Program& program);
  // Selects the program at these values of its open sizes.
  RuntimeStatus Select(size_t index, std::span<const int64_t> sizes);

  const Variant& variant() const { return model_->variant(); }
  RuntimeStatus RunProgram(std::span<uint64_t> nanoseconds);
  // Runs the step and sets `next` to the index of the next instruction.
  RuntimeStatus RunStep(const ProgramStep& step, size_t* next);
  RuntimeStatus CopyTensor(const Instruction& instruction);
  RuntimeStatus CheckIndices(const ProgramStep& step);
  // Writes the sizes of a tensor of the current program in this run to `shape`, which must have its rank.
  RuntimeStatus ActualShape(uint32_t tensor, std::span<int64_t> shape) const;

  std::shared_ptr<const LoadedModel> model_;
  const int32_t threads_;
  std::unique_ptr<Stream> stream_;
  SessionMemory memory_;
  std::vector<int64_t> dims_;           // large enough for every program
  std::vector<int64_t> actual_shape_;   // scratch, large enough for every rank
  std::vector<int64_t> given_sizes_;    // scratch, large enough for the open sizes of every program
  std::vector<ReadyProgram> programs_;  // in the order of the variant
  size_t current_ = 0;
  std::atomic<bool> running_ = false;
  bool has_outputs_ = false;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SESSION_H_
