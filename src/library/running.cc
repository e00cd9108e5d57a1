// Running, verifying and measuring networks of the C interface.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "library/failure.h"
#include "library/network_state.h"
#include "library/result.h"
#include "library/tensors.h"

namespace attune::library {
namespace {

absl::StatusOr<attune_tensors*> Run(const attune_network& network, const std::vector<NamedTensor>& inputs,
                                    int threads) {
  ASSIGN_OR_RETURN(const Network compiled, network.Compiled());
  ASSIGN_OR_RETURN(std::vector<NamedTensor> outputs, network.Device().Run(compiled, inputs, threads));
  auto tensors = std::make_unique<attune_tensors>();
  for (NamedTensor& output : outputs)
    tensors->items.push_back(std::make_unique<attune_tensor>(std::move(output)));
  return tensors.release();
}

absl::StatusOr<const attune_checks*> Verify(const attune_network& network,
                                            const std::vector<NamedTensor>& inputs, uint64_t seed,
                                            int threads) {
  ASSIGN_OR_RETURN(const Network compiled, network.Compiled());
  ASSIGN_OR_RETURN(const VerifyReport report, network.Device().Verify(compiled, inputs, seed, threads));
  auto checks = std::make_unique<Result<attune_checks>>();
  ResultMemory& memory = checks->memory;
  checks->count = report.outputs.size();
  checks->items = memory.Pointers(report.outputs, [&memory](const OutputCheck& check) {
    return attune_check{.name = memory.Text(check.name),
                        .criterion = memory.Text(check.criterion),
                        .max_absolute_error = check.comparison.max_absolute_error,
                        .max_relative_error = check.comparison.max_relative_error,
                        .elements = check.comparison.elements,
                        .mismatches = check.comparison.mismatches,
                        .ok = check.ok};
  });
  return checks.release();
}

absl::StatusOr<const attune_run_times*> Bench(const attune_network& network, double seconds, int threads,
                                              const std::vector<NamedTensor>& inputs, uint64_t seed) {
  ASSIGN_OR_RETURN(const Network compiled, network.Compiled());
  ASSIGN_OR_RETURN(const TimedRuns runs, network.Device().Bench(compiled, threads, seconds, inputs, seed));
  auto times = std::make_unique<Result<attune_run_times>>();
  times->count = runs.milliseconds.size();
  times->milliseconds = times->memory.Copy(runs.milliseconds);
  times->disturbance = times->memory.Text(runs.disturbance());
  return times.release();
}

absl::StatusOr<const attune_kernel_times*> Profile(const attune_network& network, int rounds, int threads,
                                                   const std::vector<NamedTensor>& inputs, uint64_t seed) {
  ASSIGN_OR_RETURN(const Network compiled, network.Compiled());
  ASSIGN_OR_RETURN(const ProfileReport report,
                   network.Device().Profile(compiled, threads, rounds, inputs, seed));
  auto times = std::make_unique<Result<attune_kernel_times>>();
  ResultMemory& memory = times->memory;
  times->count = report.kernels.size();
  times->items = memory.Pointers(report.kernels, [&memory](const KernelProfile& kernel) {
    return attune_kernel_time{.op = memory.Text(kernel.op),
                              .num_labels = kernel.labels.size(),
                              .labels = memory.Texts(kernel.labels),
                              .strategy = memory.Text(kernel.strategy),
                              .calls = kernel.calls,
                              .seconds = kernel.seconds,
                              .share = kernel.share,
                              .gflops_per_second = kernel.gflops_per_s,
                              .gb_per_second = kernel.gb_per_s,
                              .peak_share = kernel.peak_share,
                              .roofline_share = kernel.roofline_share};
  });
  times->disturbance = memory.Text(report.disturbance());
  return times.release();
}

}  // namespace
}  // namespace attune::library

using attune::library::CheckNotNull;
using attune::library::FreeResult;
using attune::library::Guard;
using attune::library::ToOwn;

attune_code attune_network_run(const attune_network* network, const attune_array* inputs, size_t count,
                               int threads, attune_tensors** outputs, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, outputs));
    ASSIGN_OR_RETURN(const auto own, ToOwn(inputs, count));
    ASSIGN_OR_RETURN(*outputs, attune::library::Run(*network, own, threads));
    return absl::OkStatus();
  });
}

attune_code attune_network_verify(const attune_network* network, const attune_array* inputs, size_t count,
                                  uint64_t seed, int threads, const attune_checks** checks,
                                  attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, checks));
    ASSIGN_OR_RETURN(const auto own, ToOwn(inputs, count));
    ASSIGN_OR_RETURN(*checks, attune::library::Verify(*network, own, seed, threads));
    return absl::OkStatus();
  });
}

attune_code attune_network_bench(const attune_network* network, double seconds, int threads,
                                 const attune_array* inputs, size_t count, uint64_t seed,
                                 const attune_run_times** times, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, times));
    ASSIGN_OR_RETURN(const auto own, ToOwn(inputs, count));
    ASSIGN_OR_RETURN(*times, attune::library::Bench(*network, seconds, threads, own, seed));
    return absl::OkStatus();
  });
}

attune_code attune_network_profile(const attune_network* network, int rounds, int threads,
                                   const attune_array* inputs, size_t count, uint64_t seed,
                                   const attune_kernel_times** times, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, times));
    ASSIGN_OR_RETURN(const auto own, ToOwn(inputs, count));
    ASSIGN_OR_RETURN(*times, attune::library::Profile(*network, rounds, threads, own, seed));
    return absl::OkStatus();
  });
}

void attune_checks_free(const attune_checks* checks) { FreeResult(checks); }
void attune_run_times_free(const attune_run_times* times) { FreeResult(times); }
void attune_kernel_times_free(const attune_kernel_times* times) { FreeResult(times); }
