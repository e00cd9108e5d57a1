// A network under measurement: the runtime loads and runs an artifact as in a user's program.
#ifndef ATTUNE_MEASURE_NETWORK_PROGRAM_H_
#define ATTUNE_MEASURE_NETWORK_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "attune/attune.h"
#include "measure/item.h"
#include "measure/measured_program.h"

namespace attune {

struct NetworkSetup {
  std::span<const std::byte> artifact;
  std::span<const std::byte> inputs;  // the bytes of all inputs, one after the other
  int threads = 1;
  // This many sessions, each elsewhere in memory, run alternately, since some memory is faster than other
  // memory.
  int places = 1;
  bool has_outputs = false;  // whether Fetch() is for them
  double execution_seconds_limit = 10;
  double cpu_seconds_limit = 100;
};

// Not thread safe.
class NetworkProgram final : public MeasuredProgram {
 public:
  // Everything that the setup points to must outlive it.
  explicit NetworkProgram(const NetworkSetup& setup) : setup_(setup) {}

  size_t shared_bytes() const override;
  int threads() const override { return setup_.threads; }
  double execution_seconds_limit() const override { return setup_.execution_seconds_limit; }
  double cpu_seconds_limit() const override { return setup_.cpu_seconds_limit; }
  std::string NameOf(int /*buffer*/) const override { return "the network's memory"; }
  std::string Refusal(const std::byte* shared) const override;

  SetUpResult SetUp(std::byte* shared) override;
  void Poison() override {}
  void Move() override { ++moves_; }
  int32_t Run(int64_t executions) override;
  int32_t Profile() override;
  int Fetch() override;
  bool Locate(const void* /*address*/, int* /*buffer*/, int64_t* /*offset*/) const override { return false; }

  // Read from `shared` after a profile: the seconds of all calls of each kernel, by the digest of its code.
  static std::map<std::string, double> KernelSeconds(const std::byte* shared);
  // Read from `shared` after Fetch(). Fails as ReadOutputs() does.
  static absl::StatusOr<std::vector<OutputValue>> Outputs(const std::byte* shared);

 private:
  struct Free {
    void operator()(attune_model* model) const { attune_model_free(model); }
    void operator()(attune_session* session) const { attune_session_free(session); }
  };
  struct Place {
    std::unique_ptr<attune_model, Free> model;
    std::unique_ptr<attune_session, Free> session;
  };

  bool AddPlace(attune_error* error);
  SetUpResult Refuse(std::string_view reason);
  // Lists the kernels, and which of them each instruction calls.
  bool ListKernels();

  const NetworkSetup setup_;

  // Used only in the child process.
  std::byte* shared_ = nullptr;
  std::vector<Place> places_;
  size_t moves_ = 0;
  std::vector<uint64_t> nanoseconds_;  // by instruction
  std::vector<int> kernel_of_;         // by instruction: an index into the list of kernels
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_NETWORK_PROGRAM_H_
