// A kernel under measurement, with the memory that it works in.
#ifndef ATTUNE_MEASURE_KERNEL_PROGRAM_H_
#define ATTUNE_MEASURE_KERNEL_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/kernel.h"
#include "measure/kernel_memory.h"
#include "measure/measured_program.h"
#include "runtime/device.h"

namespace attune {

struct KernelSetup {
  const KernelCode* code = nullptr;
  std::vector<KernelBuffer> buffers;  // one for each of the code's params
  std::vector<std::string> names;     // of the buffers, for error messages, such as "input 0"
  MemoryPlacement placement = MemoryPlacement::kGuarded;
  int threads = 1;
  std::vector<int64_t> dims;  // the dynamic dimensions before each checked execution
  double execution_seconds_limit = 10;
  double cpu_seconds_limit = 100;
};

// Not thread safe.
class KernelProgram final : public MeasuredProgram {
 public:
  // Everything that the setup points to must outlive it.
  explicit KernelProgram(KernelSetup setup);

  size_t shared_bytes() const override { return shared_bytes_; }
  int threads() const override { return setup_.threads; }
  double execution_seconds_limit() const override { return setup_.execution_seconds_limit; }
  double cpu_seconds_limit() const override { return setup_.cpu_seconds_limit; }
  std::string NameOf(int buffer) const override;
  std::string Refusal(const std::byte* /*shared*/) const override { return "the kernel was refused"; }

  SetUpResult SetUp(std::byte* shared) override;
  void Poison() override;
  void Move() override { ++moves_; }
  int32_t Run(int64_t executions) override;
  int32_t Profile() override { return Run(2); }
  int Fetch() override;
  bool Locate(const void* address, int* buffer, int64_t* offset) const override {
    return memory_.Locate(address, buffer, offset);
  }

  // Read from `shared` after Fetch(): the output in a buffer, and the dynamic dimensions.
  std::span<const std::byte> Output(const std::byte* shared, size_t buffer) const;
  std::span<const int64_t> Dims(const std::byte* shared) const;

 private:
  const KernelSetup setup_;
  std::vector<size_t> offsets_;  // of the outputs in the shared memory, by buffer
  size_t shared_bytes_ = 0;

  // Used only in the child process.
  std::byte* shared_ = nullptr;
  KernelMemory memory_;
  DeviceMemory code_;
  std::unique_ptr<Stream> stream_;
  std::vector<int64_t> dims_;
  int64_t executions_ = 0, moves_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_PROGRAM_H_
