// Writes the result of a tuning run as one HTML page with plots.
#ifndef ATTUNE_TUNE_JOB_REPORT_H_
#define ATTUNE_TUNE_JOB_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/peaks.h"

namespace attune {

struct TaskSummary {
  std::string description;  // DescribeTask()
  std::string digest;
  int uses = 0;  // in the network
  double flops = 0;
  double bytes = 0;  // of one execution, the least that must be read and written
  // Seconds of one execution; 0: not measured.
  double default_seconds = 0, best_seconds = 0;
  double least_seconds = 0;  // of any candidate, also of one that was not confirmed as faster
  // By RooflineOf() and BoundOf() its least work; 0: not known.
  double roofline_seconds = 0, bound_seconds = 0;
  std::string default_config, best_config;  // "conv_direct tile_c=2 tile_w=14"
  std::string kernel;                       // the digest of the code of the best
  bool is_untuned() const { return best_config.empty() || best_config == default_config; }
  int64_t trials = 0, failed = 0;
  int64_t transferred = 0;  // records of earlier runs that counted as trials
  // Seconds of one inference that the next batch of trials may save; infinite if nothing is known.
  double expected_gain = 0;
};

// Returns the time of the network after this many seconds of tuning, computed from its tasks' best times.
struct CurvePoint {
  double elapsed_seconds = 0;
  int64_t trials = 0;
  double network_seconds = 0;
};

// How well the cost model ranked a batch before it was measured: 1 for the measured order, about 0 for a
// random one.
struct RankPoint {
  int64_t trials = 0;
  double correlation = 0;
};

struct TuningSummary {
  std::string model, device, run, search;
  int threads = 1;
  // Seconds of one inference, measured interleaved; 0: not measured.
  double untuned_seconds = 0, tuned_seconds = 0;
  double peak_gflops = 0;  // of the device, on this many threads; 0: not measured
  Peaks peaks;             // likewise; at least the rates that the kernels attain
  double elapsed_seconds = 0;
  double seconds_left = 0;  // 0: unknown, or none
  int64_t trials = 0;
  std::vector<TaskSummary> tasks;
  std::vector<CurvePoint> curve;
  std::vector<RankPoint> ranks;
  std::map<std::string, double> stage_seconds;
};

// The speed of all kernels of one inference: as a share of what it would be with the fastest candidates that
// were tried, and as a share of the roofline. 0: not known.
struct Nearness {
  double of_least = 0, of_roofline = 0;
};
Nearness NearnessOf(const TuningSummary& summary);

// A self-contained page. All text is escaped.
std::string ReportHtml(const TuningSummary& summary);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_REPORT_H_
