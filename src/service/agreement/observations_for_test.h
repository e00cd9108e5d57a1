// Made-up jobs that are over.
#ifndef ATTUNE_SERVICE_AGREEMENT_OBSERVATIONS_FOR_TEST_H_
#define ATTUNE_SERVICE_AGREEMENT_OBSERVATIONS_FOR_TEST_H_

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/agreement/observation.h"

namespace attune {

// A network of `size` tasks on the device "board". Its kernels take about `ratio` times their bounds, more or
// less by `noise` (in the logarithm).
inline Observation MadeUpObservation(int seed, double ratio = 2, double noise = 0.05, int size = 10) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::uniform_real_distribution<double> log_bound(std::log(1e-5), std::log(1e-3));
  std::normal_distribution<double> error(0, noise);
  Observation made = {
      .job = absl::StrCat("job-", seed),
      .tenant = "ann",
      .ended_ms = 1000 + seed,
      .network = absl::StrCat("network ", seed),
      .interface = "input x f32[1]\n",
      .device = "board",
      .compiler = "1",
      .kernels = absl::StrCat("kernels ", seed),
      .peaks = {.gflops_per_core = 100, .l2_gb_per_s = 100, .l3_gb_per_s = 50, .l2_bytes = 1 << 20},
      .runs = 1000,
      .files_owner = "files",
      .artifact = {"out/result.atn", std::string(64, 'a'), 1000},
      .artifact_bytes = 1e6,
      .weight_bytes = 6e5,
      .plan = {.trials = 100, .tasks = static_cast<double>(size)},
      .work_seconds = 25,
      .finish_seconds = 30};
  double seconds = 0;
  for (int i = 0; i < size; ++i) {
    const double bound = std::exp(log_bound(random)), tuned = bound * ratio * std::exp(error(random));
    made.tasks.push_back({.task = absl::StrCat("task ", seed, " ", i),
                          .kind = i % 2 == 0 ? "conv" : "matmul",
                          .kernel = absl::StrCat("kernel ", seed, " ", i),
                          .flops = bound * 1e11,
                          .bound = bound,
                          .untuned = 1.5 * tuned,
                          .tuned = tuned});
    seconds += tuned;
  }
  const double ms = 1e3 * seconds * std::exp(error(random));
  made.mean_ms = {0.98 * ms, ms, 1.02 * ms};
  made.p99_ms = {1.05 * ms, 1.1 * ms, 1.2 * ms};
  return made;
}

inline std::vector<std::shared_ptr<const Observation>> MadeUpObservations(int count, double ratio = 2,
                                                                          double noise = 0.05) {
  std::vector<std::shared_ptr<const Observation>> made;
  for (int seed = 0; seed < count; ++seed)
    made.push_back(std::make_shared<const Observation>(MadeUpObservation(seed, ratio, noise)));
  return made;
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_OBSERVATIONS_FOR_TEST_H_
