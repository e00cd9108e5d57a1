#include "tune/job/summary_json.h"

#include <utility>

namespace attune {

nlohmann::ordered_json ToJson(const TuningSummary& s) {
  using Json = nlohmann::ordered_json;
  Json tasks = Json::array();
  for (const TaskSummary& t : s.tasks) {
    tasks.push_back({{"task", t.digest},
                     {"description", t.description},
                     {"uses", t.uses},
                     {"flops", t.flops},
                     {"bytes", t.bytes},
                     {"untuned_ms", t.default_seconds * 1e3},
                     {"tuned_ms", t.best_seconds * 1e3},
                     {"least_ms", t.least_seconds * 1e3},
                     {"roofline_ms", t.roofline_seconds * 1e3},
                     {"bound_ms", t.bound_seconds * 1e3},
                     {"untuned_config", t.default_config},
                     {"tuned_config", t.best_config},
                     {"kernel", t.kernel},
                     {"trials", t.trials},
                     {"failed", t.failed},
                     {"transferred", t.transferred}});
  }
  Json curve = Json::array();
  for (const CurvePoint& p : s.curve) {
    curve.push_back({{"seconds", p.elapsed_seconds}, {"trials", p.trials}, {"ms", p.network_seconds * 1e3}});
  }
  Json ranks = Json::array();
  for (const RankPoint& p : s.ranks) ranks.push_back({{"trials", p.trials}, {"correlation", p.correlation}});
  return {{"model", s.model},
          {"device", s.device},
          {"threads", s.threads},
          {"run", s.run},
          {"search", s.search},
          {"trials", s.trials},
          {"seconds", s.elapsed_seconds},
          {"stage_seconds", s.stage_seconds},
          {"untuned_ms", s.untuned_seconds * 1e3},
          {"tuned_ms", s.tuned_seconds * 1e3},
          {"peak_gflops", s.peak_gflops},
          {"l2_bytes_per_second", 1e9 * s.peaks.l2_gb_per_s * s.threads},
          {"memory_bytes_per_second", 1e9 * s.peaks.memory_gb_per_s * s.threads},
          {"tasks", std::move(tasks)},
          {"curve", std::move(curve)},
          {"rank_correlation", std::move(ranks)}};
}

}  // namespace attune
