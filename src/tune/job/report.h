// What a tuning run found, as one HTML page with its plots inside.
#ifndef ATTUNE_TUNE_JOB_REPORT_H_
#define ATTUNE_TUNE_JOB_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune {

struct TaskSummary {
  std::string description;  // DescribeTask()
  std::string digest;
  int uses = 0;  // in the network
  double flops = 0;
  // Of one execution, in seconds; 0: not measured.
  double default_seconds = 0, best_seconds = 0, bound_seconds = 0;
  std::string default_config, best_config;  // "conv_direct tile_c=2 tile_w=14"
  bool is_untuned() const { return best_config.empty() || best_config == default_config; }
  int64_t trials = 0, failed = 0;
  int64_t transferred = 0;  // records of earlier runs that counted as trials
  // Seconds of one inference that the next batch of trials may save; infinite where nothing is known.
  double expected_gain = 0;
};

// The network after so many seconds of tuning, as its tasks' best times say.
struct CurvePoint {
  double elapsed_seconds = 0;
  int64_t trials = 0;
  double network_seconds = 0;
};

// How well the cost model ranked a batch before it was measured: 1 as measured, 0 at random.
struct RankPoint {
  int64_t trials = 0;
  double correlation = 0;
};

struct TuningSummary {
  std::string model, device, run, search;
  int threads = 1;
  // Of one inference, interleaved, in seconds; 0: not measured.
  double untuned_seconds = 0, tuned_seconds = 0;
  double peak_gflops = 0;  // of the device, on so many threads; 0: not measured
  double elapsed_seconds = 0;
  double seconds_left = 0;  // 0: unknown, or none
  int64_t trials = 0;
  std::vector<TaskSummary> tasks;
  std::vector<CurvePoint> curve;
  std::vector<RankPoint> ranks;
  std::map<std::string, double> stage_seconds;
};

// A page that needs nothing beside it. All text is escaped.
std::string ReportHtml(const TuningSummary& summary);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_REPORT_H_
