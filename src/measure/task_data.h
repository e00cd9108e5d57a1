// What a task is measured with: inputs, and what the reference makes of them. It lies in an anonymous file,
// so that processes that run kernels can read it and none can change it.
#ifndef ATTUNE_MEASURE_TASK_DATA_H_
#define ATTUNE_MEASURE_TASK_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/process/worker_process.h"
#include "tune/task/task.h"

namespace attune {

// The result that is expected, in the layout in which it lies in memory.
struct ExpectedOutput {
  DType dtype = DType::kF32;
  std::span<const std::byte> value;
  // By element in memory, how far it may be off; negative where nobody reads it.
  std::span<const float> bound;
  std::span<const float> spread_bound;  // as BoundedOutput's; empty: no different
};

// Views into a mapped file. Not copyable; the mapping ends with it.
class TaskData {
 public:
  // Maps a file of MakeTaskFile. Errors: it is damaged, or cannot be mapped.
  static absl::StatusOr<TaskData> Map(int file);
  TaskData(TaskData&& other) noexcept { *this = std::move(other); }
  TaskData& operator=(TaskData&& other) noexcept;
  ~TaskData();

  struct Input {
    std::span<const std::byte> bytes;  // with what lies between elements
    bool is_constant = false;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<ExpectedOutput>& outputs() const { return outputs_; }
  struct DynamicDim {
    int64_t size = 0;
    bool is_given = false;  // since an input has it; else the kernel says it
  };
  // By slot.
  const std::vector<DynamicDim>& dims() const { return dims_; }

  // In processes that are forked from now on, the expected results do not exist.
  void HideExpected() const;

 private:
  TaskData() = default;
  absl::Status Parse();
  absl::StatusOr<std::span<const std::byte>> Segment(int64_t offset, int64_t bytes) const;

  std::byte* memory_ = nullptr;
  size_t size_ = 0;
  size_t expected_begin_ = 0;  // of the file, at a page: what is to be hidden lies from here on
  std::vector<Input> inputs_;
  std::vector<ExpectedOutput> outputs_;
  std::vector<DynamicDim> dims_;
};

// The bytes of all inputs and outputs of a task, which a file of it holds a few times over.
int64_t TaskBytes(const TuningTask& task);

// Random inputs, the same for equal tasks, and the reference's results. Uses all cores, for as long as the
// reference takes. Errors: the reference cannot evaluate the task on any of a few kinds of inputs.
absl::StatusOr<FileDescriptor> MakeTaskFile(const TuningTask& task);

// Nothing where `actual`, as long as the expected value, is within the bounds; else what differs.
std::optional<std::string> FindDifference(const ExpectedOutput& expected, std::span<const std::byte> actual,
                                          bool spreads_rounding);

}  // namespace attune

#endif  // ATTUNE_MEASURE_TASK_DATA_H_
